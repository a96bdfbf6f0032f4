package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const sumSessions = `SELECT owner, count(*), sum(` + nowLen + `)::bigint, sum(` + nowBytes + `)::bigint FROM ` + fromSessions + ` `

// Usage implements [sequent.Store]. It reads the rows of the owner's sessions, or of all.
func (s *Store) Usage(ctx context.Context, q sequent.UsageQuery) (all []sequent.Usage, err error) {
	where, args := "", []any(nil)
	if !q.AllOwners {
		where, args = "WHERE owner = $1", []any{pack(q.Owner)}
	}
	err = s.read(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, sumSessions+where+" GROUP BY owner", args...)
		if err != nil {
			return err
		}
		sums, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u sequent.Usage, err error) {
			if err := row.Scan(&u.Owner, &u.Sessions, &u.Thoughts, &u.Bytes); err != nil {
				return u, err
			}
			return u, unpackAll(&u.Owner)
		})
		if err != nil {
			return err
		}
		if rows, err = s.pool.Query(ctx, record.SelectRefused+where, args...); err != nil {
			return err
		}
		refused := make(map[string]int64)
		var owner string
		var n int64
		if _, err := pgx.ForEachRow(rows, []any{&owner, &n}, func() error {
			name := owner
			err := unpackAll(&name)
			refused[name] = n
			return err
		}); err != nil {
			return err
		}
		all = record.AddRefused(sums, refused)
		return nil
	})
	return all, err
}

// AddRefused implements [sequent.Store].
func (s *Store) AddRefused(ctx context.Context, owner string, n int64) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, `
		INSERT INTO refusals AS r (owner, calls) VALUES ($1, $2)
		ON CONFLICT (owner) DO UPDATE SET calls = r.calls + excluded.calls`, pack(owner), n)
	return s.wrap(ctx, writeError(err))
}
