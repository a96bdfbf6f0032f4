package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// Check looks whether the store can be reached, without the patience that calls
// have, and whether its format is that of this program.
func (s *Store) Check(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, s.pool)
	if err == nil && version != latest {
		err = &sequent.Error{ // Open has seen to it: somebody has restored a backup since
			Code: sequent.CodeUnavailable,
			Msg:  fmt.Sprintf("the store has format %d, and this program needs %d", version, latest),
			Fix:  "bring it up to date with sequent migrate",
		}
	}
	return s.wrap(ctx, err)
}

// Format returns the format of the store that cfg names, 0 if there is none yet,
// and the one that this program brings it to. It changes nothing.
func Format(ctx context.Context, cfg Config) (have, want int, err error) {
	config, err := parse(cfg)
	if err != nil {
		return 0, latest, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return 0, latest, wrap(ctx, err)
	}
	have, err = schemaVersion(ctx, conn)
	err = errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	return have, latest, wrap(ctx, err)
}
