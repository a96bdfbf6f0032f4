package archive

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/sequent-dev/sequent"
)

// Format and Version are the first two members of an [Export]. A reader refuses other
// formats and higher versions. The version increases when a reader of the previous one
// would misinterpret a document, but not when members are added.
const (
	Format  = "sequent-session"
	Version = 1
)

// An Export is a complete session, as [JSON] writes it. docs/export.md describes the
// format for other programs.
//
// It has no epoch and no version, because they belong to the store.
type Export struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"id"`
	Owner      string            `json:"owner,omitempty"`
	State      string            `json:"state"`
	Title      string            `json:"title"`
	Scope      string            `json:"scope,omitempty"`
	Dialect    string            `json:"dialect,omitempty"`
	Context    sequent.Context   `json:"context,omitzero"`
	Conclusion string            `json:"conclusion,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"` // by name
	Created    time.Time         `json:"created"`
	Updated    time.Time         `json:"updated"`
	Expires    time.Time         `json:"expires,omitzero"`
	Chain      *ExportedChain    `json:"chain,omitempty"` // nil if no entry has a hash
	Thoughts   []ExportedThought `json:"thoughts"`
	Entries    []ExportedEntry   `json:"entries,omitempty"` // of the log that are not thoughts
}

// An ExportedChain is the end of the chain of an [Export].
type ExportedChain struct {
	Length int          `json:"length"` // entries with a hash
	Head   sequent.Hash `json:"head"`   // hash of the last of them
}

// An ExportedProof is the part of an entry that proves it; see [sequent.Entry].
type ExportedProof struct {
	Place  int                     `json:"place,omitzero"`
	Salt   sequent.Salt            `json:"salt,omitzero"`
	Hash   sequent.Hash            `json:"hash,omitzero"`
	Masked map[string]sequent.Hash `json:"masked,omitempty"`
}

// An ExportedEntry is an entry of the log that is not a thought.
type ExportedEntry struct {
	Kind   string       `json:"kind"`
	At     time.Time    `json:"at"`
	Fields sequent.Body `json:"fields,omitempty"`
	ExportedProof
}

// An ExportedThought is a thought of an [Export].
type ExportedThought struct {
	Seq           int               `json:"seq"`
	Number        int               `json:"number"`
	Total         int               `json:"total"`
	Text          string            `json:"text"`
	Note          string            `json:"note,omitempty"`
	Branch        string            `json:"branch,omitempty"`
	From          *int              `json:"from,omitempty"`
	Revises       *int              `json:"revises,omitempty"`
	Revision      bool              `json:"revision,omitempty"`
	More          bool              `json:"more"`
	Extend        bool              `json:"extend,omitempty"`
	RequestKey    string            `json:"requestKey,omitempty"`
	RequestDigest string            `json:"requestDigest,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"` // by name
	After         int               `json:"after"`
	Supersedes    int               `json:"supersedes,omitempty"`
	At            time.Time         `json:"at"`
	ExportedProof
}

// JSON returns a session as an [Export], in JSON with two spaces of indentation. It has
// no hashes; see [Log].
func JSON(s *sequent.Session) []byte {
	x := newExport(s.Header(), s.Len())
	for t := range s.All() {
		x.Thoughts = append(x.Thoughts, newExportedThought(t))
	}
	return x.encode()
}

// Log is [JSON] for a session as [sequent.Engine.Entries] returns it: with the hashes of
// its log, so that [sequent.Verify] can check what [ReadJSON] reads.
func Log(h sequent.Header, entries []sequent.Entry) []byte {
	x := newExport(h, len(entries))
	if h.Entries > 0 {
		x.Chain = &ExportedChain{Length: h.Entries, Head: h.Head}
	}
	for i := range entries {
		e := &entries[i]
		proof := ExportedProof{Place: e.Place, Salt: e.Salt, Hash: e.Hash, Masked: e.Masked}
		if e.Kind == sequent.KindThought {
			t := newExportedThought(e.Thought)
			t.ExportedProof = proof
			x.Thoughts = append(x.Thoughts, t)
		} else {
			x.Entries = append(x.Entries, ExportedEntry{Kind: string(e.Kind), At: e.At, Fields: e.Body, ExportedProof: proof})
		}
	}
	return x.encode()
}

// newExport returns an export with the fields of a header and room for n thoughts.
func newExport(h sequent.Header, n int) *Export {
	return &Export{
		Format: Format, Version: Version,
		ID: string(h.ID), Owner: h.Owner,
		State: string(h.State), Title: h.Title, Scope: h.Scope, Dialect: h.Dialect,
		Context: h.Context, Conclusion: h.Conclusion, Labels: h.Labels,
		Created: h.Created, Updated: h.Updated, Expires: h.Expires,
		Thoughts: make([]ExportedThought, 0, n),
	}
}

func newExportedThought(t sequent.Thought) ExportedThought {
	return ExportedThought{
		Seq: t.Seq, Number: t.Number, Total: t.Total, Text: t.Text, Note: t.Note,
		Branch: t.Branch, From: number(t.From), Revises: number(t.Revises),
		Revision: t.Revision, More: t.More, Extend: t.Extend,
		RequestKey: t.Request.Key, RequestDigest: t.Request.Digest, Labels: t.Labels,
		After: t.After, Supersedes: t.Supersedes, At: t.At,
	}
}

func (x *Export) encode() []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, encode(x), "", "  "); err != nil {
		panic("archive: cannot indent: " + err.Error()) // it was just encoded
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// thought is the inverse of the conversion in [JSON].
func (t ExportedThought) thought() sequent.Thought {
	back := sequent.Thought{
		Draft: sequent.Draft{
			Number: t.Number, Total: t.Total, Text: t.Text, Note: t.Note, Branch: t.Branch,
			Revision: t.Revision, More: t.More, Extend: t.Extend,
			Request: sequent.Request{Key: t.RequestKey, Digest: t.RequestDigest}, Labels: t.Labels,
		},
		Seq: t.Seq, After: t.After, Supersedes: t.Supersedes, At: t.At.UTC(),
	}
	if t.From != nil {
		back.From = sequent.To(*t.From)
	}
	if t.Revises != nil {
		back.Revises = sequent.To(*t.Revises)
	}
	return back
}

// number returns the number of a reference, or nil if it is empty.
func number(r sequent.Ref) *int {
	if n, ok := r.Number(); ok {
		return &n
	}
	return nil
}
