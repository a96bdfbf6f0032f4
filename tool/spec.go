package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Parse parses a tool.json with the members name, title, description, inputSchema,
// outputSchema and annotations. The description can be in a separate file instead,
// a tool.md; pass nil if there is none.
//
// Parse panics if a file is invalid, because both are embedded in the program.
func Parse(spec, description []byte) Spec {
	var file struct {
		Name         string          `json:"name"`
		Title        string          `json:"title"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
		Annotations  Annotations     `json:"annotations"`
	}
	if err := unmarshalStrict(spec, &file); err != nil {
		panic(fmt.Sprintf("tool: cannot read the spec: %v", err))
	}
	if file.Name == "" || len(file.InputSchema) == 0 {
		panic("tool: a spec must have a name and an inputSchema")
	}
	text := strings.TrimSpace(string(description))
	if (file.Description == "") == (text == "") {
		panic("tool: " + file.Name + " must have one description: in its spec or in a separate file")
	}
	return Spec{
		Name:         file.Name,
		Title:        file.Title,
		Description:  file.Description + text, // one of them is empty
		InputSchema:  compact(file.InputSchema),
		OutputSchema: compact(file.OutputSchema),
		Annotations:  file.Annotations,
	}
}

// compact removes the white space between tokens. It changes no other byte.
func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		panic(fmt.Sprintf("tool: %v", err)) // raw came out of a decoder
	}
	return b.Bytes()
}

// unmarshalStrict is json.Unmarshal that refuses members without a field in v.
func unmarshalStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("something follows the JSON value at byte %d", d.InputOffset())
	}
	return nil
}
