package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// maxInt is the largest integer up to which every JSON parser is exact.
const maxInt = min(1<<53-1, math.MaxInt)

// A plan is the schema of an object and a Go struct, compiled for the decoder.
type plan struct {
	fields []field             // in the schema's order
	names  map[string]spelling // every spelling of every field
	closed bool                // unknown properties are refused
}

// A spelling is a name or an alias of a field.
type spelling struct {
	field int // index in plan.fields
	alias int // 1 for the alias
}

// A field is a property of an object.
type field struct {
	value
	name, alias        string
	required, nullable bool
	index              []int // in the struct
}

// A value is what the schema says of a value.
type value struct {
	kind        reflect.Kind // of the Go value, without its pointer
	least, most int          // of a number, the characters of a string or the items of an array
	enum        []string     // of a string; nil for any
	item        *value       // of an array
	object      *plan        // of an object
	want        string       // for messages
	several     string       // for messages about arrays of them
}

// kinds has the Go kinds of JSON's types, and the words for several values.
var kinds = map[string]struct {
	kind     reflect.Kind
	several  string
	keywords []string // that the decoder enforces
}{
	"string":  {reflect.String, "strings", []string{"minLength", "maxLength", "enum"}},
	"integer": {reflect.Int, "whole numbers", []string{"minimum", "maximum"}},
	"number":  {reflect.Float64, "numbers", []string{"minimum", "maximum"}},
	"boolean": {reflect.Bool, "booleans", nil},
	"array":   {reflect.Slice, "arrays", []string{"items", "minItems", "maxItems"}},
	"object":  {reflect.Struct, "objects", []string{"properties", "required", "additionalProperties"}},
}

// annotations are the keywords of every type.
var annotations = []string{"$schema", "title", "description", "type", "default", "examples"}

// schema has the keywords of JSON Schema that a plan enforces.
type schema struct {
	Type       types           `json:"type"`
	Properties json.RawMessage `json:"properties"`
	Required   []string        `json:"required"`
	Additional *bool           `json:"additionalProperties"`
	Items      json.RawMessage `json:"items"`
	Enum       []*string       `json:"enum"`
	Minimum    *int            `json:"minimum"`
	Maximum    *int            `json:"maximum"`
	MinLength  *int            `json:"minLength"`
	MaxLength  *int            `json:"maxLength"`
	MinItems   *int            `json:"minItems"`
	MaxItems   *int            `json:"maxItems"`
}

// types is the keyword type: one or several names.
type types []string

// UnmarshalJSON decodes both forms.
func (t *types) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*t = types{""}
		return json.Unmarshal(data, &(*t)[0])
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// A path is where a schema is, for panics.
type path string

func (p path) fail(format string, args ...any) {
	panic("tool: " + string(p) + ": " + fmt.Sprintf(format, args...))
}

// compile returns what a schema says of a value that is decoded into a t, and whether it can be
// null. It panics if they do not match.
func compile(raw json.RawMessage, t reflect.Type, at path) (v value, nullable bool) {
	var s schema
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &s); err != nil {
		at.fail("cannot read the schema: %v", err)
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		at.fail("cannot read the schema: %v", err)
	}
	names := slices.DeleteFunc(slices.Clone(s.Type), func(name string) bool { return name == "null" })
	if len(names) != 1 {
		at.fail("it has the types %v; want one type, optionally with null", s.Type)
	}
	known := kinds[names[0]]
	if t.Kind() != known.kind {
		at.fail("it is published as %s, which cannot be decoded into a Go %s", names[0], t)
	}
	for keyword := range given {
		if !slices.Contains(annotations, keyword) && !slices.Contains(known.keywords, keyword) {
			at.fail("it has the keyword %s, which is not enforced for the type %s", keyword, names[0])
		}
	}
	v = value{kind: known.kind, most: maxInt, several: known.several}
	switch v.kind {
	case reflect.Bool:
		v.want = "true or false"
	case reflect.Int, reflect.Float64:
		v.least = -maxInt
		v.limit(s.Minimum, s.Maximum)
		v.want = map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number"}[v.kind] + v.bounds()
	case reflect.String:
		v.limit(s.MinLength, s.MaxLength)
		v.text(s.Enum)
	case reflect.Slice:
		if s.Items == nil {
			at.fail("it has no items")
		}
		item, _ := compile(s.Items, t.Elem(), at+"[]")
		v.item = &item
		v.limit(s.MinItems, s.MaxItems)
		v.want = "an array of " + v.count() + item.several
	case reflect.Struct:
		v.object = compileObject(s, t, at)
		v.want = noObject
	}
	return v, slices.Contains(s.Type, "null")
}

