package archive

import (
	"fmt"
	"io"

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

// An Export is a complete session, as [JSON] and [Log] write it. docs/reference/format.md describes the
// format for other programs.
//
// Its header has none of the fields that belong to the store (epoch, version and size), nor those that the log says.
type Export struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Session sequent.Header  `json:"session"`
	Log     []sequent.Entry `json:"log"`
}

// JSON returns a session as an [Export], in JSON with two spaces of indentation. It has
// no hashes; see [Log].
func JSON(s *sequent.Session) []byte {
	h := s.Header()
	h.Entries, h.Head, h.Seal = 0, sequent.Hash{}, sequent.Hash{}
	return exported(portable(h), sequent.Entries(s.Thoughts()))
}

// Log is [JSON] for a session as [sequent.Engine.Entries] returns it: with the hashes of
// its log, so that [sequent.Verify] can check what [ReadJSON] reads.
func Log(h sequent.Header, entries []sequent.Entry) []byte {
	sealed := h.Seal == h.Digest()
	if h = portable(h); sealed { // otherwise the export is not what was recorded either
		h.Seal = h.Digest()
	}
	return exported(h, entries)
}

func exported(h sequent.Header, log []sequent.Entry) []byte {
	return printable.JSON(encoded(Export{Format, Version, h, append([]sequent.Entry{}, log...)}))
}

// portable returns a header without what an export does not have of it.
func portable(h sequent.Header) sequent.Header {
	h.Epoch, h.Version, h.Bytes = 0, 0, 0                                    // the store's
	h.Branches, h.Revisions, h.Notes, h.Request = 0, 0, 0, sequent.Request{} // what the log says
	return h
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
	case x.Log == nil:
		return sequent.Header{}, nil, fmt.Errorf("no log")
	}
	h := x.Session
	h.Created, h.Updated, h.Expires = h.Created.UTC(), h.Updated.UTC(), h.Expires.UTC()
	for i := range x.Log {
		e := &x.Log[i]
		e.At, e.Thought.At = e.At.UTC(), e.Thought.At.UTC()
	}
	return h, x.Log, nil
}
