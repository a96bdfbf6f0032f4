package gendocs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An object is the JSON schema of an object.
type object struct {
	properties []property // in the schema's order
	required   []string
}

func (o object) requires(name string) bool { return slices.Contains(o.required, name) }

// A property holds the keywords of a property's JSON schema that the pages show.
type property struct {
	name        string
	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Minimum     *json.Number      `json:"minimum"`
	Maximum     *json.Number      `json:"maximum"`
	MinLength   *int              `json:"minLength"`
	Items       *property         `json:"items"`
}

// readSchema reads a schema. It keeps the order of the properties, which decoding
// into a map would lose.
func readSchema(raw json.RawMessage) (object, error) {
	var top struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		return object{}, err
	}
	o := object{required: top.Required}
	if top.Properties == nil {
		return o, nil
	}
	d := json.NewDecoder(bytes.NewReader(top.Properties))
	if _, err := d.Token(); err != nil {
		return o, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return o, err
		}
		p := property{name: fmt.Sprint(name)}
		if err := d.Decode(&p); err != nil {
			return o, err
		}
		o.properties = append(o.properties, p)
	}
	return o, nil
}

// what describes the values of a property in a few words.
func (p property) what() string {
	var types []string
	if json.Unmarshal(p.Type, &types) != nil {
		var one string
		if json.Unmarshal(p.Type, &one) == nil && one != "" {
			types = []string{one}
		}
	}
	s := strings.Join(types, " or ")
	switch {
	case p.Enum != nil:
		var values []string
		for _, e := range p.Enum {
			values = append(values, "`"+string(e)+"`")
		}
		s = strings.Join(values, ", ")
	case p.Items != nil:
		s += " of " + p.Items.what()
	}
	switch {
	case p.Minimum != nil && p.Maximum != nil:
		s += " from " + p.Minimum.String() + " to " + p.Maximum.String()
	case p.Minimum != nil:
		s += " ≥ " + p.Minimum.String()
	case p.Maximum != nil:
		s += " ≤ " + p.Maximum.String()
	}
	switch {
	case p.MinLength != nil && *p.MinLength == 1:
		s += ", not empty"
	case p.MinLength != nil && *p.MinLength > 1:
		s += " of " + strconv.Itoa(*p.MinLength) + " characters or more"
	}
	return s
}
