package app

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent/store/sqlite"
)

// Erase removes what deletions leave in the write-ahead log of the store, and returns what it
// could not remove. It does nothing for a store in memory or in a database.
func (a *App) Erase(ctx context.Context) (sqlite.Residue, error) {
	if s, ok := a.store.(*sqlite.Store); ok {
		return s.Erase(ctx)
	}
	return sqlite.Residue{}, nil
}

// maxRewritten is the size in bytes up to which Rewrite rewrites a file: it takes about five
// seconds.
const maxRewritten = 256 << 20

// Rewrite does what Erase does, and removes what is left in the file of the store by rewriting
// it, unless it is larger than maxRewritten or that fails, for example on a full disk.
func (a *App) Rewrite(ctx context.Context) (residue sqlite.Residue, rewritten bool, err error) {
	if s, ok := a.store.(*sqlite.Store); ok && s.Size() <= maxRewritten {
		if done, err := s.Compact(ctx, nil); err == nil {
			return done.Residue, true, nil
		}
	}
	residue, err = a.Erase(ctx)
	return residue, false, err
}

// Compact rewrites the file of the configured store, which must exist; see
// [sqlite.Store.Compact].
func Compact(ctx context.Context, cfg Config, progress func(bytes int64)) (c sqlite.Compaction, err error) {
	place, err := fileOf(cfg.Store, "compact", "run VACUUM in psql or leave it to autovacuum")
	if err != nil {
		return c, err
	}
	a, err := OpenExisting(ctx, cfg)
	if err != nil {
		return c, err
	}
	err = noStore(place) // the default store was never created
	if s, ok := a.store.(*sqlite.Store); ok {
		c, err = s.Compact(ctx, progress)
	}
	return c, errors.Join(at(place, err), a.Close())
}
