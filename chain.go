package sequent

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// A Hash is a SHA-256. Its text form is hexadecimal.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (h *Hash) UnmarshalText(text []byte) error { return unmarshalHex(h[:], text) }

// A Salt keeps the texts of an entry from being guessed from their digests. Its text
// form is hexadecimal.
type Salt [16]byte

// MarshalText returns the salt in hexadecimal.
func (s Salt) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText returns.
func (s *Salt) UnmarshalText(text []byte) error { return unmarshalHex(s[:], text) }

func unmarshalHex(to, text []byte) error {
	if hex.DecodedLen(len(text)) != len(to) {
		return &Error{Code: CodeInvalidSession, Field: "hash", Msg: fmt.Sprintf("%.80q does not have %d bytes in hexadecimal", text, len(to))}
	}
	if _, err := hex.Decode(to, text); err != nil {
		return &Error{Code: CodeInvalidSession, Field: "hash", Msg: fmt.Sprintf("%.80q is not hexadecimal", text), Err: err}
	}
	return nil
}

// A Kind says what an entry of the log records. Kinds are only ever added. An entry of
// a kind that the program does not know is kept and verified like any other.
type Kind string

// The kinds of entries.
const (
	KindThought  Kind = "thought"  // a thought
	KindHeader   Kind = "header"   // fields of the header that a change has set
	KindNote     Kind = "note"     // what a person says about a thought; see Note
	KindDecision Kind = "decision" // what a thought says about a line; see Decision
)

// A Body has the fields of an entry that is not a thought, by name. Values are strings,
// bools and int64s.
type Body map[string]any

// UnmarshalJSON reads an object of strings, booleans and integers.
func (b *Body) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var fields map[string]any
	err := d.Decode(&fields)
	for name, v := range fields {
		switch v := v.(type) {
		case string, bool:
		case json.Number:
			n, parseErr := v.Int64()
			fields[name], err = n, cmp.Or(err, parseErr)
		default:
			err = cmp.Or(err, fmt.Errorf("the field %.40q is a %T", name, v))
		}
	}
	if err != nil {
		return &Error{Code: CodeInvalidSession, Field: "body", Msg: "the fields of an entry are damaged", Err: err}
	}
	*b = fields
	return nil
}

// An Entry is one step of a session's log. Its hash covers the hash of the entry before
// it and all that it holds, so that the hash of the last entry, [Header.Head], proves
// the whole log. docs/format.md defines the encoding.
//
// Thoughts that were recorded before sequent had hashes have no proof: Place is 0, and
// Salt and Hash are zero. They come before all other entries.
type Entry struct {
	Place   int       `json:",omitzero"` // 1, 2, 3, … among the entries with proof
	Kind    Kind      // see Thought and Body
	At      time.Time // when it was recorded, UTC, to the microsecond; a thought's At
	Salt    Salt      `json:",omitzero"`
	Hash    Hash      `json:",omitzero"`
	Thought Thought   `json:",omitzero"`  // of KindThought
	Body    Body      `json:",omitempty"` // of the other kinds; never modified

	// Masked has the digests of texts, by field, whose originals may have been removed
	// from the entry; see Mask. It is nil in most entries, and never modified.
	Masked map[string]Hash `json:",omitempty"`
}

// Proven reports whether the entry has a hash.
func (e *Entry) Proven() bool { return e.Place > 0 }

// EntryOf returns the entry of a thought, without proof.
func EntryOf(t Thought) Entry { return Entry{Kind: KindThought, At: t.At, Thought: t} }

// Entries returns the entries of thoughts, without proof.
func Entries(log []Thought) []Entry {
	entries := make([]Entry, len(log))
	for i := range log {
		entries[i] = EntryOf(log[i])
	}
	return entries
}

// Thoughts returns the thoughts among entries.
func Thoughts(entries []Entry) []Thought {
	var log []Thought
	for i := range entries {
		if entries[i].Kind == KindThought {
			if log == nil {
				log = make([]Thought, 0, len(entries)-i)
			}
			log = append(log, entries[i].Thought)
		}
	}
	return log
}

// Mask makes the entry independent of its texts: it keeps their digests and forgets the
// salt. The caller may then change or remove texts, and the chain still verifies, but
// no longer proves any text of this entry. Without the salt, a removed text cannot be
// guessed from its digest.
func (e *Entry) Mask() {
	if !e.Proven() {
		return
	}
	d := digester{salt: e.Salt, masked: e.Masked, texts: make(map[string]Hash)}
	d.entry(Hash{}, e)
	e.Masked, e.Salt = d.texts, Salt{}
}

// Prove adds entries to the end of the session's chain, which h has: each gets its
// place, a new salt and its hash, and h the new end. The session has no writer but the
// caller.
func (h *Header) Prove(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		h.Entries++
		e.Place, e.Masked = h.Entries, nil
		rand.Read(e.Salt[:]) // never fails
		e.Hash = e.hash(h.Head)
		h.Head = e.Hash
	}
}

// Continues reports whether tail, the entries of the session beyond a position or a
// first part of them, follows what a reader at that position has. It does not if the
// session was begun again, or if its store has gone back to an earlier state: then the
// reader's entries are those of another history.
func (h *Header) Continues(have Position, tail []Entry) bool {
	if have.Epoch != h.Epoch || have.Len > h.Len || have.Entries > h.Entries {
		return false
	}
	for i := range tail {
		if e := &tail[i]; e.Proven() {
			return e.Place == have.Entries+1 && e.hash(have.Head) == e.Hash
		}
	}
	if n := len(tail); n > 0 && tail[n-1].Thought.Seq < h.Len {
		return have.Entries == 0 // the first of several parts, of thoughts without proof
	}
	return have.Entries == h.Entries && have.Head == h.Head
}

// After returns the position of a reader at p who has got a part of the session's log,
// which continues what the reader had, and the header h.
func (p Position) After(h *Header, part []Entry) Position {
	p.Epoch, p.Version = h.Epoch, h.Version
	for i := range part {
		e := &part[i]
		if e.Kind == KindThought {
			p.Len = e.Thought.Seq
		}
		if e.Proven() {
			p.Entries, p.Head = e.Place, e.Hash
		}
	}
	return p
}

// reached reports whether a reader at p has the whole log.
func (p Position) reached(h *Header) bool {
	return p.Epoch == h.Epoch && p.Len >= h.Len && p.Entries >= h.Entries
}

// Beyond reports whether a reader at a position of the session lacks the entry.
func (e *Entry) Beyond(have Position) bool {
	return have.lacks(e.Place, e.Thought.Seq)
}

// lacks reports whether the reader lacks an entry: the one at a place, or a thought
// without proof, whose place is 0.
func (p Position) lacks(place, seq int) bool {
	if place > 0 {
		return place > p.Entries
	}
	return seq > p.Len
}

// hash returns the hash of an entry after the entry whose hash is previous.
func (e *Entry) hash(previous Hash) Hash {
	d := digester{salt: e.Salt, masked: e.Masked}
	return d.entry(previous, e)
}
