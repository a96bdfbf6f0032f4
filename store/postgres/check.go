package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
)

// Check returns an error unless the server is reachable and the store has a
// format that this program may write. It does not retry.
func (s *Store) Check(ctx context.Context) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	return s.wrap(ctx, s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		l, err := find(ctx, conn.Conn(), len(s.parts))
		if err == nil && l.format() < latest { // a backup was restored after Open
			err = &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  fmt.Sprintf("the store has format %d; this program needs format %d", l.format(), latest),
				Fix:  "run `sequent migrate`",
			}
		}
		return err
	}))
}

// Format returns the format of the store at cfg.URL, 0 if it does not exist, and
// the format that Open would migrate it to. It changes nothing.
func Format(ctx context.Context, cfg Config) (have, want int, err error) {
	config, parts, err := parse(cfg)
	if err != nil {
		return 0, latest, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return 0, latest, wrap(ctx, err)
	}
	l, err := find(ctx, conn, parts)
	if l != nil {
		have = l.format()
	}
	err = errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	return have, latest, wrap(ctx, err)
}
