package vault

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sequent-dev/sequent"
)

// A Front is the front matter of a note: a YAML mapping with one key a line. Setting a key
// changes only the lines of that key. The zero Front means no front matter; setting a key
// adds it.
//
// Front matter that is not a YAML mapping is damaged: it has no keys, setting one fails
// with CodeFrontMatter, and its text stays unchanged.
type Front struct {
	open string // the first fence, with its line break; empty if there is no front matter
	text string // between the fences
	end  string // the second fence, with its line break if there is one

	nodes []*yaml.Node // the keys, each followed by its value
	err   error
}

// maxFrontBytes limits the front matter that is parsed.
const maxFrontBytes = 256 << 10

// Present reports whether the note has front matter, damaged or not.
func (f *Front) Present() bool { return f.open != "" }

// Text returns the text of the front matter, without its fences.
func (f *Front) Text() string { return f.text }

// SetText replaces the text of front matter by one with as many keys.
func (f *Front) SetText(text string) error {
	nodes, err := parseMapping(text)
	if err == nil && len(nodes) != len(f.nodes) {
		err = damaged("another text has other keys", nil)
	}
	if err == nil {
		f.text, f.nodes = text, nodes
	}
	return err
}

// Err returns an error with CodeFrontMatter if the front matter is damaged.
func (f *Front) Err() error { return f.err }

// Keys returns the keys in the order of the text.
func (f *Front) Keys() (keys []string) {
	for pair := range slices.Chunk(f.nodes, 2) {
		keys = append(keys, pair[0].Value)
	}
	return keys
}

// Get returns the scalar value of a key, without quotes. It is empty if there is no
// such key, or if its value is null or not a scalar.
func (f *Front) Get(key string) string {
	if n := f.find(key); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

// Time returns the time that a key has, in UTC; the zero time if it has none.
func (f *Front) Time(key string) time.Time {
	for _, form := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(form, f.Get(key)); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// List returns the value of a key as a list: its scalar elements, or a single scalar. A
// list of a list of one scalar, which is how YAML parses [[link]] without quotes, is
// returned as the link.
func (f *Front) List(key string) (list []string) {
	n := f.find(key)
	if n == nil {
		return nil
	}
	elements := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode && !isLink(n) {
		elements = n.Content
	}
	for _, e := range elements {
		switch {
		case isLink(e):
			list = append(list, "[["+e.Content[0].Content[0].Value+"]]")
		case e.Kind == yaml.ScalarNode && e.Tag != "!!null" && (e != n || e.Value != ""):
			list = append(list, e.Value)
		}
	}
	return list
}

// isLink reports whether YAML has parsed a link as a list of a list.
func isLink(n *yaml.Node) bool {
	for range 2 {
		if n.Kind != yaml.SequenceNode || len(n.Content) != 1 {
			return false
		}
		n = n.Content[0]
	}
	return n.Kind == yaml.ScalarNode
}

// Set sets a key to a string, an int, a time, which is written in UTC with milliseconds, or
// a list of strings. It removes a key whose new value is nil or the empty string.
func (f *Front) Set(key string, value any) error {
	if f.err != nil {
		return f.err
	}
	old := f.find(key)
	if value == nil || value == "" {
		if old == nil {
			return nil
		}
		return f.edit(key, "")
	}
	n := nodeOf(value)
	if old != nil && same(old, n) {
		return nil
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2) // the list indentation of Obsidian
	if err := e.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{nodeOf(key), n}}); err != nil {
		return damaged("the value of "+key+" cannot be written", err)
	}
	return f.edit(key, b.String())
}

// SetAll sets keys, each followed by its value, up to the first error.
func (f *Front) SetAll(keysAndValues ...any) error {
	for pair := range slices.Chunk(keysAndValues, 2) {
		if err := f.Set(fmt.Sprint(pair[0]), pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func nodeOf(value any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value)}
	switch value := value.(type) {
	case int:
		n.Tag = "!!int"
	case time.Time:
		n.Tag, n.Value = "!!timestamp", value.UTC().Format("2006-01-02T15:04:05.000Z")
	case []string:
		n.Kind, n.Tag, n.Value = yaml.SequenceNode, "!!seq", ""
		if len(value) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, v := range value {
			n.Content = append(n.Content, nodeOf(v))
		}
	default:
		n.Tag = "!!str"
		if plain, err := yaml.Marshal(n.Value); err != nil || strings.ContainsAny(string(plain[:1]), `'"|>`) {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	return n
}

func parseMapping(text string) ([]*yaml.Node, error) {
	if len(text) > maxFrontBytes {
		return nil, damaged(fmt.Sprintf("it is longer than %d bytes", maxFrontBytes), nil)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, damaged("it is not YAML", err)
	}
	if doc.Kind == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil // only comments
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, damaged("it is YAML, but not a mapping of keys to values", nil)
	}
	return doc.Content[0].Content, nil
}

func damaged(why string, cause error) error {
	return &sequent.Error{
		Code: CodeFrontMatter,
		Msg:  "the note's front matter is damaged: " + why,
		Fix:  "correct it in an editor; nothing of it is lost",
		Err:  cause,
	}
}

// index returns the index of a key in nodes; -1 if there is none.
func (f *Front) index(key string) int {
	for i := 0; i < len(f.nodes); i += 2 {
		if f.nodes[i].Kind == yaml.ScalarNode && f.nodes[i].Value == key {
			return i
		}
	}
	return -1
}

// find returns the value of a key, with aliases resolved; nil if there is none.
func (f *Front) find(key string) *yaml.Node {
	i := f.index(key)
	if i < 0 {
		return nil
	}
	if n := f.nodes[i+1]; n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return f.nodes[i+1]
}

// edit replaces the lines of a key, or adds them at the end; no lines remove the key.
// The result is parsed again: an edit that changes another key is refused.
func (f *Front) edit(key, lines string) error {
	next := *f
	if next.open == "" {
		next.open, next.end = fence+"\n", fence+"\n"
	}
	before, after := f.around(key)
	if after == "" && before != "" && !strings.HasSuffix(before, "\n") {
		lines = "\n" + lines
	}
	next.text = before + lines + after
	var err error
	if next.nodes, err = parseMapping(next.text); err != nil {
		return damaged("setting "+key+" would make it unreadable", err)
	}
	if !slices.EqualFunc(f.others(key), next.others(key), same) || (next.find(key) != nil) != (lines != "") {
		return damaged("setting "+key+" would change other keys", nil)
	}
	*f = next
	return nil
}

// around returns the text before and after the lines of a key; all is before one that is not
// there. Comments and empty lines before the next key belong to that key.
func (f *Front) around(key string) (before, after string) {
	i := f.index(key)
	if i < 0 {
		return f.text, ""
	}
	lines := strings.SplitAfter(f.text, "\n")
	start, end := f.nodes[i].Line-1, len(lines)
	if i+2 < len(f.nodes) {
		end = max(f.nodes[i+2].Line-1, start)
	}
	for end > start+1 && (strings.TrimSpace(lines[end-1]) == "" || lines[end-1][0] == '#') {
		end--
	}
	return strings.Join(lines[:start], ""), strings.Join(lines[end:], "")
}

// others returns all keys and values but those of a key.
func (f *Front) others(key string) []*yaml.Node {
	i := f.index(key)
	if i < 0 {
		return f.nodes
	}
	return slices.Concat(f.nodes[:i], f.nodes[i+2:])
}

// same reports whether two values are equal.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && (a.Kind != yaml.ScalarNode || a.ShortTag() == b.ShortTag()) &&
		slices.EqualFunc(a.Content, b.Content, same)
}
