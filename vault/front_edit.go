package vault

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (f *Front) lineBreak() string {
	if strings.HasSuffix(f.open, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// edit replaces the lines of a key, or adds them at the end; nil lines remove the key.
// The result is parsed again: an edit that changes another key is refused.
func (f *Front) edit(key string, lines []byte) error {
	br := f.lineBreak()
	replacement := string(lines)
	if br != "\n" {
		replacement = strings.ReplaceAll(replacement, "\n", br)
	}
	next := *f
	next.parsed = false
	if next.open == "" {
		next.open, next.end = fence+br, fence+br
	}
	if at, end, ok := f.span(key); ok {
		next.text = f.text[:at] + replacement + f.text[end:]
	} else if text, ok := f.rewritten(key, lines); ok {
		next.text = strings.ReplaceAll(text, "\n", br)
	} else {
		if next.text != "" && !strings.HasSuffix(next.text, "\n") {
			next.text += br
		}
		next.text += replacement
	}
	if err := next.Err(); err != nil {
		return damaged("setting "+key+" would make it unreadable", err)
	}
	if !f.sameBut(&next, key) || (next.find(key) != nil) != (lines != nil) {
		return damaged("setting "+key+" would change other keys", nil)
	}
	*f = next
	return nil
}

// span returns the range of a key's lines in the text, if the mapping is in block style.
// Comments and empty lines before the next key belong to that key.
func (f *Front) span(key string) (at, end int, ok bool) {
	i := slices.IndexFunc(f.keys, func(k *yaml.Node) bool { return k.Kind == yaml.ScalarNode && k.Value == key })
	if i < 0 || f.flow() {
		return 0, 0, false
	}
	starts := lineStarts(f.text)
	first, after := f.keys[i].Line-1, len(starts)-1
	if i+1 < len(f.keys) {
		after = f.keys[i+1].Line - 1
	}
	if first < 0 || first >= after || after >= len(starts) {
		return 0, 0, false
	}
	for after-1 > first && isBetween(f.text[starts[after-1]:starts[after]]) {
		after--
	}
	return starts[first], starts[after], true
}

// flow reports whether the mapping is not in block style with keys at the margin.
func (f *Front) flow() bool {
	for i, k := range f.keys {
		if k.Column != 1 || i > 0 && k.Line <= f.keys[i-1].Line {
			return true
		}
	}
	return false
}

// isBetween reports whether a line is empty or a comment at the margin.
func isBetween(line string) bool {
	return strings.TrimSpace(line) == "" || line[0] == '#'
}

// lineStarts returns the offset of each line of a text, and then its length.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' && i+1 < len(text) {
			starts = append(starts, i+1)
		}
	}
	return append(starts, len(text))
}

// rewritten returns the text with a key set, for a mapping that is not in block style:
// the whole mapping is encoded again.
func (f *Front) rewritten(key string, lines []byte) (string, bool) {
	if !f.flow() {
		return "", false
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	var value *yaml.Node
	if lines != nil {
		var doc yaml.Node
		if yaml.Unmarshal(lines, &doc) != nil {
			return "", false
		}
		value = doc.Content[0].Content[1]
	}
	for i, k := range f.keys {
		v := f.values[i]
		if k.Kind == yaml.ScalarNode && k.Value == key {
			if value == nil {
				continue
			}
			v, value = value, nil
		}
		m.Content = append(m.Content, k, v)
	}
	if value != nil {
		m.Content = append(m.Content, scalar(key), value)
	}
	if len(m.Content) == 0 {
		return "", true
	}
	text, err := encode(m)
	return string(text), err == nil
}

// encode returns a node as YAML, with the list indentation of Obsidian.
func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// sameBut reports whether two mappings are equal except for one key.
func (f *Front) sameBut(g *Front, key string) bool {
	other := func(f *Front) (keys, values []*yaml.Node) {
		for i, k := range f.keys {
			if k.Kind != yaml.ScalarNode || k.Value != key {
				keys, values = append(keys, k), append(values, f.values[i])
			}
		}
		return keys, values
	}
	keys, values := other(f)
	keys2, values2 := other(g)
	return slices.EqualFunc(keys, keys2, same) && slices.EqualFunc(values, values2, same)
}
