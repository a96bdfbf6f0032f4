package tool

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

const (
	maxUnknown = 8 // so many unknown properties are named
	noObject   = "a JSON object"
)

// given is what a call says about one field.
type given struct {
	span
	alias bool // by its second spelling
	twice bool // by both
}

// decode reads arguments into the struct at base, which is a zero value of the
// type that p was compiled from.
func (p *plan) decode(args []byte, base unsafe.Pointer) (unknown []string, err *ArgumentError) {
	var found [maxFields]given
	s := scanner{data: args}
	switch s.peek() {
	case 0:
		if s.pos == len(args) { // and not a NUL
			return nil, p.fill(&s, &found, base)
		}
	case 'n':
		if s.word("null") && s.end() {
			return nil, p.fill(&s, &found, base)
		}
	case '"':
		// Some models write the object into a string.
		var in span
		in.start = s.pos + 1
		if s.str(&in.escaped) && s.end() {
			in.end = bytes.LastIndexByte(args, '"')
			inner := s.text(in)
			if !strings.HasPrefix(strings.TrimLeft(inner, " \n\t\r"), "{") {
				return nil, &ArgumentError{Value: quoted(bytes.TrimSpace(args)), Want: noObject}
			}
			return p.decode([]byte(inner), base)
		}
	case '{':
		unknown, err = p.scan(&s, &found)
		if err != nil {
			return nil, err
		}
		return unknown, p.fill(&s, &found, base)
	default:
		var escaped bool
		if s.value(&escaped) && s.end() {
			return nil, &ArgumentError{Value: quoted(bytes.TrimSpace(args)), Want: noObject}
		}
	}
	s.fail()
	return nil, malformed(s.fault)
}

func malformed(fault string) *ArgumentError {
	return &ArgumentError{Value: "not valid JSON (" + fault + ")", Want: noObject}
}

