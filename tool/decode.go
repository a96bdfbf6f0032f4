package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

const (
	maxDepth   = 64 // nesting levels; no tool nests, so this is for unknown properties
	maxUnknown = 8  // unknown properties that are named
	noObject   = "a JSON object"
)

// given is the value of one field in a call.
type given struct {
	raw   []byte // the last value; nil if the field is absent
	alias bool   // it came under the field's alias
	twice bool   // it came under both names
}

// decode decodes arguments into variables, which must be zero: to has a pointer for each
// field of p. It checks that args are valid JSON in UTF-8, unless checked is set.
func (p *plan) decode(args []byte, checked bool, to []any) (unknown []string, err *ArgumentError) {
	s := jsonscan.New(args, maxDepth)
	if checked {
		s = jsonscan.NewChecked(args, maxDepth)
	}
	if s.Kind() != '{' {
		if args, err = object(args); err != nil {
			return nil, err
		}
		s = jsonscan.NewChecked(args, maxDepth)
	}
	var found [maxFields]given
	if unknown, err = p.object(&s, &found); err != nil {
		return nil, err
	}
	return unknown, p.fill(&found, to)
}

// Object returns arguments as a JSON object. Some models write the object into a
// string, or null or nothing instead of an empty object. The error is an
// [*ArgumentError].
func Object(args json.RawMessage) (json.RawMessage, error) {
	o, err := object(args)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func object(args []byte) ([]byte, *ArgumentError) {
	s := jsonscan.New(args, maxDepth)
	kind := s.Kind()
	var raw []byte
	if kind != 0 {
		raw = s.Value()
	}
	if err := end(&s); err != nil {
		return nil, err
	}
	switch {
	case raw == nil || kind == 'n':
		return []byte("{}"), nil
	case kind == '{':
		return raw, nil
	}
	if inner, ok := jsonscan.TextBytes(raw); ok && bytes.HasPrefix(bytes.TrimLeft(inner, " \n\t\r"), []byte("{")) {
		return object(inner)
	}
	return nil, &ArgumentError{Value: quoted(raw), Want: noObject}
}

// end ends the scan of arguments. Half a surrogate pair is refused like other text
// that is not valid UTF-8.
func end(s *jsonscan.Scanner) *ArgumentError {
	err := s.End()
	if err == nil && s.LoneSurrogate() {
		err = jsonscan.ErrUTF8
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsonscan.ErrUTF8):
		return &ArgumentError{Value: err.Error(), Want: noObject}
	}
	return &ArgumentError{Value: "not valid JSON (" + err.Error() + ")", Want: noObject}
}

// object finds the fields in the arguments. Of a name that occurs twice the last
// value counts.
func (p *plan) object(s *jsonscan.Scanner, found *[maxFields]given) (unknown []string, err *ArgumentError) {
	s.Object()
	var firstUnknown []byte
	for s.Member() {
		key := s.Name()
		raw := s.Value()
		if raw == nil {
			break
		}
		n := p.lookup(key)
		if n == nil {
			if unknown == nil {
				firstUnknown = key
			}
			if label := brief(key); len(unknown) < maxUnknown && !slices.Contains(unknown, label) {
				unknown = append(unknown, label)
			}
			continue
		}
		g := &found[n.field]
		twice := g.twice
		if g.raw != nil && g.alias != n.alias {
			if raw[0] == 'n' {
				continue
			}
			twice = twice || g.raw[0] != 'n'
		}
		*g = given{raw: raw, alias: n.alias, twice: twice}
	}
	if err := end(s); err != nil {
		return nil, err
	}
	if p.closed && unknown != nil {
		return nil, &ArgumentError{
			Field: brief(firstUnknown), Value: "not an argument of this tool", Want: "left out, or " + p.list(),
		}
	}
	return unknown, nil
}

func (p *plan) list() string {
	list := make([]string, len(p.fields))
	for i, f := range p.fields {
		list[i] = f.name
	}
	return "one of " + strings.Join(list, ", ")
}

func (p *plan) lookup(key []byte) *name {
	for i := range p.names {
		if n := &p.names[i]; string(key) == n.text {
			return n
		}
	}
	return nil
}

// fill converts what was found, in the order of the schema.
func (p *plan) fill(found *[maxFields]given, to []any) *ArgumentError {
	for i := range p.fields {
		f, g := &p.fields[i], &found[i]
		if g.twice {
			return &ArgumentError{
				Field: f.name, Value: "given in two spellings, also as " + f.alias, Want: "given once",
			}
		}
		absent := g.raw == nil
		if absent || g.raw[0] == 'n' {
			if f.required && (absent || !f.nullable) {
				return &ArgumentError{Field: f.name, Want: f.want, Missing: true}
			}
			continue
		}
		if f.kind == kindObjects {
			if err := f.setObjects(g.raw, to[i]); err != nil {
				return err
			}
			continue
		}
		if !f.set(g.raw, to[i]) {
			return &ArgumentError{Field: f.name, Value: quoted(g.raw), Want: f.wanted(g.raw)}
		}
	}
	return nil
}

