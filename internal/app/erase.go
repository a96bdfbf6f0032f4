package app

import (
	"context"
	"errors"
	"io/fs"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// Erase removes what deletions leave in the files of the store, and returns what it
// could not remove. It does nothing for a store in memory or in a database.
func (a *App) Erase(ctx context.Context) (sqlite.Residue, error) {
	if s, ok := a.store.(*sqlite.Store); ok {
		return s.Erase(ctx)
	}
	return sqlite.Residue{}, nil
}

// Compact rewrites the file of the configured store, which must exist; see
// [sqlite.Store.Compact].
func Compact(ctx context.Context, cfg Config, progress func(bytes int64)) (c sqlite.Compaction, err error) {
	err = withFile(ctx, cfg, "compact", "run VACUUM in psql or leave it to autovacuum", func(s *sqlite.Store) error {
		c, err = s.Compact(ctx, progress)
		return err
	})
	return c, err
}

// withFile calls do with the store in the configured SQLite file. For a database it
// returns an error with the fix.
func withFile(ctx context.Context, cfg Config, what, fix string, do func(*sqlite.Store) error) error {
	place, err := fileOf(cfg.Store, what, fix)
	if err != nil {
		return err
	}
	a, err := OpenExisting(ctx, cfg)
	if err != nil {
		return err
	}
	s, ok := a.store.(*sqlite.Store)
	if !ok { // the default store was never created
		err = &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "there is no store at " + place.Path,
			Fix: "check the path", Err: fs.ErrNotExist,
		}
	} else {
		err = at(place, do(s))
	}
	return errors.Join(err, a.Close())
}
