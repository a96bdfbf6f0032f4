// Package listing implements the cursors of [sequent.Store.List] for
// stores that order sessions by a time and a key.
package listing

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A Cursor is the position of a session in a listing: the last session of a page.
// Sessions with the same time are ordered by their keys.
type Cursor struct {
	ByCreated bool  // ordered by creation instead of last update
	At        int64 // time of creation or last update, in microseconds since 1970
	Key       int64 // the store's key of the session, unique and never reused
}

// At returns the position of a session in the listing of q.
func At(q sequent.Query, key int64, h *sequent.Header) Cursor {
	c := Cursor{ByCreated: q.ByCreated, At: record.Micros(h.Updated), Key: key}
	if q.ByCreated {
		c.At = record.Micros(h.Created)
	}
	return c
}

const format = "%t %d %d"

// String returns c in the form of [sequent.Page.Next].
func (c Cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, format, c.ByCreated, c.At, c.Key))
}

// After returns the position after which the page of q begins, nil for the first
// page. The error has [sequent.CodeInvalidQuery]: q.Cursor is not the cursor of a
// listing in the same order.
func After(q sequent.Query) (*Cursor, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	c := new(Cursor)
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(b), format, &c.ByCreated, &c.At, &c.Key)
	}
	if err == nil && (c.ByCreated != q.ByCreated || c.String() != q.Cursor) {
		err = errors.New("the cursor is from a listing in another order")
	}
	if err != nil {
		return nil, &sequent.Error{
			Code: sequent.CodeInvalidQuery, Field: "cursor",
			Msg: "the cursor does not belong to this listing",
			Fix: "pass the cursor of the previous page, or none",
			Err: err,
		}
	}
	return c, nil
}
