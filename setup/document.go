package setup

import (
	"bytes"
	"reflect"
	"slices"
)

const byteOrderMark = "\xEF\xBB\xBF"

// A document is a configuration file that was read and parsed.
type document struct {
	configFile
	mark  []byte // byte order mark
	body  []byte // text without it
	doc   map[string]any
	entry map[string]any // nil if there is none
	path  []string       // of the entry
	lang  syntax
}

// parse parses the file of a client.
func (c Client) parse(f configFile) (document, error) {
	d := document{configFile: f, body: f.text, lang: syntaxes[c.Format], path: append(slices.Clone(c.Servers), EntryName)}
	if bytes.HasPrefix(f.text, []byte(byteOrderMark)) {
		d.mark, d.body = f.text[:3], f.text[3:]
	}
	var err error
	if d.doc, err = d.lang.parse(d.body); err == nil {
		d.entry, _ = entryOf(d.doc, c.Servers)
	}
	return d, err
}

// add returns the text with the entry, and the receipt to keep for the file. R is the
// receipt of the entry that is there.
func (d document) add(fields []field, r receipt) ([]byte, receipt, error) {
	var body []byte
	if d.entry == nil {
		e, err := d.lang.insert(d.body, d.path, fields)
		if err != nil {
			return nil, receipt{}, err
		}
		body = e.apply(d.body)
		r = receipt{Created: !d.exists, Old: string(e.old), New: string(e.new), Servers: objectAt(d.doc, d.servers()) == nil}
	} else {
		var err error
		if body, err = d.update(fields); err != nil {
			return nil, receipt{}, err
		}
		r = r.grow(d.body, body)
	}
	return slices.Concat(d.mark, body), r, d.check(body, fields)
}

// update returns the text with the fields in the existing entry.
func (d document) update(fields []field) ([]byte, error) {
	body := d.body
	var err error
	for _, f := range slices.Backward(fields) { // new ones are inserted at the beginning
		if has(d.entry, f) {
			continue
		}
		if body, err = d.lang.set(body, d.path, f); err != nil {
			return nil, err
		}
	}
	for _, path := range obsolete(d.entry, fields) {
		if body, err = d.lang.cut(body, slices.Concat(d.path, path)); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// check parses a changed text. Without fields the entry must be missing, otherwise it must
// have them; everything else must be as it was.
func (d document) check(body []byte, fields []field) error {
	doc, err := d.lang.parse(body)
	if err != nil {
		return shapeError("the entry cannot be changed in place (%v)", err)
	}
	if !reflect.DeepEqual(without(doc, d.path), without(d.doc, d.path)) {
		return shapeError("the entry cannot be changed in place without changing something else")
	}
	entry, ok := entryOf(doc, d.servers())
	if fields == nil && !ok {
		return nil
	}
	wrong := func(f field) bool { return !has(entry, f) }
	if fields == nil || slices.ContainsFunc(fields, wrong) || len(obsolete(entry, fields)) > 0 {
		return shapeError("the entry cannot be changed in place")
	}
	return nil
}

// remove returns the text without the entry: as it was before it was added, if the text of
// the entry is still the one of the receipt, and otherwise with its members cut out. It
// reports whether the receipt was used.
func (d document) remove(r receipt) (text []byte, undone bool, err error) {
	if body, ok := r.undo(d.body); ok && d.check(body, nil) == nil {
		return slices.Concat(d.mark, body), true, nil
	}
	body, err := d.lang.cut(d.body, d.path)
	if err == nil {
		err = d.check(body, nil)
	}
	if err != nil {
		return nil, false, err
	}
	if entries := objectAt(d.doc, d.servers()); r.Servers && len(entries) == 1 {
		if less, err := d.lang.cut(body, d.servers()); err == nil && d.check(less, nil) == nil {
			body = less
		}
	}
	return slices.Concat(d.mark, body), false, nil
}

// servers returns the path of the object of servers.
func (d document) servers() []string { return d.path[:len(d.path)-1] }
