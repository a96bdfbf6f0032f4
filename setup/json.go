package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// jsonSyntax changes JSON with comments and trailing commas.
//
// A new member becomes the first one of its object: what follows stays where it is, with
// its comments and with or without a trailing comma.
type jsonSyntax struct{}

// hujsonError matches the position in an error of hujson.
var hujsonError = lazyregexp.New(`^hujson: line (\d+), column (\d+): (.*)$`)

// parseHuJSON parses a text. hujson wants a line ending after a comment.
func parseHuJSON(text []byte) (hujson.Value, error) {
	return hujson.Parse(append(text[:len(text):len(text)], '\n'))
}

func (jsonSyntax) tree(text []byte) (*hujson.Object, error) {
	v, err := parseHuJSON(text)
	if err != nil {
		e := &SyntaxError{Line: 1, Msg: err.Error()}
		if m := hujsonError().FindStringSubmatch(err.Error()); m != nil {
			e.Line, _ = strconv.Atoi(m[1])
			e.Column, _ = strconv.Atoi(m[2])
			e.Msg = m[3]
		}
		return nil, e
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, shapeError("the file is not a JSON object")
	}
	return object, nil
}

func (j jsonSyntax) parse(text []byte) (map[string]any, error) {
	if blank(text) {
		return map[string]any{}, nil
	}
	if _, err := j.tree(text); err != nil {
		return nil, err
	}
	standard, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(standard))
	dec.UseNumber() // so that no two numbers are taken for equal
	if err := dec.Decode(&doc); err != nil {
		return nil, &SyntaxError{Line: 1, Msg: err.Error()}
	}
	return normal(doc).(map[string]any), nil
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// find returns the innermost existing object on a path, its value, and the rest of the
// path below it. The last value is that of the last key on the path that exists.
func (j jsonSyntax) find(text []byte, path []string) (object hujson.Value, rest []string, err error) {
	if _, err := j.tree(text); err != nil {
		return hujson.Value{}, nil, err
	}
	v, err := parseHuJSON(text)
	if err != nil {
		return hujson.Value{}, nil, err
	}
	for i, key := range path {
		m := member(v.Value.(*hujson.Object), key)
		if m == nil {
			return v, path[i:], nil
		}
		if _, ok := m.Value.Value.(*hujson.Object); !ok {
			return v, path[i:], nil
		}
		v = m.Value
	}
	return v, nil, nil
}

// member returns the member of an object with a name; the last one if there are several,
// as programs that read the file see it.
func member(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return &o.Members[i]
		}
	}
	return nil
}

func (j jsonSyntax) insert(text []byte, path []string, value []field) (edit, error) {
	if blank(text) {
		s := jsonStyle{unit: "  ", newline: lineEnding(text)}
		end := s.newline
		if len(text) > 0 {
			end = "" // what is there follows
		}
		return edit{new: []byte(s.render(nest(path, value), "") + end)}, nil
	}
	object, rest, err := j.find(text, path)
	if err != nil {
		return edit{}, err
	}
	if len(rest) == 0 {
		return edit{}, shapeError("%s exists", strings.Join(path, "."))
	}
	inner := nest(rest[1:], value)
	if m := member(object.Value.(*hujson.Object), rest[0]); m != nil {
		if l, ok := m.Value.Value.(hujson.Literal); !ok || string(l) != "null" {
			return edit{}, shapeError("%q is not an object", rest[0])
		}
		s := style(text, object)
		return edit{
			at: m.Value.StartOffset, old: text[m.Value.StartOffset:m.Value.EndOffset],
			new: []byte(s.render(inner, indentation(text, m.Name.StartOffset))),
		}, nil
	}
	return prepend(text, object, rest[0], inner), nil
}

// nest returns a value as the member of objects with these keys.
func nest(path []string, value []field) []field {
	for i := len(path) - 1; i >= 0; i-- {
		value = []field{{key: path[i], value: value}}
	}
	return value
}

// prepend inserts a member at the beginning of an object.
func prepend(text []byte, v hujson.Value, key string, value any) edit {
	o := v.Value.(*hujson.Object)
	s := style(text, v)
	open, end := v.StartOffset+1, v.EndOffset-1 // after { and before }
	at := open + comment(text[open:end])
	if len(o.Members) > 0 {
		first := o.Members[0].Name.StartOffset
		if !bytes.ContainsRune(text[open:first], '\n') { // on one line
			inserted := quoteJSON(key) + ": " + jsonStyle{}.render(value, "") + ","
			if open == first {
				inserted += " "
			} else {
				inserted = " " + inserted
			}
			return edit{at: open, new: []byte(inserted)}
		}
		indent := indentation(text, first)
		s.newline = lineEnding(text)
		return edit{at: at, new: []byte(s.newline + indent + quoteJSON(key) + ": " + s.render(value, indent) + ",")}
	}
	if s.newline == "" {
		return edit{at: open, new: []byte(quoteJSON(key) + ": " + s.render(value, ""))}
	}
	outer := indentation(text, v.StartOffset)
	indent := outer + s.unit
	inserted := s.newline + indent + quoteJSON(key) + ": " + s.render(value, indent)
	if bytes.ContainsRune(text[at:end], '\n') {
		return edit{at: at, new: []byte(inserted)}
	}
	if blank(text[at:end]) { // replace the blanks, if any
		return edit{at: at, old: text[at:end], new: []byte(inserted + s.newline + outer)}
	}
	return edit{at: at, new: []byte(inserted + s.newline + indent)}
}

