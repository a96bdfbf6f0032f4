package app

import (
	"context"

	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A Format is how a store keeps what is in it.
type Format struct {
	Place Place
	Have  int // of the store; 0 if there is none yet
	Want  int // of this program
}

// FormatOf looks at the format of the configured store and changes nothing. A
// newer one than that of this program is an error.
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
			Msg: "sessions in memory have no format",
			Fix: "leave --store out, or name a file or a database",
		}
	case isDatabase:
		f.Have, f.Want, err = postgres.Format(ctx, postgres.Config{URL: address})
	default:
		f.Have, f.Want, err = sqlite.Format(ctx, place.Path)
	}
	return f, at(place, err)
}

// Migrate brings the configured store to the format of this program, and makes it
// if there is none. It returns the format that the store had.
func Migrate(ctx context.Context, cfg Config) (Format, error) {
	f, err := FormatOf(ctx, cfg)
	if err != nil || f.Have == f.Want {
		return f, err
	}
	a, err := Open(ctx, cfg) // which does it
	if err != nil {
		return f, err
	}
	return f, a.Close()
}
