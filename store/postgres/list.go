package postgres

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
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
	err = s.read(ctx, func(ctx context.Context) error {
		page = sequent.Page{}
		rows, err := s.pool.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var last cursor
		for rows.Next() {
			key, h, err := scanHeader(rows)
			if err != nil {
				return err
			}
			if len(page.Headers) == limit {
				page.Next = last.String()
				continue
			}
			page.Headers = append(page.Headers, h)
			last = cursor{byCreated: q.ByCreated, at: record.Micros(stamp(q, &h)), key: key}
		}
		return rows.Err()
	})
	return page, err
}

func stamp(q sequent.Query, h *sequent.Header) time.Time {
	if q.ByCreated {
		return h.Created
	}
	return h.Updated
}

// listing returns the statement for a query. Its order begins like that of an
// index, so that a page costs what it holds and the periods that it touches.
func listing(q sequent.Query, after *cursor, limit int) (text string, args []any) {
	var where []string
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	and := func(condition string) { where = append(where, condition) }
	column, order := "updated", "period DESC, updated DESC, key DESC"
	if q.ByCreated {
		column, order = "created", "created DESC, key DESC"
	}
	if !q.AllOwners {
		and("owner = " + arg(pack(q.Owner)))
	}
	if q.Scope != "" {
		and("scope = " + arg(pack(q.Scope)) + " AND scope <> ''")
	}
	if !q.Since.IsZero() {
		since := record.Ceil(q.Since)
		and("period >= " + arg(record.Period(since)) + " AND updated >= " + arg(since))
	}
	if !q.Now.IsZero() {
		and("(expires IS NULL OR expires > " + arg(record.Micros(q.Now)) + ")")
	}
	if after != nil {
		if !q.ByCreated {
			and("period <= " + arg(record.Period(after.at)))
		}
		and("(" + column + ", key) < (" + arg(after.at) + "::bigint, " + arg(after.key) + "::bigint)")
	}
	var b strings.Builder
	b.WriteString("SELECT " + headerColumns + " FROM tool_sessions")
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	b.WriteString(" ORDER BY " + order + " LIMIT " + arg(limit))
	return b.String(), args
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
