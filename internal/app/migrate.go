package app

import (
	"context"

	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A Format is the format of a store.
type Format struct {
	Place Place
	Have  int // format of the store; 0 if it does not exist
	Want  int // format of this program
}

// FormatOf returns the format of the configured store and changes nothing. A newer
// format than that of this program is an error.
func FormatOf(ctx context.Context, cfg Config) (Format, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return Format{}, err
	}
	f := Format{Place: place}
	address, isDatabase := place.Database()
	switch {
	case place.Memory:
		return f, &ConfigError{
			Msg: "a store in memory has no format",
			Fix: "omit --store, or pass a file or a database",
		}
	case isDatabase:
		f.Have, f.Want, err = postgres.Format(ctx, postgres.Config{URL: address})
	default:
		f.Have, f.Want, err = sqlite.Format(ctx, place.Path)
	}
	return f, at(place, err)
}

// Migrate creates the configured store or migrates it to the format of this program.
// It returns the format before the migration.
func Migrate(ctx context.Context, cfg Config) (Format, error) {
	f, err := FormatOf(ctx, cfg)
	if err != nil || f.Have == f.Want {
		return f, err
	}
	a, err := Open(ctx, cfg) // migrates the store
	if err != nil {
		return f, err
	}
	return f, a.Close()
}
