package setup

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// yamlSyntax changes YAML. A new entry becomes the first one of its mapping.
type yamlSyntax struct{}

var yamlError = lazyregexp.New(`^yaml: line (\d+): (.*)$`)

func asSyntaxError(err error) error {
	e := &SyntaxError{Line: 1, Msg: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := yamlError().FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Msg = m[2]
	}
	return e
}

func (yamlSyntax) parse(text []byte) (map[string]any, error) {
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, asSyntaxError(err)
	}
	if doc == nil {
		return map[string]any{}, nil
	}
	m, ok := normal(doc).(map[string]any)
	if !ok {
		return nil, shapeError("the file is not a YAML mapping")
	}
	return m, nil
}

// root returns the mapping of a text, or nil if there is none.
func (yamlSyntax) root(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, asSyntaxError(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil // a null
	}
	return doc.Content[0], nil
}

// child returns the key and the value of a name in a mapping, or nil.
func child(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// yamlOffset returns the offset of a node, whose column counts characters.
func yamlOffset(text []byte, n *yaml.Node) int {
	at := 0
	for range n.Line - 1 {
		at = lineEnd(text, at)
	}
	for range n.Column - 1 {
		if at < len(text) {
			_, size := utf8.DecodeRune(text[at:])
			at += size
		}
	}
	return at
}

func (y yamlSyntax) insert(text []byte, path []string, value []field) (edit, error) {
	root, err := y.root(text)
	if err != nil {
		return edit{}, err
	}
	newline := lineEnding(text)
	if root == nil || len(root.Content) == 0 {
		if root != nil {
			return edit{}, shapeError("the mapping of the file is empty")
		}
		return appendYAML(text, nest(path, value), newline), nil
	}
	if root.Style&yaml.FlowStyle != 0 || root.Column != 1 {
		return edit{}, shapeError("the file is not a YAML mapping with one key on each line")
	}
	node := root
	for i, name := range path {
		key, next := child(node, name)
		if key == nil {
			if i == 0 {
				return appendYAML(text, nest(path, value), newline), nil
			}
			return y.prepend(text, nil, node, nest(path[i:], value)[0])
		}
		if i == len(path)-1 {
			return edit{}, shapeError("%s exists", strings.Join(path, "."))
		}
		if next.Tag == "!!null" {
			return y.prepend(text, key, next, nest(path[i+1:], value)[0])
		}
		if next.Kind != yaml.MappingNode {
			return edit{}, shapeError("%q is not a mapping", name)
		}
		if i == len(path)-2 {
			return y.prepend(text, key, next, field{key: path[i+1], value: value})
		}
		node = next
	}
	return edit{}, shapeError("%s exists", strings.Join(path, "."))
}

func appendYAML(text []byte, value []field, newline string) edit {
	var b strings.Builder
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteString(newline)
	}
	writeYAML(&b, value, "", newline)
	return edit{at: len(text), new: []byte(b.String())}
}

// prepend inserts a field at the beginning of the mapping, or instead of the null, that is
// the value of key.
func (yamlSyntax) prepend(text []byte, key, mapping *yaml.Node, f field) (edit, error) {
	newline := lineEnding(text)
	at := yamlOffset(text, mapping)
	if mapping.Kind == yaml.MappingNode && mapping.Style&yaml.FlowStyle != 0 {
		open := bytes.IndexByte(text[at:lineEnd(text, at)], '{') // after an anchor or a tag
		if open < 0 {
			return edit{}, shapeError("line %d is not a mapping that can be changed", mapping.Line)
		}
		inserted := quoteJSON(f.key) + ": " + jsonStyle{}.render(f.value, "")
		if len(mapping.Content) > 0 {
			inserted += ", "
		}
		return edit{at: at + open + 1, new: []byte(inserted)}, nil
	}
	if key == nil {
		return edit{}, shapeError("line %d is not a mapping that can be changed", mapping.Line)
	}
	keyAt := yamlOffset(text, key)
	indent := strings.Repeat(" ", key.Column-1) + "  "
	e := edit{at: lineEnd(text, keyAt)}
	switch {
	case len(mapping.Content) > 0:
		first := mapping.Content[0]
		if first.Line == key.Line {
			return edit{}, shapeError("line %d is not a mapping that can be changed", key.Line)
		}
		indent = strings.Repeat(" ", first.Column-1)
	case mapping.Value != "": // null or ~
		e.at = at
		e.old = text[at : at+len(mapping.Value)]
	}
	var b strings.Builder
	writeYAML(&b, []field{f}, indent, newline)
	block := b.String()
	switch {
	case e.old != nil:
		block = newline + strings.TrimSuffix(block, newline)
	case e.at > 0 && text[e.at-1] != '\n':
		block = newline + block
	}
	e.new = []byte(block)
	return e, nil
}

