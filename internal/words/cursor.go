package words

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"math"
)

// A Cursor tells where a page of results ended. Which of the fields after
// Score order documents of the same score is the store's choice.
type Cursor struct {
	Query  uint64  `json:"q"` // digest of what was asked
	Corpus Corpus  `json:"c"` // as on the first page
	Score  float64 `json:"s"` // of the last document
	ID     int64   `json:"i,omitzero"`
	Bound  int64   `json:"b,omitzero"`
	Low    int64   `json:"l,omitzero"`
	Owner  string  `json:"o,omitzero"`
	Name   string  `json:"n,omitzero"`
}

// Digest returns the digest of a query and of what else narrows the search, for
// [Cursor.Query].
func Digest(q Query, narrowing ...string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(q.String()))
	for _, s := range narrowing {
		h.Write([]byte{0})
		h.Write([]byte(s))
	}
	return h.Sum64()
}

// String returns c in a form that fits in a URL and says nothing to people.
func (c Cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil { // a score that is no number; Score never returns one
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads a cursor that String wrote for the query q and the digest.
// The error, if any, is an *[Error].
func ParseCursor(s string, q Query, digest uint64) (Cursor, error) {
	var c Cursor
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || !c.Corpus.ok(q) || c.Query != digest || math.IsNaN(c.Score) || math.IsInf(c.Score, 0) {
		return Cursor{}, &Error{
			Msg: "the cursor does not belong to this search",
			Fix: "pass the cursor of the previous page with the same query, or none",
		}
	}
	return c, nil
}
