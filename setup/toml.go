package setup

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlSyntax changes TOML. A new table goes to the end of the file, where no other key can
// become part of it.
type tomlSyntax struct{}

func (tomlSyntax) parse(text []byte) (map[string]any, error) {
	doc := make(map[string]any)
	if err := toml.Unmarshal(text, &doc); err != nil {
		e := &SyntaxError{Line: 1, Msg: strings.TrimPrefix(err.Error(), "toml: ")}
		if d, ok := errors.AsType[*toml.DecodeError](err); ok {
			e.Line, e.Column = d.Position()
		}
		return nil, e
	}
	return normal(doc).(map[string]any), nil
}

// A tomlExpression is the header of a table, or a key with its value.
type tomlExpression struct {
	path       []string // from the root
	header     bool
	start, end int // whole lines, with the line ending
	value      int // offset of the value
	valueEnd   int
}

func tomlExpressions(text []byte) (list []tomlExpression, err error) {
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		var e tomlExpression
		var first, last unstable.Range
		keys := node.Key()
		for keys.Next() {
			if last = keys.Node().Raw; len(e.path) == 0 {
				first = last
			}
			e.path = append(e.path, string(keys.Node().Data))
		}
		at := int(last.Offset) + len(p.Raw(last))
		if node.Kind == unstable.KeyValue {
			e.path = append(slices.Clone(table), e.path...)
			e.value = at
			for e.value < len(text) && (text[e.value] == ' ' || text[e.value] == '\t' || text[e.value] == '=') {
				e.value++
			}
			e.valueEnd = int(node.Raw.Offset) + len(bytes.TrimRight(p.Raw(node.Raw), " \t"))
			at = e.valueEnd
		} else {
			e.header = true
			table = e.path
		}
		e.start, e.end = lineStart(text, int(first.Offset)), lineEnd(text, at)
		list = append(list, e)
	}
	return list, p.Error()
}

// below returns the indexes of the expressions at a path or below it.
func below(list []tomlExpression, path []string) (at []int) {
	for i, e := range list {
		if len(e.path) >= len(path) && slices.Equal(e.path[:len(path)], path) {
			at = append(at, i)
		}
	}
	return at
}

func (tomlSyntax) insert(text []byte, path []string, value []field) (edit, error) {
	newline := lineEnding(text)
	var b strings.Builder
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteString(newline)
	}
	if !blank(text) && !bytes.HasSuffix(text, []byte(newline+newline)) {
		b.WriteString(newline)
	}
	writeTable(&b, path, value, newline)
	return edit{at: len(text), new: []byte(b.String())}, nil
}

// writeTable writes a table, and below it the tables in it.
func writeTable(b *strings.Builder, path []string, value []field, newline string) {
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = tomlKey(name)
	}
	b.WriteString("[" + strings.Join(names, ".") + "]" + newline)
	for _, f := range value {
		if _, nested := f.value.([]field); !nested {
			b.WriteString(tomlKey(f.key) + " = " + tomlValue(f.value) + newline)
		}
	}
	for _, f := range value {
		if inner, nested := f.value.([]field); nested {
			b.WriteString(newline)
			writeTable(b, append(path[:len(path):len(path)], f.key), inner, newline)
		}
	}
}

func tomlKey(key string) string {
	bare := strings.TrimFunc(key, func(r rune) bool {
		return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	})
	if key != "" && bare == "" {
		return key
	}
	return quoteJSON(key)
}

// tomlValue returns a value, which no shape of a client nests. JSON and TOML write these
// kinds of values alike.
func tomlValue(v any) string { return jsonStyle{}.render(v, "") }

func (t tomlSyntax) set(text []byte, object []string, f field) ([]byte, error) {
	list, err := tomlExpressions(text)
	if err != nil {
		return nil, err
	}
	path := append(object[:len(object):len(object)], f.key)
	found := below(list, path)
	if inner, nested := f.value.([]field); nested {
		if len(found) == 0 {
			e, err := t.insert(text, path, inner)
			return e.apply(text), err
		}
		for _, f := range inner {
			if text, err = t.set(text, path, f); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
	if len(found) > 0 {
		if e := list[found[0]]; !e.header && len(e.path) == len(path) {
			return edit{at: e.value, old: text[e.value:e.valueEnd], new: []byte(tomlValue(f.value))}.apply(text), nil
		}
		return nil, shapeError("%s is a table", strings.Join(path, "."))
	}
	for _, i := range below(list, object) {
		if e := list[i]; e.header && len(e.path) == len(object) {
			newline := lineEnding(text)
			line := tomlKey(f.key) + " = " + tomlValue(f.value) + newline
			if text[e.end-1] != '\n' {
				line = newline + strings.TrimSuffix(line, newline)
			}
			return edit{at: e.end, new: []byte(line)}.apply(text), nil
		}
	}
	return nil, shapeError("%s is not written as a table with a header of its own", strings.Join(object, "."))
}

func (tomlSyntax) cut(text []byte, path []string) ([]byte, error) {
	list, err := tomlExpressions(text)
	if err != nil {
		return nil, err
	}
	found := below(list, path)
	if len(found) == 0 {
		return nil, shapeError("%s is part of another value", strings.Join(path, "."))
	}
	for len(found) > 0 {
		// A run of expressions, with the comments between them.
		last := len(found) - 1
		first := last
		for first > 0 && found[first-1] == found[first]-1 {
			first--
		}
		start, end := list[found[first]].start, list[found[last]].end
		if gap := blankLineBefore(text, start); gap < start && (end == len(text) || blankLine(text, end)) {
			start = gap
		}
		text = edit{at: start, old: text[start:end]}.apply(text)
		found = found[:first]
	}
	return text, nil
}

// blankLineBefore returns the offset of the blank line that ends at an offset, or the
// offset if there is none.
func blankLineBefore(text []byte, at int) int {
	if at == 0 {
		return at
	}
	if start := lineStart(text, at-1); blank(text[start:at]) {
		return start
	}
	return at
}

func blankLine(text []byte, at int) bool { return blank(text[at:lineEnd(text, at)]) }
