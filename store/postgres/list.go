package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
	"github.com/sequent-dev/sequent/store/listing"
)

// List implements [sequent.Store]. Sessions with equal times are ordered by their
// keys, newest first.
func (s *Store) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	after, err := listing.After(q)
	if err != nil {
		return sequent.Page{}, err
	}
	limit := q.PageSize()
	text, args := selectPage(q, after, limit+1)
	err = s.read(ctx, func(ctx context.Context) error {
		page = sequent.Page{}
		rows, err := s.pool.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var last listing.Cursor
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
			last = listing.At(q, key, &h)
		}
		return rows.Err()
	})
	return page, err
}

// selectPage returns the statement for a query. An index provides the order of the
// times or periods, so that PostgreSQL reads and sorts only whole periods.
func selectPage(q sequent.Query, after *listing.Cursor, limit int) (text string, args []any) {
	var where []string
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	and := func(condition string) { where = append(where, condition) }
	column, order := nowUpdated, "s.period DESC, "+nowUpdated+" DESC, s.key DESC"
	if q.ByCreated {
		column, order = "s.created", "s.created DESC, s.key DESC"
	}
	if !q.AllOwners {
		and("s.owner = " + arg(pack(q.Owner)))
	}
	if q.Scope != "" {
		and("s.scope = " + arg(pack(q.Scope)) + " AND s.scope <> ''")
	}
	if q.Project != "" {
		and("s.project IN ('', " + arg(pack(q.Project)) + ")")
	}
	if q.Elsewhere != "" {
		and("s.project NOT IN ('', " + arg(pack(q.Elsewhere)) + ")")
	}
	if !q.Since.IsZero() {
		since := record.Ceil(q.Since)
		and("s.period >= " + arg(record.Period(since)) + " AND " + nowUpdated + " >= " + arg(since))
	}
	if !q.Begun.IsZero() {
		and("s.created >= " + arg(record.Ceil(q.Begun)))
	}
	if r := q.Request; r.Key != "" {
		and("s.key IN (SELECT session FROM thoughts WHERE seq = 1 AND request_key <> '' AND request_key = " + arg(pack(r.Key)) +
			" AND request_digest = " + arg(pack(r.Digest)) + ")")
	}
	if !q.Now.IsZero() {
		and("(s.expires IS NULL OR s.expires > " + arg(record.Micros(q.Now)) + ")")
	}
	if after != nil {
		if !q.ByCreated {
			and("s.period <= " + arg(record.Period(after.At)))
		}
		and("(" + column + ", s.key) < (" + arg(after.At) + "::bigint, " + arg(after.Key) + "::bigint)")
	}
	var b strings.Builder
	b.WriteString("SELECT " + headerColumns + " FROM " + fromSessions)
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	b.WriteString(" ORDER BY " + order + " LIMIT " + arg(limit))
	return b.String(), args
}
