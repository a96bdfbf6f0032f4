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
	Conclusion string            `json:"conclusion,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"` // by name
	Created    time.Time         `json:"created"`
	Updated    time.Time         `json:"updated"`
	Expires    time.Time         `json:"expires,omitzero"`
	Thoughts   []ExportedThought `json:"thoughts"`
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
}

// JSON returns a session as an [Export], in JSON with two spaces of indentation.
func JSON(s *sequent.Session) []byte {
	x := Export{
		Format: Format, Version: Version,
		ID: string(s.ID()), Owner: s.Owner(),
		State: string(s.State()), Title: s.Title(), Scope: s.Scope(), Dialect: s.Dialect(),
		Conclusion: s.Conclusion(), Labels: s.Labels(),
		Created: s.Created(), Updated: s.Updated(), Expires: s.Expires(),
		Thoughts: make([]ExportedThought, 0, s.Len()),
	}
	for t := range s.All() {
		x.Thoughts = append(x.Thoughts, ExportedThought{
			Seq: t.Seq, Number: t.Number, Total: t.Total, Text: t.Text, Note: t.Note,
			Branch: t.Branch, From: number(t.From), Revises: number(t.Revises),
			Revision: t.Revision, More: t.More, Extend: t.Extend,
			RequestKey: t.Request.Key, RequestDigest: t.Request.Digest, Labels: t.Labels,
			After: t.After, Supersedes: t.Supersedes, At: t.At,
		})
	}
	var b bytes.Buffer
	if err := json.Indent(&b, encode(x), "", "  "); err != nil {
		panic("archive: cannot indent: " + err.Error()) // it was just encoded
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// number returns the number of a reference, or nil if it is empty.
func number(r sequent.Ref) *int {
	if n, ok := r.Number(); ok {
		return &n
	}
	return nil
}
