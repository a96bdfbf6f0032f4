package postgres

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const selectRefused = `SELECT owner, calls FROM schema.refusals `

const sumSessions = `SELECT owner, count(*), sum(` + nowLen + `)::bigint, sum(` + nowBytes + `)::bigint, max(` + nowUpdated + `) FROM ` + fromSessions + ` `

// Usage implements [sequent.Store]. It reads the rows of the owner's sessions, or of all.
func (s *Store) Usage(ctx context.Context, q sequent.UsageQuery) (all []sequent.Usage, err error) {
	where, args := "", []any(nil)
	if !q.AllOwners {
		where, args = "WHERE owner = $1", []any{pack(q.Owner)}
	}
	var mu sync.Mutex
	err = concurrently(s.selected(q.Owner, q.AllOwners), maxConcurrent, func(p *part) error {
		usage, err := s.usage(ctx, p, where, args)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, usage...)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b sequent.Usage) int { return cmp.Compare(a.Owner, b.Owner) })
	return all, nil
}

// usage returns the usage of owners of a part.
func (s *Store) usage(ctx context.Context, p *part, where string, args []any) (all []sequent.Usage, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, p.sql(sumSessions+where+" GROUP BY owner"), args...)
		if err != nil {
			return err
		}
		sums, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u sequent.Usage, err error) {
			var updated int64
			if err := row.Scan(&u.Owner, &u.Sessions, &u.Thoughts, &u.Bytes, &updated); err != nil {
				return u, err
			}
			u.Updated = record.Time(updated)
			return u, unpackAll(&u.Owner)
		})
		if err != nil {
			return err
		}
		if rows, err = s.pool.Query(ctx, p.sql(selectRefused+where), args...); err != nil {
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
	_, err := s.pool.Exec(ctx, s.part(owner).sql(`
		INSERT INTO schema.refusals AS r (owner, calls) VALUES ($1, $2)
		ON CONFLICT (owner) DO UPDATE SET calls = r.calls + excluded.calls`), pack(owner), n)
	return s.wrap(ctx, writeError(err))
}
