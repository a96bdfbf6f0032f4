package app

import (
	"context"

	"github.com/sequent-dev/sequent/store/sqlite"
)

// Backup writes a copy of the configured store to a file; see [sqlite.Backup]. It
// sets cfg.From.
func Backup(ctx context.Context, store string, cfg sqlite.BackupConfig) (sqlite.Copied, error) {
	place, err := fileOf(store, "backup", "use pg_dump --format=custom --file=FILE, or sequent store copy --to FILE")
	if err != nil {
		return sqlite.Copied{}, err
	}
	cfg.From = place.Path
	c, err := sqlite.Backup(ctx, cfg)
	return c, at(place, err)
}

// Restore replaces the configured store by a backup; see [sqlite.Restore]. It sets
// cfg.To.
func Restore(ctx context.Context, store string, cfg sqlite.BackupConfig) (sqlite.Copied, error) {
	place, err := fileOf(store, "restore", "use pg_restore for a file of pg_dump, or sequent store copy --store FILE for a backup of a SQLite store")
	if err != nil {
		return sqlite.Copied{}, err
	}
	cfg.To = place.Path
	c, err := sqlite.Restore(ctx, cfg)
	return c, err
}

// fileOf returns the place of a store in a SQLite file. For another store it returns
// an error with the fix.
func fileOf(store, command, fix string) (Place, error) {
	place, err := Locate(store)
	if err != nil {
		return place, err
	}
	if _, ok := place.Database(); ok {
		return place, usage("sequent store "+command+" works on SQLite files, and the store is the database "+place.String(), fix)
	}
	if place.Memory {
		return place, usage("sequent store "+command+" works on SQLite files, and the store is in memory", "name a file with --store")
	}
	return place, nil
}