func writeYAML(b *strings.Builder, fields []field, indent, newline string) {
	for _, f := range fields {
		fmt.Fprintf(b, "%s%s:", indent, yamlKey(f.key))
		if inner, nested := f.value.([]field); nested && len(inner) > 0 {
			b.WriteString(newline)
			writeYAML(b, inner, indent+"  ", newline)
			continue
		}
		b.WriteString(" " + jsonStyle{}.render(f.value, "") + newline)
	}
}

// find returns the mapping at a path and its key.
func (y yamlSyntax) find(text []byte, path []string) (key, mapping *yaml.Node, err error) {
	if mapping, err = y.root(text); err != nil {
		return nil, nil, err
	}
	for _, name := range path {
		if key, mapping = child(mapping, name); mapping == nil || mapping.Kind != yaml.MappingNode {
			return nil, nil, shapeError("%s is not a mapping", strings.Join(path, "."))
		}
	}
	return key, mapping, nil
}

func (y yamlSyntax) set(text []byte, object []string, f field) ([]byte, error) {
	key, mapping, err := y.find(text, object)
	if err != nil {
		return nil, err
	}
	path := append(object[:len(object):len(object)], f.key)
	if _, value := child(mapping, f.key); value != nil {
		if inner, nested := f.value.([]field); nested && value.Kind == yaml.MappingNode {
			for _, f := range inner {
				if text, err = y.set(text, path, f); err != nil {
					return nil, err
				}
			}
			return text, nil
		}
		if text, err = y.cut(text, path); err != nil {
			return nil, err
		}
		root, err := y.root(text)
		if err != nil {
			return nil, err
		}
		key, mapping = nil, root
		for _, name := range object {
			if key, mapping = child(mapping, name); key == nil {
				return nil, shapeError("%s is not a mapping", strings.Join(object, "."))
			}
		}
	}
	e, err := y.prepend(text, key, mapping, f)
	if err != nil {
		return nil, err
	}
	return e.apply(text), nil
}

func (y yamlSyntax) cut(text []byte, path []string) ([]byte, error) {
	last := len(path) - 1
	_, mapping, err := y.find(text, path[:last])
	if err != nil {
		return nil, err
	}
	key, _ := child(mapping, path[last])
	if key == nil || mapping.Style&yaml.FlowStyle != 0 {
		return nil, shapeError("line %d is not a mapping with one key on each line", mapping.Line)
	}
	start := lineStart(text, yamlOffset(text, key))
	end := lineEnd(text, start)
	// Lines below the key are indented more; items of a list may be indented alike.
	for at := end; at < len(text); at = lineEnd(text, at) {
		line := text[at:lineEnd(text, at)]
		if blank(line) {
			continue
		}
		depth := len(line) - len(bytes.TrimLeft(line, " "))
		if depth < key.Column && (depth < key.Column-1 || line[depth] != '-') {
			break
		}
		end = lineEnd(text, at)
	}
	return edit{at: start, old: text[start:end]}.apply(text), nil
}

// yamlKey returns a key of YAML.
func yamlKey(key string) string {
	if plain := tomlKey(key); plain != key || strings.Trim(key, "0123456789-") == "" {
		return quoteJSON(key)
	}
	return key
}
