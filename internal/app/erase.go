package app

import (
	"context"

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

// Compact rewrites the file of the store; see [sqlite.Store.Compact].
func (a *App) Compact(ctx context.Context, progress func(bytes int64)) (sqlite.Compaction, error) {
	s, ok := a.store.(*sqlite.Store)
	if !ok { // the default store was never created
		return sqlite.Compaction{}, noStore(a.Place)
	}
	c, err := s.Compact(ctx, progress)
	return c, a.Place.At(err)
}

// StoreFile returns the place of the configured store, which must be a SQLite file.
func StoreFile(store string) (Place, error) {
	place, err := Locate(store)
	if err == nil && place.Path == "" {
		err = usage("this works on SQLite files, and the store is "+place.String(),
			"use pg_dump, pg_restore or VACUUM for a database, sequent store copy for both, or name a file with --store")
	}
	return place, err
}
