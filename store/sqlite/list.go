package sqlite

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// List implements [sequent.Store]. Of sessions with the same time, the one
// begun last comes first.
func (s *Store) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	after, err := parseCursor(q)
	if err != nil {
		return sequent.Page{}, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	text, args := listing(q, after, limit+1)
	rows, err := s.readers.QueryContext(ctx, text, args...)
	if err != nil {
		return sequent.Page{}, s.wrap(err)
	}
	defer func() { err = errors.Join(err, s.wrap(rows.Close())) }()
	var last cursor
	for rows.Next() {
		key, h, err := scanHeader(rows)
		if err != nil {
			return sequent.Page{}, s.wrap(err)
		}
		if len(page.Headers) == limit {
			page.Next = last.String()
			break
		}
		page.Headers = append(page.Headers, h)
		last = cursor{byCreated: q.ByCreated, at: record.Micros(stamp(q, &h)), key: key}
	}
	return page, s.wrap(rows.Err())
}

func stamp(q sequent.Query, h *sequent.Header) time.Time {
	if q.ByCreated {
		return h.Created
	}
	return h.Updated
}

// listing returns the statement for a query. Its order is that of an index, or
// begins like it, so that a page costs what it holds and, by last update, the
// periods that it touches.
func listing(q sequent.Query, after *cursor, limit int) (text string, args []any) {
	var where []string
	and := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	column, order := "updated", "period DESC, updated DESC, key DESC"
	if q.ByCreated {
		column, order = "created", "created DESC, key DESC"
	}
	if !q.AllOwners {
		and("owner = ?", q.Owner)
	}
	if q.Scope != "" {
		and("scope = ? AND scope <> ''", q.Scope)
	}
	if !q.Since.IsZero() {
		since := record.Ceil(q.Since)
		and("period >= ? AND updated >= ?", record.Period(since), since)
	}
	if !q.Now.IsZero() {
		and("(expires IS NULL OR expires > ?)", record.Micros(q.Now))
	}
	// SQLite takes a whole sort for no dearer than many small ones, unless told.
	from := "tool_sessions"
	if !q.ByCreated && (q.Scope == "" || q.AllOwners) {
		from += " INDEXED BY sessions_by_update"
		if q.AllOwners {
			from = "tool_sessions INDEXED BY all_sessions_by_update"
		}
		last := int64(math.MaxInt64)
		if after != nil {
			last = record.Period(after.at)
		}
		and("period <= ?", last)
	}
	if after != nil {
		and("("+column+", key) < (?, ?)", after.at, after.key)
	}
	var b strings.Builder
	b.WriteString("SELECT " + headerColumns + " FROM " + from)
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	b.WriteString(" ORDER BY " + order + " LIMIT ?")
	return b.String(), append(args, limit)
}

// A cursor is the place of the last session of a page.
type cursor struct {
	byCreated bool
	at, key   int64
}

const cursorFormat = "%t %d %d"

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, cursorFormat, c.byCreated, c.at, c.key))
}

// parseCursor returns nil for the first page.
func parseCursor(q sequent.Query) (*cursor, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	c := new(cursor)
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(b), cursorFormat, &c.byCreated, &c.at, &c.key)
	}
	if err == nil && (c.byCreated != q.ByCreated || c.String() != q.Cursor) {
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
