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

// maxFields limits the properties of a tool, so that their values are found in an
// array on the stack.
const maxFields = 32

// maxInt is the largest integer up to which every JSON parser is exact.
const maxInt = min(1<<53-1, math.MaxInt)

// A plan is a published schema and a Go struct, compiled for the decoder.
type plan struct {
	fields []field // in the schema's order
	names  []name  // every spelling of every field
	closed bool    // unknown properties are refused
}

// A name is a spelling of a field.
type name struct {
	text  string
	field int // index in plan.fields
	alias bool
}

type kind uint8

const (
	kindString kind = iota
	kindInt
	kindFloat
	kindBool
	kindStrings
	kindObjects
)

type field struct {
	name     string
	alias    string // a second name; empty for none
	kind     kind
	pointer  bool
	required bool // must be there; null too is a value if nullable
	nullable bool
	index    []int        // in the struct of the arguments
	typ      reflect.Type // of a plain field, without its name
	want     string       // for messages

	least, most       int      // of an integer or a number
	shortest, longest int      // characters of a string; longest -1 for any
	enum              []string // of a string or of each item; nil for any

	item             *plan // of each object of an array; nil for other kinds
	fewest, greatest int   // items of an array of objects; greatest -1 for any
}

// schema has the keywords of JSON Schema that a plan enforces, and annotations.
// Other keywords are refused.
type schema struct {
	Schema      string            `json:"$schema"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Type        types             `json:"type"`
	Default     json.RawMessage   `json:"default"`
	Examples    []json.RawMessage `json:"examples"`

	Properties json.RawMessage `json:"properties"`
	Required   []string        `json:"required"`
	Additional *bool           `json:"additionalProperties"`

	Minimum   *int      `json:"minimum"`
	Maximum   *int      `json:"maximum"`
	MinItems  *int      `json:"minItems"` // of an array of objects
	MaxItems  *int      `json:"maxItems"`
	MinLength *int      `json:"minLength"`
	MaxLength *int      `json:"maxLength"`
	Enum      []*string `json:"enum"`
	Items     *schema   `json:"items"`
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

// compile returns the plan of a tool. It panics if the schema and In do not match.
func compile[In any](s Spec) *plan {
	fail := func(format string, args ...any) {
		panic("tool: " + s.Name + ": " + fmt.Sprintf(format, args...))
	}
	var top schema
	if err := unmarshalStrict(s.InputSchema, &top); err != nil {
		fail("cannot read the input schema: %v", err)
	}
	if !slices.Equal(top.Type, types{"object"}) {
		fail("the input schema has type %v, not object", top.Type)
	}
	in := reflect.TypeFor[In]()
	if in.Kind() != reflect.Struct {
		fail("the arguments are a %s, not a struct", in)
	}
	return compileObject(top, in, fail)
}

// compileObject returns the plan of an object and the struct that it is decoded into.
func compileObject(top schema, in reflect.Type, fail func(string, ...any)) *plan {
	p := &plan{closed: top.Additional != nil && !*top.Additional}
	members, err := properties(top.Properties)
	if err != nil {
		fail("cannot read the properties: %v", err)
	}
	if len(members) > maxFields {
		fail("has %d properties, more than %d", len(members), maxFields)
	}
	for _, r := range top.Required {
		if !slices.ContainsFunc(members, func(m property) bool { return m.name == r }) {
			fail("%s is required but not a property", r)
		}
	}
	tagged := structFields(in, fail)
	for _, m := range members {
		at := slices.IndexFunc(tagged, func(f structField) bool { return f.name == m.name })
		if at < 0 {
			fail("property %s has no field in %s", m.name, in)
		}
		f := newField(m, slices.Contains(top.Required, m.name), tagged[at], fail)
		p.add(name{text: f.name, field: len(p.fields)}, fail)
		if f.alias != "" {
			p.add(name{text: f.alias, field: len(p.fields), alias: true}, fail)
		}
		p.fields = append(p.fields, f)
		tagged = slices.Delete(tagged, at, at+1)
	}
	for _, f := range tagged {
		fail("field %s of %s is not a property", f.name, in)
	}
	return p
}

func (p *plan) add(n name, fail func(string, ...any)) {
	if p.lookup([]byte(n.text)) != nil {
		fail("%s is the name of two arguments", n.text)
	}
	p.names = append(p.names, n)
}

// pointers returns pointers to the fields of a struct of arguments, in the plan's
// order.
func (p *plan) pointers(in reflect.Value) []any {
	list := make([]any, len(p.fields))
	for i, f := range p.fields {
		to := in.FieldByIndex(f.index).Addr()
		if !f.pointer {
			to = to.Convert(reflect.PointerTo(f.typ)) // the field's type can have a name
		}
		list[i] = to.Interface()
	}
	return list
}

// A property is a member of the schema's properties.
type property struct {
	name   string
	schema json.RawMessage
}

func properties(raw json.RawMessage) (members []property, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	s := jsonscan.New(raw, maxDepth)
	for s.Object(); s.Member(); {
		name := string(s.Name())
		members = append(members, property{name: name, schema: s.Value()})
	}
	return members, s.End()
}

// A structField is a field of an argument struct, with its tags.
type structField struct {
	name, alias string
	zero        bool // tagged omitzero
	reflect.StructField
}

func structFields(in reflect.Type, fail func(string, ...any)) []structField {
	var list []structField
	for _, f := range reflect.VisibleFields(in) {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			continue // its fields follow
		}
		n, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || n == "" || n == "-" {
			fail("field %s of %s must be exported and have a tag json:\"name\"", f.Name, in)
		}
		list = append(list, structField{
			name: n, alias: f.Tag.Get("alias"), zero: options == "omitzero", StructField: f,
		})
	}
	return list
}

// newField combines a property and its struct field.
func newField(m property, required bool, sf structField, fail func(string, ...any)) field {
	var s schema
	if err := unmarshalStrict(m.schema, &s); err != nil {
		fail("cannot read the schema of %s: %v", m.name, err)
	}
	f := field{
		name: m.name, alias: sf.alias, index: sf.Index, required: required,
		nullable: slices.Contains(s.Type, "null"),
		least:    -maxInt, most: maxInt, longest: -1,
	}
	typ := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	if len(typ) != 1 {
		fail("%s has the types %v; want one type, optionally with null", m.name, s.Type)
	}

	goType := sf.Type
	if typ[0] == "array" && goType.Kind() == reflect.Slice && goType.Elem().Kind() == reflect.Struct {
		f.objects(s, goType, fail)
		return f
	}
	if f.pointer = goType.Kind() == reflect.Pointer; f.pointer {
		goType = goType.Elem()
	}
	known := map[string]struct {
		kind kind
		typ  reflect.Type
	}{
		"string":  {kindString, reflect.TypeFor[string]()},
		"integer": {kindInt, reflect.TypeFor[int]()},
		"number":  {kindFloat, reflect.TypeFor[float64]()},
		"boolean": {kindBool, reflect.TypeFor[bool]()},
		"array":   {kindStrings, reflect.TypeFor[[]string]()},
	}
	k, ok := known[typ[0]]
	same := k.typ == goType || ok && !f.pointer && k.kind != kindStrings && k.typ.Kind() == goType.Kind()
	if !same || f.pointer && k.kind == kindStrings {
		fail("%s is published as %s, which cannot be decoded into a Go %s", m.name, typ[0], sf.Type)
	}
	f.kind, f.typ = k.kind, k.typ
	switch absent := !required || f.nullable; {
	case k.kind == kindStrings:
	case f.pointer && (!absent || sf.zero):
		fail("%s is a pointer, so it must be optional or nullable, and without omitzero", m.name)
	case !f.pointer && absent != sf.zero:
		fail("%s is not a pointer, so it must be either required or tagged omitzero", m.name)
	}
	f.constrain(s, fail)
	return f
}

// objects makes f an array of objects, which are decoded into a slice of structs.
func (f *field) objects(s schema, slice reflect.Type, fail func(string, ...any)) {
	if s.Items == nil || !slices.Equal(s.Items.Type, types{"object"}) || s.Items.Additional == nil || *s.Items.Additional {
		fail("%s must have items of type object without additional properties", f.name)
	}
	f.kind, f.typ, f.greatest = kindObjects, slice, -1
	f.item = compileObject(*s.Items, slice.Elem(), func(format string, args ...any) {
		fail(f.name+": "+format, args...)
	})
	if s.MinItems != nil {
		f.fewest = *s.MinItems
	}
	if s.MaxItems != nil {
		f.greatest = *s.MaxItems
	}
	f.want = "an array of objects"
	switch {
	case f.greatest >= 0:
		f.want = fmt.Sprintf("an array of %d to %d objects", f.fewest, f.greatest)
	case f.fewest > 0:
		f.want = fmt.Sprintf("an array of at least %d objects", f.fewest)
	}
}

// constrain sets the limits of the schema, and the words for them in messages.
func (f *field) constrain(s schema, fail func(string, ...any)) {
	texts := s
	if f.kind == kindStrings {
		if s.Items == nil || !slices.Equal(s.Items.Type, types{"string"}) {
			fail("%s must have items of type string", f.name)
		}
		texts = *s.Items
	} else if s.Items != nil {
		fail("%s has items but is not an array", f.name)
	}
	if s.MinItems != nil || s.MaxItems != nil {
		fail("%s has a number of items but is not an array of objects", f.name)
	}
	if s.Properties != nil || s.Required != nil || s.Additional != nil {
		fail("%s has properties but is not an object", f.name)
	}
	isText := f.kind == kindString || f.kind == kindStrings
	if !isText && (texts.MinLength != nil || texts.MaxLength != nil || texts.Enum != nil) {
		fail("%s has limits of a string but is not a string", f.name)
	}
	if f.kind != kindInt && f.kind != kindFloat && (s.Minimum != nil || s.Maximum != nil) {
		fail("%s has limits of a number but is not a number", f.name)
	}
	if s.Minimum != nil {
		f.least = *s.Minimum
	}
	if s.Maximum != nil {
		f.most = *s.Maximum
	}
	if texts.MinLength != nil {
		f.shortest = *texts.MinLength
	}
	if texts.MaxLength != nil {
		f.longest = *texts.MaxLength
	}
	for _, e := range texts.Enum {
		if e != nil { // a nullable enumeration lists null as well
			f.enum = append(f.enum, *e)
		}
	}

	switch f.kind {
	case kindBool:
		f.want = "true or false"
	case kindInt:
		f.want = "a whole number" + bounds(f.least, f.most)
	case kindFloat:
		f.want = "a number" + bounds(f.least, f.most)
	case kindString:
		f.want = "a string" + f.textBounds()
	case kindStrings:
		f.want = "an array of strings"
		if b := f.textBounds(); b != "" {
			f.want += ", each" + b
		}
	}
	if len(f.enum) > 0 && f.kind == kindString {
		f.want = "one of " + quoteList(f.enum)
	}
	if f.nullable {
		f.want += ", or null"
	}
}

func bounds(least, most int) string {
	switch {
	case least == -maxInt && most == maxInt:
		return ""
	case most == maxInt:
		return " of at least " + strconv.Itoa(least)
	case least == -maxInt:
		return " of at most " + strconv.Itoa(most)
	}
	return fmt.Sprintf(" from %d to %d", least, most)
}

func (f *field) textBounds() string {
	switch {
	case len(f.enum) > 0:
		return " one of " + quoteList(f.enum)
	case f.shortest <= 0 && f.longest < 0:
		return ""
	case f.shortest == 1 && f.longest < 0:
		return " that is not empty"
	case f.longest < 0:
		return fmt.Sprintf(" of at least %d characters", f.shortest)
	}
	return fmt.Sprintf(" of %d to %d characters", f.shortest, f.longest)
}

func quoteList(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = strconv.Quote(s)
	}
	return strings.Join(q, ", ")
}
