package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

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
	err = s.read(ctx, func(ctx context.Context) (err error) {
		page, err = s.page(ctx, q, after)
		return err
	})
	return page, err
}

// page merges the listings of the parts.
func (s *Store) page(ctx context.Context, q sequent.Query, after *listing.Cursor) (page sequent.Page, err error) {
	var all []*partListing
	limit, parts := q.PageSize(), s.selected(q.Owner, q.AllOwners)
	for _, p := range parts {
		l := &partListing{part: p, after: after, more: true, size: limit + 1}
		if len(parts) > 1 { // about the share of a part, and some more
			l.size = min(l.size, 2*l.size/len(parts)+5)
		}
		all = append(all, l)
	}
	for {
		var empty []*partListing
		for _, l := range all {
			if len(l.rows) == 0 && l.more {
				empty = append(empty, l)
			}
		}
		if err := concurrently(empty, maxConcurrent, func(l *partListing) error { return l.read(ctx, s.pool, q) }); err != nil {
			return sequent.Page{}, err
		}
		var newest *partListing
		for _, l := range all {
			if len(l.rows) > 0 && (newest == nil || newest.rows[0].before(&l.rows[0])) {
				newest = l
			}
		}
		switch {
		case newest == nil:
			page.Next = ""
			return page, nil
		case len(page.Headers) == limit:
			return page, nil
		}
		row := &newest.rows[0]
		page.Headers = append(page.Headers, row.header)
		page.Next = row.at.String()
		newest.rows = newest.rows[1:]
	}
}

// A partListing reads the listing of a part.
type partListing struct {
	part  *part
	after *listing.Cursor // of the last row that was read
	rows  []listed        // that are not on the page yet
	more  bool            // there may be more
	size  int             // rows to read next
}

// A listed is a session in a listing. Its cursor has the number of its key.
type listed struct {
	header sequent.Header
	at     listing.Cursor
}

// before reports whether l is older than m.
func (l *listed) before(m *listed) bool {
	return l.at.At < m.at.At || l.at.At == m.at.At && l.at.Key < m.at.Key
}

// read reads the next rows.
func (l *partListing) read(ctx context.Context, pool *pgxpool.Pool, q sequent.Query) error {
	after := l.after
	if after != nil {
		after = &listing.Cursor{ByCreated: after.ByCreated, At: after.At, Key: l.part.atLeast(after.Key)}
	}
	text, args := selectPage(q, after, l.size)
	rows, err := pool.Query(ctx, l.part.sql(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		key, h, err := scanHeader(rows)
		if err != nil {
			return err
		}
		l.rows = append(l.rows, listed{h, listing.At(q, l.part.combine(key), &h)})
	}
	l.more = n == l.size
	if n > 0 {
		l.after = &l.rows[len(l.rows)-1].at
	}
	l.size *= 2
	return rows.Err()
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
		and("s.key IN (SELECT session FROM schema.thoughts WHERE seq = 1 AND request_key <> '' AND request_key = " + arg(pack(r.Key)) +
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
