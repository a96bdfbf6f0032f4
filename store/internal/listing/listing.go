// Package listing pages through the sessions of SQL stores.
package listing

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Limit returns how many sessions a page of q may have.
func Limit(q sequent.Query) int {
	if q.Limit <= 0 {
		return 100
	}
	return q.Limit
}

// A Cursor is the place of the last session of a page.
type Cursor struct {
	ByCreated bool  // the order of the listing
	At        int64 // when the session was created or updated, in microseconds
	Key       int64 // of its row
}

// At returns the place, in the listing of q, of the session in a row.
func At(q sequent.Query, key int64, h *sequent.Header) Cursor {
	c := Cursor{ByCreated: q.ByCreated, At: record.Micros(h.Updated), Key: key}
	if q.ByCreated {
		c.At = record.Micros(h.Created)
	}
	return c
}

const format = "%t %d %d"

// String returns c in the form that a page gives to its reader.
func (c Cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, format, c.ByCreated, c.At, c.Key))
}

// After returns the place after which the page of q begins, nil for the first
// page. Its error is a *sequent.Error: the cursor is none of such a listing.
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
		err = errors.New("it is of another listing")
	}
	if err != nil {
		return nil, &sequent.Error{
			Code: sequent.CodeInvalidQuery, Field: "cursor",
			Msg: "the cursor is not one of this listing",
			Fix: "pass the cursor of the page before, or none",
			Err: err,
		}
	}
	return c, nil
}
