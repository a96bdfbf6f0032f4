package vault

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
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

	parsed  bool
	entries []entry
	err     error
}

// An entry is a key with its value.
type entry struct{ key, value *yaml.Node }

func (e entry) is(key string) bool { return e.key.Kind == yaml.ScalarNode && e.key.Value == key }

// maxFrontBytes limits the front matter that is parsed.
const maxFrontBytes = 256 << 10

// Present reports whether the note has front matter, damaged or not.
func (f *Front) Present() bool { return f.open != "" }

// Text returns the text of the front matter, without its fences.
func (f *Front) Text() string { return f.text }

// Err returns an error with CodeFrontMatter if the front matter is damaged.
func (f *Front) Err() error {
	if !f.parsed {
		f.parsed = true
		f.entries, f.err = parseMapping(f.text)
	}
	return f.err
}

// Keys returns the keys in the order of the text.
func (f *Front) Keys() []string {
	if f.Err() != nil {
		return nil
	}
	keys := make([]string, len(f.entries))
	for i, e := range f.entries {
		keys[i] = e.key.Value
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
func (f *Front) List(key string) []string {
	n := f.find(key)
	if n == nil || n.Kind != yaml.SequenceNode {
		if s := f.Get(key); s != "" {
			return []string{s}
		}
		return nil
	}
	var list []string
	for _, e := range append([]*yaml.Node{n}, n.Content...) {
		if link := bareLink(e); link != "" {
			list = append(list, link)
			if e == n {
				break
			}
		} else if e.Kind == yaml.ScalarNode && e.Tag != "!!null" {
			list = append(list, e.Value)
		}
	}
	return list
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

// Set sets a key to a string, an int, a time, which is written in UTC with milliseconds, or
// a list of strings. It removes a key whose new value is nil or the empty string.
func (f *Front) Set(key string, value any) error {
	if err := f.Err(); err != nil {
		return err
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
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch value := value.(type) {
	case int:
		n.Tag, n.Value = "!!int", strconv.Itoa(value)
	case time.Time:
		n.Tag, n.Value = "!!timestamp", value.UTC().Format("2006-01-02T15:04:05.000Z")
	case []string:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if len(value) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, v := range value {
			n.Content = append(n.Content, nodeOf(v))
		}
	default:
		n.Tag, n.Value = "!!str", fmt.Sprint(value)
		if plain, err := yaml.Marshal(n.Value); err != nil || strings.ContainsAny(string(plain[:1]), `'"|>`) {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	return n
}

func parseMapping(text string) (entries []entry, err error) {
	if len(text) > maxFrontBytes {
		return nil, damaged(fmt.Sprintf("it is longer than %d bytes", maxFrontBytes), nil)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, damaged("it is not YAML", err)
	}
	if doc.Kind == 0 || doc.Kind == yaml.DocumentNode && doc.Content[0].Tag == "!!null" {
		return nil, nil // only comments
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return nil, damaged("it is YAML, but not a mapping of keys to values", nil)
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		entries = append(entries, entry{m.Content[i], m.Content[i+1]})
	}
	return entries, nil
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
	if f.Err() != nil {
		return nil
	}
	for _, e := range f.entries {
		if e.is(key) {
			if e.value.Kind == yaml.AliasNode {
				return e.value.Alias
			}
			return e.value
		}
	}
	return nil
}

// edit replaces the lines of a key, or adds them at the end; no lines remove the key.
// The result is parsed again: an edit that changes another key is refused.
func (f *Front) edit(key, lines string) error {
	br := "\n"
	if strings.HasSuffix(f.open, "\r\n") {
		br = "\r\n"
	}
	lines = strings.ReplaceAll(lines, "\n", br)
	next := *f
	next.parsed = false
	if next.open == "" {
		next.open, next.end = fence+br, fence+br
	}
	at, end := f.span(key)
	if at == end && at > 0 && f.text[at-1] != '\n' {
		lines = br + lines
	}
	next.text = f.text[:at] + lines + f.text[end:]
	if err := next.Err(); err != nil {
		return damaged("setting "+key+" would make it unreadable", err)
	}
	if !slices.EqualFunc(without(f.entries, key), without(next.entries, key), sameEntry) || (next.find(key) != nil) != (lines != "") {
		return damaged("setting "+key+" would change other keys", nil)
	}
	*f = next
	return nil
}

// span returns the range of a key's lines in the text; the end of the text without such a
// key. Comments and empty lines before the next key belong to that key.
func (f *Front) span(key string) (at, end int) {
	i := slices.IndexFunc(f.entries, func(e entry) bool { return e.is(key) })
	if i < 0 {
		return len(f.text), len(f.text)
	}
	line, after := 1, strings.Count(f.text, "\n")+2
	if i+1 < len(f.entries) {
		after = f.entries[i+1].key.Line
	}
	offset := 0
	for text := range strings.Lines(f.text) {
		if line == f.entries[i].key.Line {
			at = offset
		}
		offset += len(text)
		between := strings.TrimSpace(text) == "" || text[0] == '#'
		if line >= f.entries[i].key.Line && line < after && !between {
			end = offset
		}
		line++
	}
	return at, end
}

func without(entries []entry, key string) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.is(key) })
}

func sameEntry(a, b entry) bool { return same(a.key, b.key) && same(a.value, b.value) }

// same reports whether two values are equal.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && (a.Kind != yaml.ScalarNode || a.ShortTag() == b.ShortTag()) &&
		slices.EqualFunc(a.Content, b.Content, same)
}
