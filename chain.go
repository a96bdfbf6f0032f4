package sequent

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(to) {
		return &Error{Code: CodeInvalidSession, Field: "hash", Msg: fmt.Sprintf("%.80q does not have %d bytes in hexadecimal", text, len(to)), Err: err}
	}
	copy(to, b)
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
// the whole log. docs/reference/format.md defines the encoding.
//
// The entries that a store has are proven. Those of files need not be: then Place is 0, and
// Salt and Hash are zero.
type Entry struct {
	Place   int       `json:"place,omitzero"` // 1, 2, 3, …: position in the log
	Kind    Kind      `json:"kind"`           // see Thought and Body
	At      time.Time `json:"at"`             // when it was recorded, UTC, to the microsecond; a thought's At
	Salt    Salt      `json:"salt,omitzero"`
	Hash    Hash      `json:"hash,omitzero"`
	Thought Thought   `json:"thought,omitzero"` // of KindThought
	Body    Body      `json:"fields,omitempty"` // of the other kinds; never modified

	// Masked has the digests of texts, by field, whose originals may have been removed
	// from the entry; see Mask. It is nil in most entries, and never modified.
	Masked map[string]Hash `json:"masked,omitempty"`
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
// place, a new salt and its hash, and h the new end and its seal. The rest of h is complete,
// and the session has no writer but the caller.
func (h *Header) Prove(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		h.Entries++
		e.Place, e.Masked = h.Entries, nil
		rand.Read(e.Salt[:]) // never fails
		e.Hash = e.hash(h.Head)
		h.Head = e.Hash
	}
	h.Seal = h.Digest()
}

// Digest returns what [Header.Seal] is if the header is what was recorded. A program that
// changes a field of a header sets the seal anew.
func (h *Header) Digest() Hash {
	var space [1024]byte
	b := append(space[:0], "sequent header 1\n"...)
	b = append(b, h.Head[:]...)
	text := func(name, s string) {
		if s != "" {
			b = appendName(appendField(b, name, typeText), s)
		}
	}
	text("conclusion", h.Conclusion)
	text("dialect", h.Dialect)
	text("id", string(h.ID))
	for _, k := range slices.Sorted(maps.Keys(h.Labels)) {
		text(labelPrefix+k, h.Labels[k])
	}
	for name, value := range h.Origin.fields() {
		text(name, *value)
	}
	text("owner", h.Owner)
	text("request.digest", h.Request.Digest)
	text("request.key", h.Request.Key)
	text("scope", h.Scope)
	text("state", string(h.State))
	text("title", h.Title)
	expires := int64(0)
	if !h.Expires.IsZero() {
		expires = h.Expires.UnixMicro()
	}
	for _, n := range []int64{
		int64(h.Branches), h.Bytes, h.Created.UnixMicro(), int64(h.Entries), h.Epoch, expires, int64(h.Len), int64(h.Notes), int64(h.Revisions), h.Updated.UnixMicro(), int64(h.Version),
	} {
		b = appendInteger(b, n)
	}
	return sha256.Sum256(b)
}

// Continues reports whether tail, the entries of the session beyond a position, follows
// what a reader at that position has. It does not if the session was begun again, or if its
// store has gone back to an earlier state: then the reader's entries are those of another
// history.
func (h *Header) Continues(have Position, tail []Entry) bool {
	switch {
	case have.Epoch != h.Epoch || have.Entries > h.Entries:
		return false
	case len(tail) == 0:
		return have.Entries == h.Entries && have.Head == h.Head
	}
	return tail[0].Place == have.Entries+1 && tail[0].hash(have.Head) == tail[0].Hash
}

// hash returns the hash of an entry after the entry whose hash is previous.
func (e *Entry) hash(previous Hash) Hash {
	d := digester{salt: e.Salt, masked: e.Masked}
	return d.entry(previous, e)
}

// A digester encodes an entry for its hash; docs/reference/format.md defines the encoding.
type digester struct {
	b      []byte
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
	var space [640]byte // enough for most entries
	d.b = append(space[:0], "sequent entry 1\n"...)
	d.b = append(d.b, previous[:]...)
	d.b = appendInteger(d.b, int64(e.Place))
	d.b = appendName(d.b, string(e.Kind))
	d.b = appendInteger(d.b, e.At.UnixMicro())
	if e.Kind == KindThought {
		d.thought(&e.Thought)
	} else {
		for _, name := range slices.Sorted(maps.Keys(e.Body)) {
			d.value(name, e.Body[name])
		}
	}
	return sha256.Sum256(d.b)
}