// wanted describes what raw should have been.
func (f *field) wanted(raw []byte) string {
	large := len(raw) > 15 || bytes.ContainsAny(raw, "eE")
	if f.kind != kindInt || !large || !jsonscan.Number(raw) {
		return f.want
	}
	// It may only be too large, so the message has all bounds.
	return fmt.Sprintf("a whole number from %d to %d", f.least, f.most)
}

// set converts a value and stores it at to, a pointer to the field. It returns
// false if the value does not fit.
func (f *field) set(raw []byte, to any) bool {
	switch f.kind {
	case kindString:
		t, ok := f.stringOf(raw)
		return ok && store(to, t)
	case kindInt:
		n, ok := f.intOf(raw)
		return ok && store(to, n)
	case kindFloat:
		n, ok := f.floatOf(raw)
		return ok && store(to, n)
	case kindBool:
		b, ok := boolOf(raw)
		return ok && store(to, b)
	default:
		list, ok := f.stringsOf(raw)
		return ok && store(to, list)
	}
}

// setObjects converts an array of objects and stores it at to, a pointer to a slice of
// structs. The error names the item.
func (f *field) setObjects(raw []byte, to any) *ArgumentError {
	s := jsonscan.NewChecked(raw, maxDepth)
	if text, ok := jsonscan.TextBytes(raw); ok {
		s = jsonscan.New(text, maxDepth)
	}
	wrong := &ArgumentError{Field: f.name, Value: quoted(raw), Want: f.want}
	if s.Kind() != '[' {
		return wrong
	}
	list := reflect.ValueOf(to).Elem()
	list.SetZero()
	for s.Array(); s.Element(); {
		value := s.Value()
		if value == nil {
			break
		}
		at := list.Len()
		if f.greatest >= 0 && at == f.greatest {
			return &ArgumentError{Field: f.name, Value: "longer than " + strconv.Itoa(f.greatest) + " items", Want: f.want}
		}
		list.Grow(1)
		list.SetLen(at + 1)
		if _, err := f.item.decode(value, true, f.item.pointers(list.Index(at))); err != nil {
			e := *err
			e.Field = fmt.Sprintf("%s[%d]", f.name, at)
			if err.Field != "" {
				e.Field += "." + err.Field
			}
			return &e
		}
	}
	if s.End() != nil || s.LoneSurrogate() || list.Len() < f.fewest {
		return wrong
	}
	return nil
}

// store sets the T or the *T that to points to, which [newField] has checked.
func store[T any](to any, v T) bool {
	if plain, ok := to.(*T); ok {
		*plain = v
	} else {
		*to.(**T) = new(v)
	}
	return true
}

func (f *field) stringOf(raw []byte) (string, bool) {
	t, ok := jsonscan.Text(raw)
	return t, ok && f.fits(t)
}

func (f *field) fits(t string) bool {
	if f.enum != nil && !slices.Contains(f.enum, t) {
		return false
	}
	if f.shortest > 1 || f.longest >= 0 {
		n := utf8.RuneCountInString(t)
		return n >= f.shortest && (f.longest < 0 || n <= f.longest)
	}
	return f.shortest <= 0 || t != ""
}

func (f *field) intOf(raw []byte) (int, bool) {
	raw = unquoted(raw)
	if !jsonscan.Number(raw) {
		return 0, false
	}
	n, ok := integer(raw)
	return n, ok && f.least <= n && n <= f.most
}

func (f *field) floatOf(raw []byte) (float64, bool) {
	raw = unquoted(raw)
	if !jsonscan.Number(raw) {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil && float64(f.least) <= n && n <= float64(f.most)
}

func boolOf(raw []byte) (value, ok bool) {
	raw = unquoted(raw)
	value = bytes.EqualFold(raw, []byte("true"))
	return value, value || bytes.EqualFold(raw, []byte("false"))
}

// unquoted returns a value, or the text of a string, without the white space around it.
func unquoted(raw []byte) []byte {
	if text, ok := jsonscan.TextBytes(raw); ok {
		return bytes.TrimSpace(text)
	}
	return raw
}

func (f *field) stringsOf(raw []byte) ([]string, bool) {
	s := jsonscan.NewChecked(raw, maxDepth)
	if text, ok := jsonscan.TextBytes(raw); ok {
		s = jsonscan.New(text, maxDepth)
	}
	if s.Kind() != '[' {
		return nil, false
	}
	list := []string{}
	for s.Array(); s.Element(); {
		t, ok := f.stringOf(s.Value())
		if !ok {
			return nil, false
		}
		list = append(list, t)
	}
	return list, s.End() == nil && !s.LoneSurrogate()
}
