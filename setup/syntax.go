package setup

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// A syntax changes text in one format. The text has no byte order mark. Path leads to the
// entry; what the text has besides stays, or is checked by the caller to be the same.
type syntax interface {
	// parse returns the content of a text, which is empty for a text without any.
	parse(text []byte) (map[string]any, error)
	// put adds the entry, or changes it to be as it is told.
	put(text []byte, path []string, entry map[string]any) ([]byte, error)
	// cut removes the entry.
	cut(text []byte, path []string) ([]byte, error)
}

var syntaxes = map[Format]syntax{JSON: jsonSyntax{}, TOML: tomlSyntax{}, YAML: yamlSyntax{}}

// errInPlace means that a file is valid, but has something else where the servers belong, or
// writes them in a way that is not changed.
var errInPlace = errors.New("the entry cannot be changed in place without changing something else")

const byteOrderMark = "\xEF\xBB\xBF"

// A document is the parsed text of a configuration file.
type document struct {
	client Client
	text   []byte
	doc    map[string]any
	entry  map[string]any // nil if there is none
}

// path returns the keys that lead to the entry.
func (c Client) path() []string { return append(slices.Clone(c.Servers), EntryName) }

// parse parses the text of a client's file.
func (c Client) parse(text []byte) (document, error) {
	d := document{client: c, text: text}
	var err error
	d.doc, err = syntaxes[c.Format].parse(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	d.entry, _ = valueAt(d.doc, c.path()).(map[string]any)
	return d, err
}

// put returns the text with an entry.
func (d document) put(entry map[string]any) ([]byte, error) {
	return d.change(entry, func(text []byte, path []string) ([]byte, error) {
		return syntaxes[d.client.Format].put(text, path, entry)
	})
}

// cut returns the text without the entry.
func (d document) cut() ([]byte, error) {
	return d.change(nil, syntaxes[d.client.Format].cut)
}

// change returns a changed text, after parsing it: it has the entry, and everything else is as it
// was.
func (d document) change(entry map[string]any, edit func(text []byte, path []string) ([]byte, error)) ([]byte, error) {
	body, marked := bytes.CutPrefix(d.text, []byte(byteOrderMark))
	text, err := edit(body, d.client.path())
	if err != nil {
		return nil, err
	}
	if marked {
		text = append([]byte(byteOrderMark), text...)
	}
	changed, err := d.client.parse(text)
	if err != nil || !reflect.DeepEqual(changed.entry, entry) ||
		!reflect.DeepEqual(without(changed.doc, d.client.path()), without(d.doc, d.client.path())) {
		return nil, errInPlace
	}
	return text, nil
}

// valueAt returns the value at a path in a parsed file, or nil.
func valueAt(doc map[string]any, path []string) any {
	for _, key := range path[:len(path)-1] {
		doc, _ = doc[key].(map[string]any)
	}
	return doc[path[len(path)-1]]
}

// without returns a copy of a parsed file without the value at a path. Objects on the
// path that are empty then are omitted, as are values that are null.
func without(doc map[string]any, path []string) map[string]any {
	doc = maps.Clone(doc)
	inner, isObject := doc[path[0]].(map[string]any)
	if isObject && len(path) > 1 {
		inner = without(inner, path[1:])
		doc[path[0]] = inner
	}
	if len(path) == 1 || doc[path[0]] == nil || isObject && len(inner) == 0 {
		delete(doc, path[0])
	}
	return doc
}

// order has the members of entries that are written before others.
var order = []string{"name", "description", "source", "type", "command", "cmd"}

// sorted returns the keys of an object in the order in which they are written.
func sorted(object map[string]any) []string {
	keys := slices.DeleteFunc(slices.Clone(order), func(key string) bool { _, ok := object[key]; return !ok })
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(order, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// lineEnding returns the line ending of a text.
func lineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
