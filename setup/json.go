package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonSyntax changes JSON with comments and trailing commas, through its syntax tree. A new
// member becomes the last one of its object.
type jsonSyntax struct{}

func (jsonSyntax) tree(text []byte) (hujson.Value, error) {
	if blank(text) {
		text = []byte("{}")
	}
	v, err := hujson.Parse(append(text[:len(text):len(text)], '\n')) // a comment needs a line ending
	switch {
	case err != nil:
		err = errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	case v.Value.Kind() != '{':
		err = errors.New("the file is not a JSON object")
	}
	return v, err
}

// packed returns the text of a tree. The line ending that tree has added to a text goes.
func packed(v hujson.Value, text []byte) []byte {
	if blank(text) {
		return v.Pack()
	}
	return bytes.TrimSuffix(v.Pack(), []byte("\n"))
}

func (j jsonSyntax) parse(text []byte) (doc map[string]any, err error) {
	v, err := j.tree(text)
	if err != nil {
		return nil, err
	}
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber() // so that no two numbers are taken for equal
	return doc, dec.Decode(&doc)
}

func (j jsonSyntax) put(text []byte, servers string, entry map[string]any) ([]byte, error) {
	root, err := j.tree(text)
	if err != nil {
		return nil, err
	}
	newline, unit := lineEnding(text), "  "
	if o := root.Value.(*hujson.Object); len(o.Members) > 0 {
		before := string(o.Members[0].Name.BeforeExtra)
		if own := before[strings.LastIndexByte(before, '\n')+1:]; own != "" && blank([]byte(own)) {
			unit = own
		}
	}
	indent, at := newline, ""
	for _, name := range []string{servers, EntryName} {
		parent, ok := root.Find(at).Value.(*hujson.Object)
		if !ok {
			return nil, errors.New(`"` + at[1:] + `" is not an object`)
		}
		at += "/" + name
		if is := root.Find(at); is == nil {
			if err := appendMember(&root, parent, at, indent, unit); err != nil {
				return nil, err
			}
		} else if is.Value.Kind() == 'n' {
			is.Value = &hujson.Object{}
		}
		indent += unit
	}
	value, err := hujson.Parse([]byte(render(entry, indent, unit)))
	if err != nil {
		return nil, err
	}
	root.Find(at).Value = value.Value
	return packed(root, text), nil
}

// appendMember adds an empty object to the one that is its parent, on a line of its own. Indent is
// the line ending and the indentation of the parent.
func appendMember(root *hujson.Value, parent *hujson.Object, at, indent, unit string) error {
	n := len(parent.Members)
	trailing := n > 0 && parent.Members[n-1].Value.AfterExtra != nil // comma
	if err := root.Patch([]byte(`[{"op": "add", "path": "` + at + `", "value": {}}]`)); err != nil {
		return err
	}
	m := &parent.Members[n]
	m.Name.BeforeExtra = append(bytes.TrimRight(m.Name.BeforeExtra, " \t\r\n"), indent+unit...)
	m.Value.BeforeExtra = hujson.Extra(" ")
	if trailing {
		m.Value.AfterExtra = hujson.Extra{}
	}
	if blank(parent.AfterExtra) || !bytes.Contains(parent.AfterExtra, []byte("\n")) {
		parent.AfterExtra = append(bytes.TrimSpace(parent.AfterExtra), indent...)
	}
	return nil
}

// render returns a value as JSON. Indent is the line ending and the indentation of its own line.
func render(v any, indent, unit string) string {
	var items []string
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		for _, name := range sorted(v) {
			items = append(items, render(name, "", "")+": "+render(v[name], indent+unit, unit))
		}
		return "{" + indent + unit + strings.Join(items, ","+indent+unit) + indent + "}"
	case []any:
		for _, item := range v {
			items = append(items, render(item, indent, unit))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "null" // a value that JSON does not have, which is found when the text is checked
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (j jsonSyntax) cut(text []byte, servers string) ([]byte, error) {
	root, err := j.tree(text)
	if err != nil {
		return nil, err
	}
	err = root.Patch([]byte(`[{"op": "remove", "path": "/` + servers + `/` + EntryName + `"}]`))
	return packed(root, text), err
}
