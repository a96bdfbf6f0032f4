package setup

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// A syntax changes text in one format. The text has no byte order mark. Servers is the key of the
// object with the entry; what the text has besides stays, or is checked by the caller to be the same.
type syntax interface {
	// parse returns the content of a text, which is empty for a text without any.
	parse(text []byte) (map[string]any, error)
	// put adds the entry, or changes it to be as it is told.
	put(text []byte, servers string, entry map[string]any) ([]byte, error)
	// cut removes the entry.
	cut(text []byte, servers string) ([]byte, error)
}

var syntaxes = map[Format]syntax{JSON: jsonSyntax{}, TOML: tomlSyntax{}, YAML: yamlSyntax{}}

// errInPlace means that a file is valid, but has something else where the servers belong, or
// writes them in a way that is not changed.
var errInPlace = errors.New("the entry cannot be changed in place without changing something else")

const byteOrderMark = "\xEF\xBB\xBF"

// A document is the parsed text of a configuration file.
type document struct {
	client  Client
	text    []byte
	doc     map[string]any
	servers map[string]any
	entry   map[string]any // nil if there is none
}

// parse parses the text of a client's file.
func (c Client) parse(text []byte) (document, error) {
	d := document{client: c, text: text}
	var err error
	d.doc, err = syntaxes[c.Format].parse(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	d.servers, _ = d.doc[c.Servers].(map[string]any)
	d.entry, _ = d.servers[EntryName].(map[string]any)
	return d, err
}

// put returns the text with an entry.
func (d document) put(entry map[string]any) ([]byte, error) {
	return d.change(entry, func(text []byte, servers string) ([]byte, error) {
		return syntaxes[d.client.Format].put(text, servers, entry)
	})
}

// cut returns the text without the entry.
func (d document) cut() ([]byte, error) {
	return d.change(nil, syntaxes[d.client.Format].cut)
}

// change returns a changed text, after parsing it: it has the entry, and everything else is as it
// was.
func (d document) change(entry map[string]any, edit func(text []byte, servers string) ([]byte, error)) ([]byte, error) {
	body, marked := bytes.CutPrefix(d.text, []byte(byteOrderMark))
	text, err := edit(body, d.client.Servers)
	if err != nil {
		return nil, err
	}
	if marked {
		text = append([]byte(byteOrderMark), text...)
	}
	changed, err := d.client.parse(text)
	if err != nil || !reflect.DeepEqual(changed.entry, entry) || !reflect.DeepEqual(changed.rest(), d.rest()) {
		return nil, errInPlace
	}
	return text, nil
}

// rest returns what a file has besides the entry. An object of servers that is empty then is omitted,
// as is one that is null.
func (d document) rest() map[string]any {
	doc, servers := maps.Clone(d.doc), maps.Clone(d.servers)
	delete(servers, EntryName)
	if doc[d.client.Servers] == nil || d.servers != nil && len(servers) == 0 {
		delete(doc, d.client.Servers)
	} else if d.servers != nil {
		doc[d.client.Servers] = servers
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