// scan finds the fields in the object and checks the syntax of all of it. A name
// that comes twice counts where it comes last.
func (p *plan) scan(s *scanner, found *[maxFields]given) (unknown []string, err *ArgumentError) {
	s.open()
	var key, val span
	var stranger span
	for s.member(&key, &val) {
		n := p.lookup(s, key)
		if n == nil {
			if stranger.end == 0 {
				stranger = key
			}
			if label := s.brief(key); len(unknown) < maxUnknown && !slices.Contains(unknown, label) {
				unknown = append(unknown, label)
			}
			continue
		}
		g := &found[n.field]
		twice := g.twice
		if g.end > 0 && g.alias != n.alias { // its other spelling was there
			if s.data[val.start] == 'n' {
				continue
			}
			twice = twice || s.data[g.start] != 'n'
		}
		*g = given{span: val, alias: n.alias, twice: twice}
	}
	if s.fault == "" {
		s.end()
	}
	switch {
	case s.fault != "":
		return nil, malformed(s.fault)
	case s.wide && !utf8.Valid(s.data):
		return nil, &ArgumentError{Value: "not valid UTF-8", Want: noObject}
	case p.closed && unknown != nil:
		return nil, &ArgumentError{
			Field: s.brief(stranger), Value: "not an argument of this tool", Want: "left out, or " + p.list(),
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

// brief names an unknown property in a message.
func (s *scanner) brief(key span) string { return brief([]byte(s.text(key))) }

func (p *plan) lookup(s *scanner, key span) *name {
	text := s.data[key.start:key.end]
	if key.escaped {
		text = []byte(s.text(key))
	}
	for i := range p.names {
		if n := &p.names[i]; string(text) == n.text {
			return n
		}
	}
	return nil
}

// fill converts what was found, in the order of the schema.
func (p *plan) fill(s *scanner, found *[maxFields]given, base unsafe.Pointer) *ArgumentError {
	for i := range p.fields {
		f, g := &p.fields[i], &found[i]
		if g.twice {
			return &ArgumentError{
				Field: f.name, Value: "given in two spellings, also as " + p.alias(i), Want: "given once",
			}
		}
		absent := g.end == 0
		if absent || s.data[g.start] == 'n' {
			if f.required && (absent || !f.nullable) {
				return &ArgumentError{Field: f.name, Want: f.want, Missing: true}
			}
			continue
		}
		if !f.set(s, g.span, unsafe.Add(base, f.offset)) {
			raw := s.data[g.start:g.end]
			return &ArgumentError{Field: f.name, Value: quoted(raw), Want: f.wanted(raw)}
		}
	}
	return nil
}

func (p *plan) alias(field int) string {
	for _, n := range p.names {
		if n.field == field && n.alias {
			return n.text
		}
	}
	return ""
}

// wanted is what raw should have been.
func (f *field) wanted(raw []byte) string {
	large := len(raw) > 15 || bytes.ContainsAny(raw, "eE")
	if f.kind != kindInt || !large || numberLen(raw) != len(raw) {
		return f.want
	}
	// Its size alone may be what is wrong with it, so tell all bounds.
	return fmt.Sprintf("a whole number from %d to %d", f.least, f.most)
}

// set converts a value and stores it at p, where a variable of the field's type
// is. It is false if the value does not fit.
func (f *field) set(s *scanner, v span, p unsafe.Pointer) bool {
	switch f.kind {
	case kindString:
		t, ok := f.stringOf(s, v)
		return ok && store(p, t, f.pointer)
	case kindInt:
		n, ok := f.intOf(s, v)
		return ok && store(p, n, f.pointer)
	case kindFloat:
		n, ok := f.floatOf(s, v)
		return ok && store(p, n, f.pointer)
	case kindBool:
		b, ok := boolOf(s, v)
		return ok && store(p, b, f.pointer)
	default:
		list, ok := f.stringsOf(s, v)
		return ok && store(p, list, f.pointer)
	}
}

// store writes v to the T, or by way of a new variable to the *T, at p. That it
// is one of these was checked when the plan was compiled.
func store[T any](p unsafe.Pointer, v T, pointer bool) bool {
	if pointer {
		*(**T)(p) = new(v)
	} else {
		*(*T)(p) = v
	}
	return true
}

// inside returns the span between the quotes of a string value.
func (v span) inside() span { return span{v.start + 1, v.end - 1, v.escaped} }

func (f *field) stringOf(s *scanner, v span) (string, bool) {
	if s.data[v.start] != '"' {
		return "", false
	}
	t := s.text(v.inside())
	return t, f.fits(t)
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

func (f *field) intOf(s *scanner, v span) (int, bool) {
	raw := s.number(v)
	if raw == nil {
		return 0, false
	}
	n, ok := integer(raw)
	return n, ok && f.least <= n && n <= f.most
}

func (f *field) floatOf(s *scanner, v span) (float64, bool) {
	raw := s.number(v)
	if raw == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil && float64(f.least) <= n && n <= float64(f.most)
}

// number returns a value that is a JSON number or a string of one; nil if it is
// neither.
func (s *scanner) number(v span) []byte {
	raw := s.data[v.start:v.end]
	if raw[0] == '"' {
		raw = bytes.TrimSpace(s.loose(v))
	}
	if len(raw) == 0 || numberLen(raw) != len(raw) {
		return nil
	}
	return raw
}

func boolOf(s *scanner, v span) (value, ok bool) {
	raw := s.data[v.start:v.end]
	switch raw[0] {
	case 't':
		return true, true
	case 'f':
		return false, true
	case '"':
		raw = bytes.TrimSpace(s.loose(v))
		value = bytes.EqualFold(raw, []byte("true"))
		return value, value || bytes.EqualFold(raw, []byte("false"))
	}
	return false, false
}

// loose returns what a string says, for conversion to something else; without
// escapes it is no copy.
func (s *scanner) loose(v span) []byte {
	in := v.inside()
	if in.escaped {
		return []byte(s.text(in))
	}
	return s.data[in.start:in.end]
}

func (f *field) stringsOf(s *scanner, v span) ([]string, bool) {
	switch s.data[v.start] {
	case '[':
	case '"':
		inner := scanner{data: s.loose(v)}
		v.start, v.escaped = 0, false
		if inner.peek() != '[' || !inner.value(&v.escaped) || !inner.end() {
			return nil, false
		}
		v.end, s = len(inner.data), &inner
	default:
		return nil, false
	}
	list := []string{}
	items := scanner{data: s.data[:v.end], pos: v.start}
	items.peek()
	items.pos++
	for items.peek() != ']' {
		if items.data[items.pos] == ',' {
			items.pos++
			items.peek()
		}
		item := span{start: items.pos}
		items.value(&item.escaped) // its syntax is known to be good
		item.end = items.pos
		t, ok := f.stringOf(&items, item)
		if !ok {
			return nil, false
		}
		list = append(list, t)
	}
	return list, true
}