// thought appends the fields that a thought has, in the order of their names.
func (d *digester) thought(t *Thought) {
	d.number("after", t.After)
	d.text("branch", t.Branch)
	d.flag("extend", t.Extend)
	d.flag("final", t.Final)
	d.ref("from", t.From)
	for _, k := range slices.Sorted(maps.Keys(t.Labels)) {
		d.given(labelPrefix+k, t.Labels[k])
	}
	d.text("note", t.Note)
	d.number("number", t.Number)
	d.text("request.digest", t.Request.Digest)
	d.text("request.key", t.Request.Key)
	d.ref("revises", t.Revises)
	d.flag("revision", t.Revision)
	d.number("seq", t.Seq)
	d.number("supersedes", t.Supersedes)
	d.text("text", t.Text)
	d.number("total", t.Total)
}

// value appends a field of another kind of entry.
func (d *digester) value(name string, v any) {
	switch v := v.(type) {
	case string:
		d.given(name, v)
	case bool:
		d.b = append(appendField(d.b, name, typeBool), 0)
		if v {
			d.b[len(d.b)-1] = 1
		}
	case int64:
		d.b = appendInteger(appendField(d.b, name, typeInteger), v)
	}
}

// text appends the digest of a text, unless the text is empty and not masked.
func (d *digester) text(name, s string) {
	if _, masked := d.masked[name]; s != "" || masked {
		d.given(name, s)
	}
}

// given appends the digest of a text.
func (d *digester) given(name, s string) {
	digest, masked := d.masked[name]
	if !masked {
		var space [512]byte
		text := appendName(append(space[:0], d.salt[:]...), name)
		digest = sha256.Sum256(append(text, s...))
	}
	if d.texts != nil {
		d.texts[name] = digest
	}
	d.b = append(appendField(d.b, name, typeText), digest[:]...)
}

// number appends an integer unless it is zero.
func (d *digester) number(name string, n int) {
	if n != 0 {
		d.value(name, int64(n))
	}
}

// flag appends a bool unless it is false.
func (d *digester) flag(name string, set bool) {
	if set {
		d.value(name, true)
	}
}

// ref appends the number of a reference unless it names none.
func (d *digester) ref(name string, r Ref) {
	if n, ok := r.Number(); ok {
		d.value(name, int64(n))
	}
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

// A FaultKind says in which way a log is not what was recorded.
type FaultKind string

// The kinds of faults.
const (
	FaultAltered   FaultKind = "altered"   // the entry is not what its hash says
	FaultMissing   FaultKind = "missing"   // the entry is not there, though later ones are
	FaultReordered FaultKind = "reordered" // the entry is at another place
	FaultCutOff    FaultKind = "cut off"   // the entries at the end are not there
	FaultUnproven  FaultKind = "unproven"  // the entry has no proof
	FaultHeader    FaultKind = "header"    // a field of the header is not what the log or the seal says
)

// A Fault is the first entry of a log that is not what was recorded.
type Fault struct {
	Kind  FaultKind `json:"kind"`
	Place int       `json:"place,omitempty"`   // of the entry; 0 for FaultUnproven and FaultHeader
	Seq   int       `json:"thought,omitempty"` // of the thought, if the entry is one; otherwise 0
	Field string    `json:"field,omitempty"`   // of the header, for FaultHeader; empty if only the seal tells
}

// String describes the fault in one sentence without a period.
func (f *Fault) String() string {
	entry := fmt.Sprintf("entry %d", f.Place)
	if f.Seq > 0 {
		entry = fmt.Sprintf("thought %d", f.Seq)
	}
	switch f.Kind {
	case FaultMissing:
		return entry + " is missing"
	case FaultReordered:
		return entry + " is not at its place"
	case FaultCutOff:
		return "the log was cut off: " + entry + " and what followed it is missing"
	case FaultUnproven:
		return entry + " has no proof"
	case FaultHeader:
		if f.Field == "" {
			return "the header of the session was altered"
		}
		return "the " + f.Field + " of the session is not what the log says"
	}
	return entry + " was altered"
}