// comment returns the length of the comments that follow on the same line, up to the
// line ending. It is 0 if something else follows.
func comment(text []byte) int {
	line := text[:lineEnd(text, 0)]
	if len(line) == 0 || line[len(line)-1] != '\n' {
		return 0
	}
	line = bytes.TrimRight(line, "\r\n")
	rest := bytes.TrimLeft(line, " \t")
	for len(rest) > 0 {
		if bytes.HasPrefix(rest, []byte("//")) {
			return len(line)
		}
		_, after, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte("/*")), []byte("*/"))
		if !ok || !bytes.HasPrefix(rest, []byte("/*")) {
			return 0 // a comment of several lines
		}
		rest = bytes.TrimLeft(after, " \t")
	}
	return len(line)
}

func (j jsonSyntax) set(text []byte, path []string, f field) ([]byte, error) {
	object, rest, err := j.find(text, path)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, shapeError("%s is not an object", strings.Join(path, "."))
	}
	m := member(object.Value.(*hujson.Object), f.key)
	if m == nil {
		return prepend(text, object, f.key, f.value).apply(text), nil
	}
	if fields, ok := f.value.([]field); ok {
		if _, isObject := m.Value.Value.(*hujson.Object); isObject { // keep its other members
			for _, inner := range fields {
				if text, err = j.set(text, append(path[:len(path):len(path)], f.key), inner); err != nil {
					return nil, err
				}
			}
			return text, nil
		}
	}
	value := style(text, object).render(f.value, indentation(text, m.Name.StartOffset))
	return edit{at: m.Value.StartOffset, old: text[m.Value.StartOffset:m.Value.EndOffset], new: []byte(value)}.apply(text), nil
}

func (j jsonSyntax) cut(text []byte, path []string) ([]byte, error) {
	last := len(path) - 1
	object, rest, err := j.find(text, path[:last])
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, shapeError("%s is not an object", strings.Join(path[:last], "."))
	}
	o := object.Value.(*hujson.Object)
	for i := len(o.Members) - 1; i >= 0; i-- {
		m := o.Members[i]
		if l, ok := m.Name.Value.(hujson.Literal); !ok || l.String() != path[last] {
			continue
		}
		start, end := m.Name.StartOffset, m.Value.EndOffset
		// The comma that separates the member from the next one goes with it.
		comma := end + len(m.Value.AfterExtra)
		trailing := comma < len(text) && text[comma] == ','
		if trailing {
			end = comma + 1
		}
		start, end = wholeLines(text, start, end)
		text = edit{at: start, old: text[start:end]}.apply(text)
		if i == len(o.Members)-1 && i > 0 && !trailing {
			// The last member: so does the comma before it.
			previous := o.Members[i-1].Value
			at := previous.EndOffset + len(previous.AfterExtra)
			text = edit{at: at, old: text[at : at+1]}.apply(text)
		}
	}
	return text, nil
}

// wholeLines extends a range to the lines of which it is the only content, including the
// line ending before it. On a line with other content it takes the blanks after it.
func wholeLines(text []byte, start, end int) (int, int) {
	first := lineStart(text, start)
	next := end
	for next < len(text) && (text[next] == ' ' || text[next] == '\t') {
		next++
	}
	alone := next == len(text) || text[next] == '\n' || text[next] == '\r'
	if blank(text[first:start]) && alone && first > 0 {
		first--
		if first > 0 && text[first-1] == '\r' {
			first--
		}
		return first, next
	}
	if alone {
		return start, end
	}
	return start, next
}

// A jsonStyle is how an object is laid out. The zero jsonStyle uses one line.
type jsonStyle struct {
	unit    string // of indentation
	newline string // empty: on one line
}

// style returns the layout for new members of an object.
func style(text []byte, object hujson.Value) jsonStyle {
	s := jsonStyle{unit: "  ", newline: lineEnding(text)}
	root, err := parseHuJSON(text)
	if err != nil {
		return s
	}
	o, ok := root.Value.(*hujson.Object)
	if !ok || len(o.Members) == 0 {
		return s
	}
	first := o.Members[0].Name.StartOffset
	if !bytes.ContainsRune(text[root.StartOffset:first], '\n') {
		s.newline = "" // the whole file is on one line
		return s
	}
	outer, inner := indentation(text, root.StartOffset), indentation(text, first)
	if unit, ok := strings.CutPrefix(inner, outer); ok && unit != "" {
		s.unit = unit
	}
	return s
}

// render returns a value. Lines after the first one are indented by indent.
func (s jsonStyle) render(v any, indent string) string {
	switch v := v.(type) {
	case []field:
		if len(v) == 0 {
			return "{}"
		}
		var members []string
		for _, f := range v {
			members = append(members, quoteJSON(f.key)+": "+s.render(f.value, indent+s.unit))
		}
		if s.newline == "" {
			return "{" + strings.Join(members, ", ") + "}"
		}
		inner := s.newline + indent + s.unit
		return "{" + inner + strings.Join(members, ","+inner) + s.newline + indent + "}"
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, quoteJSON(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return quoteJSON(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	}
	panic(errors.New("setup: no such kind of value")) // the shapes of clients have no other kind
}

// quoteJSON returns text as a JSON string, which is also a string of YAML and TOML.
func quoteJSON(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string always marshals
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}
