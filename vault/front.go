package vault

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sequent-dev/sequent"
)

// A Front is the front matter of a note: a YAML mapping. Setting a key changes only the
// lines of that key. The zero Front means no front matter; setting a key adds it.
//
// Front matter that is not a YAML mapping is damaged: it has no keys, setting one fails
// with CodeFrontMatter, and its text stays unchanged.
type Front struct {
	open string // the first fence, with its line break; empty if there is no front matter
	text string // between the fences
	end  string // the second fence, with its line break if there is one

	parsed bool
	keys   []*yaml.Node
	values []*yaml.Node // parallel to keys
	err    error
}

// maxFrontBytes limits the front matter that is parsed.
const maxFrontBytes = 256 << 10

// Present reports whether the note has front matter, damaged or not.
func (f *Front) Present() bool { return f.open != "" }

// Text returns the text of the front matter, without its fences.
func (f *Front) Text() string { return f.text }

// Err returns an error with CodeFrontMatter if the front matter is damaged.
func (f *Front) Err() error {
	f.parse()
	return f.err
}

// Keys returns the keys in the order of the text.
func (f *Front) Keys() []string {
	f.parse()
	keys := make([]string, len(f.keys))
	for i, k := range f.keys {
		keys[i] = k.Value
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

// List returns the value of a key as a list: its scalar elements, or a single scalar. A
// list of a list of one scalar, which is how YAML parses [[link]] without quotes, is
// returned as the link.
func (f *Front) List(key string) []string {
	n := f.find(key)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		if link := bareLink(n); link != "" {
			return []string{link}
		}
		var list []string
		for _, e := range n.Content {
			if link := bareLink(e); link != "" {
				list = append(list, link)
			} else if e.Kind == yaml.ScalarNode && e.Tag != "!!null" {
				list = append(list, e.Value)
			}
		}
		return list
	default:
		if s := f.Get(key); s != "" {
			return []string{s}
		}
		return nil
	}
}

// bareLink returns the link that YAML has parsed as a list of a list.
func bareLink(n *yaml.Node) string {
	for range 2 {
		if n.Kind != yaml.SequenceNode || len(n.Content) != 1 {
			return ""
		}
		n = n.Content[0]
	}
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	return "[[" + n.Value + "]]"
}

// Set sets a key to a text.
func (f *Front) Set(key, value string) error { return f.put(key, scalar(value)) }

// SetInt sets a key to a number.
func (f *Front) SetInt(key string, value int) error {
	return f.put(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(value)})
}

// SetTime sets a key to a time in UTC, with milliseconds.
func (f *Front) SetTime(key string, value time.Time) error {
	return f.put(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: value.UTC().Format("2006-01-02T15:04:05.000Z")})
}

// SetList sets a key to a list of texts.
func (f *Front) SetList(key string, values []string) error {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(values) == 0 {
		n.Style = yaml.FlowStyle
	}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v))
	}
	return f.put(key, n)
}

// Delete removes a key and its value. A missing key is no error.
func (f *Front) Delete(key string) error {
	if err := f.Err(); err != nil {
		return err
	}
	if f.find(key) == nil {
		return nil
	}
	return f.edit(key, nil)
}

// scalar returns a node for a text, in double quotes if it needs quotes.
func scalar(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if plain, err := yaml.Marshal(value); err != nil || strings.ContainsAny(string(plain[:1]), `'"|>`) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// parse parses the keys at the first call.
func (f *Front) parse() {
	if f.parsed {
		return
	}
	f.parsed = true
	f.keys, f.values, f.err = parseMapping(f.text)
}

func parseMapping(text string) (keys, values []*yaml.Node, err error) {
	if len(text) > maxFrontBytes {
		return nil, nil, damaged(fmt.Sprintf("it is longer than %d bytes", maxFrontBytes), nil)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, nil, damaged("it is not YAML", err)
	}
	if doc.Kind == 0 || doc.Kind == yaml.DocumentNode && doc.Content[0].Tag == "!!null" {
		return nil, nil, nil // only comments
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return nil, nil, damaged("it is YAML, but not a mapping of keys to values", nil)
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		keys, values = append(keys, m.Content[i]), append(values, m.Content[i+1])
	}
	return keys, values, nil
}

func damaged(why string, cause error) error {
	return &sequent.Error{
		Code: CodeFrontMatter,
		Msg:  "the note's front matter is damaged: " + why,
		Fix:  "correct it in an editor; nothing of it is lost",
		Err:  cause,
	}
}

// find returns the value of a key, with aliases resolved; nil if there is none.
func (f *Front) find(key string) *yaml.Node {
	f.parse()
	for i, k := range f.keys {
		if k.Kind == yaml.ScalarNode && k.Value == key {
			if n := f.values[i]; n.Kind == yaml.AliasNode {
				return n.Alias
			}
			return f.values[i]
		}
	}
	return nil
}

// put sets a key, unless it has the value already.
func (f *Front) put(key string, value *yaml.Node) error {
	if err := f.Err(); err != nil {
		return err
	}
	if old := f.find(key); old != nil && same(old, value) {
		return nil
	}
	lines, err := encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar(key), value}})
	if err != nil {
		return damaged("the value of "+key+" cannot be written", err)
	}
	return f.edit(key, lines)
}

// same reports whether two values are equal.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode && a.ShortTag() != b.ShortTag() {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
