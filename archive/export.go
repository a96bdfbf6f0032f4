package archive

import (
	"fmt"
	"io"
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
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         sequent.ID        `json:"id"`
	Owner      string            `json:"owner,omitempty"`
	State      sequent.State     `json:"state"`
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
	Thoughts   []ExportedThought `json:"thoughts"`
	Entries    []ExportedEntry   `json:"entries,omitempty"` // of the log that are not thoughts
}

// An ExportedChain is the end of the chain of an [Export], and what proves its other members.
type ExportedChain struct {
	Length int          `json:"length"` // entries, thoughts included
	Head   sequent.Hash `json:"head"`   // hash of the last of them
	Seal   sequent.Hash `json:"seal"`   // [sequent.Header.Digest] of the header that [ReadJSON] returns
}

// An ExportedThought is a thought of an [Export].
type ExportedThought struct {
	sequent.Thought
	ExportedProof
}

// An ExportedEntry is an entry of the log that is not a thought.
type ExportedEntry struct {
	Kind   sequent.Kind `json:"kind"`
	At     time.Time    `json:"at"`
	Fields sequent.Body `json:"fields,omitempty"`
	ExportedProof
}

// An ExportedProof is the part of an entry that proves it; see [sequent.Entry].
type ExportedProof struct {
	Place  int                     `json:"place,omitzero"`
	Salt   sequent.Salt            `json:"salt,omitzero"`
	Hash   sequent.Hash            `json:"hash,omitzero"`
	Masked map[string]sequent.Hash `json:"masked,omitempty"`
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
	x := Export{
		Format: Format, Version: Version, ID: h.ID, Owner: h.Owner, State: h.State, Title: h.Title, Scope: h.Scope, Dialect: h.Dialect,
		Origin: h.Origin, Conclusion: h.Conclusion, Labels: h.Labels, Created: h.Created, Updated: h.Updated, Expires: h.Expires,
		Thoughts: make([]ExportedThought, 0, h.Len),
	}
	if h.Entries > 0 {
		x.Chain = &ExportedChain{Length: h.Entries, Head: h.Head, Seal: seal(h)}
	}
	for _, e := range entries {
		proof := ExportedProof{e.Place, e.Salt, e.Hash, e.Masked}
		if e.Kind == sequent.KindThought {
			x.Thoughts = append(x.Thoughts, ExportedThought{e.Thought, proof})
		} else {
			x.Entries = append(x.Entries, ExportedEntry{e.Kind, e.At, e.Body, proof})
		}
	}
	return printable.JSON(encoded(x))
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

// ReadJSON reads an [Export] as [JSON] and [Log] write it. It refuses other formats and higher versions.
// [sequent.Verify] checks the hashes, and [sequent.Engine.Restore] whether the session can be
// stored. Without hashes, Entries, Head and Seal of the header are zero.
func ReadJSON(r io.Reader) (sequent.Header, []sequent.Entry, error) {
	var x Export
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
	h := sequent.Header{
		Key: sequent.Key{Owner: x.Owner, ID: x.ID}, Len: len(x.Thoughts), State: x.State, Title: x.Title, Scope: x.Scope, Dialect: x.Dialect,
		Origin: x.Origin, Conclusion: x.Conclusion, Labels: x.Labels, Created: x.Created.UTC(), Updated: x.Updated.UTC(), Expires: x.Expires.UTC(),
	}
	if x.Chain != nil {
		h.Entries, h.Head, h.Seal = x.Chain.Length, x.Chain.Head, x.Chain.Seal
	}
	return h, x.log(), nil
}

// log returns thoughts and other entries in the order of their places. It keeps the
// order of each, so that entries that were moved can be found.
func (x *Export) log() []sequent.Entry {
	all := make([]sequent.Entry, 0, len(x.Thoughts)+len(x.Entries))
	add := func(e sequent.Entry, p ExportedProof) {
		e.Place, e.Salt, e.Hash, e.Masked = p.Place, p.Salt, p.Hash, p.Masked
		all = append(all, e)
	}
	others := slices.Clone(x.Entries)
	for _, t := range x.Thoughts {
		for len(others) > 0 && others[0].Place < t.Place {
			add(others[0].entry(), others[0].ExportedProof)
			others = others[1:]
		}
		t.At = t.At.UTC()
		add(sequent.EntryOf(t.Thought), t.ExportedProof)
	}
	for _, o := range others {
		add(o.entry(), o.ExportedProof)
	}
	return all
}

func (o *ExportedEntry) entry() sequent.Entry {
	return sequent.Entry{Kind: o.Kind, At: o.At.UTC(), Body: o.Fields}
}
