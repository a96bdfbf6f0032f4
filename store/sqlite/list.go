package sqlite

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
	"github.com/sequent-dev/sequent/store/listing"
)

// List implements [sequent.Store]. Sessions with equal times are ordered by their
// keys, newest first.
func (s *Store) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	after, err := listing.After(q)
	if err == nil {
		err = s.checkReplaced()
	}
	if err != nil {
		return sequent.Page{}, err
	}
	limit := q.PageSize()
	text, args := selectPage(q, after, limit+1)
	rows, err := s.readers.QueryContext(ctx, text, args...)
	if err != nil {
		return sequent.Page{}, s.wrap(err)
	}
	defer func() { err = errors.Join(err, s.wrap(rows.Close())) }()
	var last listing.Cursor
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
		last = listing.At(q, key, &h)
	}
	return page, s.wrap(rows.Err())
}

// selectPage returns the statement for a query. An index provides the order, so
// that SQLite reads only the rows of the page. By last update it provides the order
// of the periods, so that SQLite reads and sorts whole periods.
func selectPage(q sequent.Query, after *listing.Cursor, limit int) (text string, args []any) {
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
	if q.Project != "" {
		and("project IN ('', ?)", q.Project)
	}
	if q.Elsewhere != "" {
		and("project NOT IN ('', ?)", q.Elsewhere)
	}
	if !q.Since.IsZero() {
		since := record.Ceil(q.Since)
		and("period >= ? AND updated >= ?", record.Period(since), since)
	}
	if !q.Begun.IsZero() {
		and("created >= ?", record.Ceil(q.Begun))
	}
	if !q.Now.IsZero() {
		and("(expires IS NULL OR expires > ?)", record.Micros(q.Now))
	}
	if q.Request.Key != "" {
		and(`key IN (SELECT session FROM thoughts INDEXED BY first_requests
			WHERE seq = 1 AND request_key <> '' AND request_key = ? AND request_digest = ?)`, q.Request.Key, q.Request.Digest)
	}
	// Without INDEXED BY, SQLite prefers one sort of everything to one per period.
	from := "tool_sessions"
	switch {
	case q.Request.Key != "":
		from += " NOT INDEXED" // but by key: few sessions have the request
	case !q.ByCreated && (q.Scope == "" || q.AllOwners):
		from += " INDEXED BY sessions_by_update"
		if q.AllOwners {
			from = "tool_sessions INDEXED BY all_sessions_by_update"
		}
		last := int64(math.MaxInt64)
		if after != nil {
			last = record.Period(after.At)
		}
		and("period <= ?", last)
	}
	if after != nil {
		and("("+column+", key) < (?, ?)", after.At, after.Key)
	}
	var b strings.Builder
	b.WriteString("SELECT " + headerColumns + " FROM " + from)
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	b.WriteString(" ORDER BY " + order + " LIMIT ?")
	return b.String(), append(args, limit)
}
