package tool

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

const (
	maxUnknown = 8 // unknown properties that are named
	noObject   = "a JSON object"
)

// Object returns arguments as a JSON object. Some models write the object into a
// string, or null or nothing instead of an empty object. The error is an
// [*ArgumentError].
func Object(args json.RawMessage) (json.RawMessage, error) {
	o, err := object(args, false)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// object is Object for arguments that may be checked.
func object(args []byte, checked bool) ([]byte, *ArgumentError) {
	args = bytes.Trim(args, jsonscan.Space)
	if len(args) == 0 {
		args = []byte("null")
	}
	if !checked {
		if err := check(args); err != nil {
			return nil, &ArgumentError{Value: err.Error(), Want: noObject}
		}
	}
	switch args[0] {
	case 'n':
		return []byte("{}"), nil
	case '{':
		return args, nil
	case '"':
		if inner := textOf(args); strings.HasPrefix(strings.TrimLeft(inner, jsonscan.Space), "{") {
			return object([]byte(inner), false)
		}
	}
	return nil, &ArgumentError{Value: quoted(args, maxQuoted), Want: noObject}
}

// check returns an error if text is not JSON in UTF-8, without escapes of half a surrogate
// pair, for which encoding/json substitutes another character.
func check(text []byte) error {
	if !json.Valid(text) {
		return fmt.Errorf("not valid JSON (%w)", json.Unmarshal(text, new(any)))
	}
	if !utf8.Valid(text) || jsonscan.LoneSurrogate(text) {
		return errors.New("not valid UTF-8")
	}
	return nil
}

// textOf returns the string that a JSON string stands for.
func textOf(raw []byte) string {
	text, _ := jsonscan.Text(raw)
	return string(text)
}

// decode decodes an object into a struct, which must be zero. Of a name that occurs twice the
// last value counts. A property that is wrong leaves its field zero.
func (p *plan) decode(object []byte, in reflect.Value) (unknown []string, faults []*ArgumentError) {
	given := make([][2][]byte, len(p.fields)) // by name and by alias
	for name, value := range jsonscan.Members(object) {
		if n, ok := p.names[string(name)]; ok {
			given[n.field][n.alias] = value
			continue
		}
		label := quoted(name, maxName)
		if p.closed {
			list := make([]string, len(p.fields))
			for i, f := range p.fields {
				list[i] = f.name
			}
			return nil, []*ArgumentError{{
				Field: label, Value: "not an argument of this tool", Want: "left out; the arguments are " + strings.Join(list, ", "),
			}}
		}
		if len(unknown) < maxUnknown && !slices.Contains(unknown, label) {
			unknown = append(unknown, label)
		}
	}
	for i := range p.fields {
		f := &p.fields[i]
		if err := f.decode(given[i][0], given[i][1], in); err != nil {
			in.FieldByIndex(f.index).SetZero()
			faults = append(faults, err)
		}
	}
	return unknown, faults
}

func isNull(raw []byte) bool { return raw == nil || raw[0] == 'n' }

// decode sets the field of a struct to what was given under its name or its alias.
func (f *field) decode(raw, other []byte, in reflect.Value) *ArgumentError {
	switch {
	case !isNull(raw) && !isNull(other):
		return &ArgumentError{Field: f.name, Value: "given in two spellings, also as " + f.alias, Want: "given once"}
	case raw == nil || !isNull(other):
		raw = other
	}
	if isNull(raw) {
		if f.required && (raw == nil || !f.nullable) {
			return &ArgumentError{Field: f.name, Want: f.wanted(), Missing: true}
		}
		return nil
	}
	to := in.FieldByIndex(f.index)
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	err := f.set(raw, to)
	if err != nil {
		if err.Field == "" && f.nullable {
			err.Want += ", or null"
		}
		err.Field = f.name + err.Field
	}
	return err
}

func (f *field) wanted() string {
	if f.nullable {
		return f.want + ", or null"
	}
	return f.want
}

// set decodes a value. The field of the error is what follows the name of the value.
func (v *value) set(raw []byte, to reflect.Value) *ArgumentError {
	want := v.want
	ok := false
	switch v.kind {
	case reflect.String:
		var text string
		if ok = raw[0] == '"'; ok {
			text = textOf(raw)
			ok = v.fits(text)
		}
		to.SetString(text)
	case reflect.Int, reflect.Float64:
		if text, is := to.Addr().Interface().(encoding.TextUnmarshaler); is && raw[0] == '"' {
			if text.UnmarshalText([]byte(textOf(raw))) == nil {
				raw = []byte(strconv.FormatInt(to.Int(), 10))
			}
		}
		var n float64
		if n, ok = numberOf(raw); ok && math.Abs(n) > maxInt {
			want = fmt.Sprintf("%s from %d to %d", strings.TrimSuffix(want, v.bounds()), v.least, v.most)
		}
		ok = ok && float64(v.least) <= n && n <= float64(v.most)
		if v.kind == reflect.Float64 {
			to.SetFloat(n)
			break
		}
		ok = ok && n == math.Trunc(n)
		to.SetInt(int64(n))
	case reflect.Bool:
		text := bytes.ToLower(unquoted(raw))
		to.SetBool(string(text) == "true")
		ok = to.Bool() || string(text) == "false"
	case reflect.Slice:
		return v.setArray(raw, to)
	case reflect.Struct:
		object, err := object(raw, true)
		if err != nil {
			return err
		}
		if _, faults := v.object.decode(object, to); len(faults) > 0 {
			return faults[0]
		}
		return nil
	}
	if !ok {
		return &ArgumentError{Value: quoted(raw, maxQuoted), Want: want}
	}
	return nil
}

// setArray decodes an array, or a string that contains one.
func (v *value) setArray(raw []byte, to reflect.Value) *ArgumentError {
	list := raw
	if raw[0] == '"' {
		if list = bytes.Trim([]byte(textOf(raw)), jsonscan.Space); check(list) != nil {
			list = raw
		}
	}
	if list[0] != '[' {
		return &ArgumentError{Value: quoted(raw, maxQuoted), Want: v.want}
	}
	to.Set(reflect.MakeSlice(to.Type(), 0, 0))
	n := 0
	for item := range jsonscan.Elements(list) {
		if n == v.most {
			return &ArgumentError{Value: "longer than " + strconv.Itoa(n) + " items", Want: v.want}
		}
		to.Grow(1)
		to.SetLen(n + 1)
		if err := v.item.set(item, to.Index(n)); err != nil {
			if err.Field != "" {
				err.Field = "." + err.Field
			}
			err.Field = fmt.Sprintf("[%d]%s", n, err.Field)
			return err
		}
		n++
	}
	if n < v.least {
		return &ArgumentError{Value: quoted(raw, maxQuoted), Want: v.want}
	}
	return nil
}

func (v *value) fits(text string) bool {
	if v.enum != nil && !slices.Contains(v.enum, text) {
		return false
	}
	if v.least <= 0 && v.most == maxInt {
		return true
	}
	n := utf8.RuneCountInString(text)
	return v.least <= n && n <= v.most
}

// numberOf returns the number that a JSON number or a string with one stands for.
func numberOf(raw []byte) (float64, bool) {
	text := unquoted(raw)
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') || !json.Valid(text) {
		return 0, false
	}
	n, _ := strconv.ParseFloat(string(text), 64) // infinite if it is too large
	return n, true
}

// unquoted returns a value, or the text of a string, without the white space around it.
func unquoted(raw []byte) []byte {
	if raw[0] != '"' {
		return raw
	}
	text, _ := jsonscan.Text(raw)
	return bytes.TrimSpace(text)
}