func (v *value) limit(least, most *int) {
	if least != nil {
		v.least = *least
	}
	if most != nil {
		v.most = *most
	}
}

// bounds words the limits of a number.
func (v *value) bounds() string {
	switch {
	case v.least == -maxInt && v.most == maxInt:
		return ""
	case v.most == maxInt:
		return " of at least " + strconv.Itoa(v.least)
	case v.least == -maxInt:
		return " of at most " + strconv.Itoa(v.most)
	}
	return fmt.Sprintf(" from %d to %d", v.least, v.most)
}

// count words the limits of an array.
func (v *value) count() string {
	switch {
	case v.most < maxInt:
		return fmt.Sprintf("%d to %d ", v.least, v.most)
	case v.least > 0:
		return fmt.Sprintf("at least %d ", v.least)
	}
	return ""
}

// text sets and words what a string can be.
func (v *value) text(enum []*string) {
	var quoted []string
	for _, e := range enum {
		if e != nil { // a nullable enumeration lists null as well
			v.enum = append(v.enum, *e)
			quoted = append(quoted, strconv.Quote(*e))
		}
	}
	v.want = "a string"
	switch {
	case len(quoted) > 0:
		v.want = "one of " + strings.Join(quoted, ", ")
	case v.most < maxInt:
		v.want += fmt.Sprintf(" of %d to %d characters", v.least, v.most)
	case v.least == 1:
		v.want += " that is not empty"
	case v.least > 1:
		v.want += fmt.Sprintf(" of at least %d characters", v.least)
	}
}

// compileObject returns the plan of an object and the struct that it is decoded into.
func compileObject(s schema, t reflect.Type, at path) *plan {
	p := &plan{closed: s.Additional != nil && !*s.Additional, names: make(map[string]spelling)}
	tagged := structFields(t, at)
	for quoted, raw := range jsonscan.Members(s.Properties) {
		name := string(quoted)
		f, ok := tagged[name]
		if !ok {
			at.fail("property %s has no field in %s", name, t)
		}
		delete(tagged, name)
		f.required = slices.Contains(s.Required, name)
		f.compile(raw, t.FieldByIndex(f.index), at+"."+path(name))
		for alias, text := range []string{f.name, f.alias} {
			if _, taken := p.names[text]; taken {
				at.fail("%s is the name of two arguments", text)
			}
			if text != "" {
				p.names[text] = spelling{field: len(p.fields), alias: alias}
			}
		}
		p.fields = append(p.fields, f)
	}
	for name := range tagged {
		at.fail("field %s of %s is not a property", name, t)
	}
	for _, name := range s.Required {
		if _, ok := p.names[name]; !ok {
			at.fail("%s is required but not a property", name)
		}
	}
	return p
}

// structFields returns the fields of a struct by the names in their tags.
func structFields(t reflect.Type, at path) map[string]field {
	fields := make(map[string]field)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			continue // its fields follow
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" {
			at.fail("field %s of %s must be exported and have a tag json:\"name\"", f.Name, t)
		}
		fields[name] = field{name: name, alias: f.Tag.Get("alias"), index: f.Index}
	}
	return fields
}

// compile combines a property with its struct field.
func (f *field) compile(raw json.RawMessage, sf reflect.StructField, at path) {
	t, pointer := sf.Type, sf.Type.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	f.value, f.nullable = compile(raw, t, at)
	absent := !f.required || f.nullable
	zero := strings.HasSuffix(sf.Tag.Get("json"), ",omitzero")
	switch {
	case f.kind == reflect.Slice && !pointer:
	case pointer && (zero || f.kind == reflect.Slice):
		at.fail("it is a pointer, so it must be without omitzero, and not an array")
	case !pointer && absent != zero:
		at.fail("it is not a pointer, so it must be either required or tagged omitzero")
	}
}
