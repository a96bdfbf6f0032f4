package words

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"math"
)

// A Cursor is the position of the last document on a page of results. A store
// chooses which of the fields after Score order documents with the same score.
type Cursor struct {
	Query  uint64  `json:"q"` // [Digest] of the query
	Corpus Corpus  `json:"c"` // on the first page
	Score  float64 `json:"s"` // of the last document
	ID     int64   `json:"i,omitzero"`
	Bound  int64   `json:"b,omitzero"`
	Low    int64   `json:"l,omitzero"`
	Newest int64   `json:"m,omitzero"`
	Owner  string  `json:"o,omitzero"`
	Name   string  `json:"n,omitzero"`
}

// Digest returns the value of [Cursor.Query] for a query and whatever else narrows
// the search, such as an owner. It recognises cursors of other searches; it is not a
// cryptographic hash.
func Digest(q Query, narrowing ...string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(q.String()))
	for _, s := range narrowing {
		h.Write([]byte{0})
		h.Write([]byte(s))
	}
	return h.Sum64()
}

// String returns c in an opaque form that needs no quoting in a URL.
func (c Cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil { // the score is not finite; Score never returns that
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor parses the result of [Cursor.String]. If its Corpus.Partial is set, the
// page is one of q.Partial. The error is an *[Error]: s is not a cursor, or is one of
// a search with another query or digest.
func ParseCursor(s string, q Query, digest uint64) (Cursor, error) {
	var c Cursor
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if c.Corpus.Partial {
		q, _ = q.Partial()
	}
	if err != nil || !c.Corpus.ok(q) || c.Query != digest || math.IsNaN(c.Score) || math.IsInf(c.Score, 0) {
		return Cursor{}, &Error{
			Msg: "the cursor does not belong to this search",
			Fix: "pass the cursor of the previous page with the same query, or none",
		}
	}
	return c, nil
}
