package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Usage implements [sequent.Store]. It reads the rows of the owner's sessions, or of all.
func (s *Store) Usage(ctx context.Context, q sequent.UsageQuery) ([]sequent.Usage, error) {
	where, args := "", []any(nil)
	if !q.AllOwners {
		where, args = "WHERE owner = ?", []any{q.Owner}
	}
	var sums []sequent.Usage
	err := s.each(ctx, "SELECT owner, count(*), sum(len), sum(bytes), max(updated) FROM tool_sessions "+where+" GROUP BY owner", args, func(rows *sql.Rows) error {
		var u sequent.Usage
		var updated int64
		defer func() { sums = append(sums, u) }()
		err := rows.Scan(&u.Owner, &u.Sessions, &u.Thoughts, &u.Bytes, &updated)
		u.Updated = record.Time(updated)
		return err
	})
	refused := make(map[string]int64)
	if err == nil {
		err = s.each(ctx, "SELECT owner, calls FROM refusals "+where, args, func(rows *sql.Rows) error {
			var owner string
			var n int64
			err := rows.Scan(&owner, &n)
			refused[owner] = n
			return err
		})
	}
	if err != nil {
		return nil, s.wrap(err)
	}
	return record.AddRefused(sums, refused), nil
}

// each calls scan for each row of a query.
func (s *Store) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) (err error) {
	rows, err := s.readers.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// AddRefused implements [sequent.Store].
func (s *Store) AddRefused(ctx context.Context, owner string, n int64) error {
	return s.wrap(s.transact(ctx, func(w *writer) error {
		_, err := w.conn.ExecContext(context.Background(), `
			INSERT INTO refusals (owner, calls) VALUES (?, ?)
			ON CONFLICT (owner) DO UPDATE SET calls = calls + excluded.calls`, owner, n)
		return err
	}))
}
