package sequent

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// A digester encodes an entry for its hash; docs/format.md defines the encoding. Its
// methods append to a slice, which for most entries is on the stack.
type digester struct {
	salt   Salt
	masked map[string]Hash
	texts  map[string]Hash // gets the digests of all texts, if not nil
}

// Types of fields.
const (
	typeInteger = 'i'
	typeBool    = 'b'
	typeText    = 't'
)

func (d *digester) entry(previous Hash, e *Entry) Hash {
	var space [640]byte
	b := append(space[:0], "sequent entry 1\n"...)
	b = append(b, previous[:]...)
	b = appendInteger(b, int64(e.Place))
	b = appendName(b, string(e.Kind))
	b = appendInteger(b, e.At.UnixMicro())
	if e.Kind == KindThought {
		b = d.thought(b, &e.Thought)
	} else {
		b = d.body(b, e.Body)
	}
	return sha256.Sum256(b)
}

// thought appends the fields that a thought has, in the order of their names.
func (d *digester) thought(b []byte, t *Thought) []byte {
	b = appendNumber(b, "after", t.After)
	b = d.text(b, "branch", t.Branch)
	b = appendFlag(b, "extend", t.Extend)
	b = appendRef(b, "from", t.From)
	if len(t.Labels) > 0 {
		for _, k := range slices.Sorted(maps.Keys(t.Labels)) {
			b = d.given(b, labelPrefix+k, t.Labels[k])
		}
	}
	b = appendFlag(b, "more", t.More)
	b = d.text(b, "note", t.Note)
	b = appendNumber(b, "number", t.Number)
	b = d.text(b, "request.digest", t.Request.Digest)
	b = d.text(b, "request.key", t.Request.Key)
	b = appendRef(b, "revises", t.Revises)
	b = appendFlag(b, "revision", t.Revision)
	b = appendNumber(b, "seq", t.Seq)
	b = appendNumber(b, "supersedes", t.Supersedes)
	b = d.text(b, "text", t.Text)
	return appendNumber(b, "total", t.Total)
}

// body appends the fields of another kind of entry, in the order of their names.
func (d *digester) body(b []byte, body Body) []byte {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		switch v := body[name].(type) {
		case string:
			b = d.given(b, name, v)
		case bool:
			b = appendBool(b, name, v)
		case int64:
			b = appendInteger(appendField(b, name, typeInteger), v)
		}
	}
	return b
}

// text appends the digest of a text, unless the text is empty and not masked.
func (d *digester) text(b []byte, name, s string) []byte {
	if s == "" {
		if _, masked := d.masked[name]; !masked {
			return b
		}
	}
	return d.given(b, name, s)
}

// given appends the digest of a text.
func (d *digester) given(b []byte, name, s string) []byte {
	digest, masked := d.masked[name]
	if !masked {
		var space [512]byte
		text := appendName(append(space[:0], d.salt[:]...), name)
		digest = sha256.Sum256(append(text, s...))
	}
	if d.texts != nil {
		d.texts[name] = digest
	}
	return append(appendField(b, name, typeText), digest[:]...)
}

// appendNumber appends an integer unless it is zero.
func appendNumber(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return appendInteger(appendField(b, name, typeInteger), int64(n))
}

// appendFlag appends a bool unless it is false.
func appendFlag(b []byte, name string, set bool) []byte {
	if !set {
		return b
	}
	return appendBool(b, name, true)
}

// appendRef appends the number of a reference unless it names none.
func appendRef(b []byte, name string, r Ref) []byte {
	n, ok := r.Number()
	if !ok {
		return b
	}
	return appendInteger(appendField(b, name, typeInteger), int64(n))
}

func appendBool(b []byte, name string, v bool) []byte {
	b = appendField(b, name, typeBool)
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendField(b []byte, name string, kind byte) []byte {
	return append(appendName(b, name), kind)
}

func appendName(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func appendInteger(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n))
}
