package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Format and Version are the first two members of an [Export]. A reader refuses other
// formats and higher versions. The version increases when a reader of the previous one
// would misinterpret a document, but not when members are added.
const (
	Format  = "sequent-session"
	Version = 1
)

// An Export is a complete session, as [JSON] writes it. docs/reference/format.md describes the
// format for other programs.
//
// It has no epoch, version and size, because they belong to the store.
type Export struct {
	ExportedHeader
	Thoughts []ExportedThought `json:"thoughts"`
	Entries  []ExportedEntry   `json:"entries,omitempty"` // of the log that are not thoughts
}

// An ExportedHeader is the part of an [Export] before its log.
type ExportedHeader struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"id"`
	Owner      string            `json:"owner,omitempty"`
	State      string            `json:"state"`
	Title      string            `json:"title"`
	Scope      string            `json:"scope,omitempty"`
	Dialect    string            `json:"dialect,omitempty"`
	Origin     sequent.Origin    `json:"origin,omitzero"`
	Conclusion string            `json:"conclusion,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"` // by name
	Created    time.Time         `json:"created"`
	Updated    time.Time         `json:"updated"`
	Expires    time.Time         `json:"expires,omitzero"`
	Chain      *ExportedChain    `json:"chain,omitempty"` // nil if no entry has a hash
}

// An ExportedChain is the end of the chain of an [Export], and what proves its other members.
type ExportedChain struct {
	Length int          `json:"length"` // entries, thoughts included
	Head   sequent.Hash `json:"head"`   // hash of the last of them
	Seal   sequent.Hash `json:"seal"`   // [sequent.Header.Digest] of the header that [ReadJSON] returns
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
	Final         bool              `json:"final,omitempty"`
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
	h := s.Header()
	h.Entries = 0
	return Log(h, sequent.Entries(s.Thoughts()))
}

// Log is [JSON] for a session as [sequent.Engine.Entries] returns it: with the hashes of
// its log, so that [sequent.Verify] can check what [ReadJSON] reads.
func Log(h sequent.Header, entries []sequent.Entry) []byte {
	x := newHeader(h)
	if h.Entries > 0 {
		x.Chain = &ExportedChain{Length: h.Entries, Head: h.Head, Seal: seal(h)}
	}
	isThought := func(e sequent.Entry) bool { return e.Kind == sequent.KindThought }
	each := func(thoughts bool) iter.Seq[any] {
		return func(yield func(any) bool) {
			for i := range entries {
				e := &entries[i]
				if isThought(*e) != thoughts {
					continue
				}
				var v any
				proof := ExportedProof{Place: e.Place, Salt: e.Salt, Hash: e.Hash, Masked: e.Masked}
				if thoughts {
					t := newExportedThought(e.Thought)
					t.ExportedProof, v = proof, &t
				} else {
					v = ExportedEntry{Kind: string(e.Kind), At: e.At, Fields: e.Body, ExportedProof: proof}
				}
				if !yield(v) {
					return
				}
			}
		}
	}
	var others iter.Seq[any]
	if slices.ContainsFunc(entries, func(e sequent.Entry) bool { return !isThought(e) }) {
		others = each(false)
	}
	return export(x, each(true), others)
}

// export writes an export; others is nil if there are none.
func export(x ExportedHeader, thoughts, others iter.Seq[any]) []byte {
	var b bytes.Buffer
	w := jsonWriter{bufio.NewWriter(&b), func(v any) []byte { return printable.JSON(compact(v)) }}
	w.value("", x)
	_ = w.Flush()           // writing to a buffer does not fail
	b.Truncate(b.Len() - 2) // the end of the object
	w.WriteString(",\n  \"thoughts\": ")
	w.list("  ", thoughts)
	if others != nil {
		w.WriteString(",\n  \"entries\": ")
		w.list("  ", others)
	}
	w.WriteString("\n}\n")
	_ = w.Flush()
	return b.Bytes()
}

// seal returns the seal of a header without what an export does not have of it. If the header is
// not what was recorded, that of the export is not either.
func seal(h sequent.Header) sequent.Hash {
	if h.Seal != h.Digest() {
		return h.Seal
	}
	h.Epoch, h.Version, h.Bytes = 0, 0, 0                                    // the store's
	h.Branches, h.Revisions, h.Notes, h.Request = 0, 0, 0, sequent.Request{} // what the log says
	return h.Digest()
}

func newHeader(h sequent.Header) ExportedHeader {
	return ExportedHeader{
		Format: Format, Version: Version,
		ID: string(h.ID), Owner: h.Owner,
		State: string(h.State), Title: h.Title, Scope: h.Scope, Dialect: h.Dialect,
		Origin: h.Origin, Conclusion: h.Conclusion, Labels: h.Labels,
		Created: h.Created, Updated: h.Updated, Expires: h.Expires,
	}
}

func newExportedThought(t sequent.Thought) ExportedThought {
	return ExportedThought{
		Seq: t.Seq, Number: t.Number, Total: t.Total, Text: t.Text, Note: t.Note,
		Branch: t.Branch, From: number(t.From), Revises: number(t.Revises),
		Revision: t.Revision, Final: t.Final, Extend: t.Extend,
		RequestKey: t.Request.Key, RequestDigest: t.Request.Digest, Labels: t.Labels,
		After: t.After, Supersedes: t.Supersedes, At: t.At,
	}
}

// ReadJSON reads an [Export] as [JSON] and [Log] write it. It refuses other formats and higher versions.
// [sequent.Verify] checks the hashes, and [sequent.Engine.Restore] whether the session can be
// stored. Without hashes, Entries, Head and Seal of the header are zero.
func ReadJSON(r io.Reader) (sequent.Header, []sequent.Entry, error) {
	var x struct {
		ExportedHeader
		Thoughts []json.RawMessage `json:"thoughts"`
		Entries  []json.RawMessage `json:"entries"`
	}
	switch err := decode(r, &x); {
	case err != nil:
		return sequent.Header{}, nil, err
	case x.Format != Format:
		return sequent.Header{}, nil, fmt.Errorf("unknown format %q, want %q", x.Format, Format)
	case x.Version < 1 || x.Version > Version:
		return sequent.Header{}, nil, fmt.Errorf("unsupported version %d of the format, newer than %d; update sequent", x.Version, Version)
	case x.Thoughts == nil:
		return sequent.Header{}, nil, fmt.Errorf("no thoughts")
	}
	var log, others []sequent.Entry
	add := func(to *[]sequent.Entry, e sequent.Entry, p ExportedProof) error {
		e.Place, e.Salt, e.Hash, e.Masked = p.Place, p.Salt, p.Hash, p.Masked
		*to = append(*to, e)
		return nil
	}
	err := decodeEach(x.Thoughts, "thought", func(t ExportedThought) error {
		return add(&log, sequent.EntryOf(t.thought()), t.ExportedProof)
	})
	if err == nil {
		err = decodeEach(x.Entries, "entry", func(o ExportedEntry) error {
			return add(&others, sequent.Entry{Kind: sequent.Kind(o.Kind), At: o.At.UTC(), Body: o.Fields}, o.ExportedProof)
		})
	}
	h := sequent.Header{
		Len:   len(log),
		Key:   sequent.Key{Owner: x.Owner, ID: sequent.ID(x.ID)},
		State: sequent.State(x.State), Title: x.Title, Scope: x.Scope, Dialect: x.Dialect,
		Origin: x.Origin, Conclusion: x.Conclusion, Labels: x.Labels,
		Created: x.Created.UTC(), Updated: x.Updated.UTC(), Expires: x.Expires.UTC(),
	}
	if x.Chain != nil {
		h.Entries, h.Head, h.Seal = x.Chain.Length, x.Chain.Head, x.Chain.Seal
	}
	return h, merged(log, others), err
}

// merged returns thoughts and other entries in the order of their places. It keeps the
// order of each, so that entries that were moved can be found.
func merged(thoughts, others []sequent.Entry) []sequent.Entry {
	all := make([]sequent.Entry, 0, len(thoughts)+len(others))
	for _, other := range others {
		n := slices.IndexFunc(thoughts, func(t sequent.Entry) bool { return t.Place > other.Place })
		if n < 0 {
			n = len(thoughts)
		}
		all = append(append(all, thoughts[:n]...), other)
		thoughts = thoughts[n:]
	}
	return append(all, thoughts...)
}

// thought is the inverse of the conversion in [JSON].
func (t ExportedThought) thought() sequent.Thought {
	back := sequent.Thought{
		Draft: sequent.Draft{
			Number: t.Number, Total: t.Total, Text: t.Text, Note: t.Note, Branch: t.Branch,
			Revision: t.Revision, Final: t.Final, Extend: t.Extend,
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
