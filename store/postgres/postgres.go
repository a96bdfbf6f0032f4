// Package postgres keeps sessions in a PostgreSQL database, which any number of
// processes share: every call may go to any of them.
//
// A commit is durable when [Store.Commit] returns, as far as the server makes it
// so (synchronous_commit). A server that is away for a while is waited for, up to
// [Config.Patience]; then calls fail with [sequent.CodeUnavailable], and succeed
// again when it is back.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/wake"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A Config says where the database is and how the store behaves.
type Config struct {
	URL         string        // postgres://…, or key=value pairs; required. It may hold a password.
	Connections int           // at most so many, and two beside them; 0 means 8
	Patience    time.Duration // how long to wait for a server that is away; 0 means 5 s
	Timeout     time.Duration // of one statement; 0 means 30 s
	Logger      *slog.Logger  // nil means slog.Default()
}

// A Store is a [sequent.Store] in PostgreSQL. Use [Open].
type Store struct {
	pool     *pgxpool.Pool
	config   *pgx.ConnConfig
	channel  string // of notifications: one for each schema
	patience time.Duration
	timeout  time.Duration
	log      *slog.Logger

	known    known
	hub      wake.Hub[name]
	listener listener
	indexer  indexer

	closing    sync.Once
	closed     chan struct{}
	background context.Context // of the goroutines
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// Open opens the store that cfg names, and makes its tables if there are none.
//
// Many processes may do so at the same instant. A schema of an older version is
// brought up to date; one of a newer version is refused and not touched.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.running.Go(func() { s.index(s.background) })
	return s, nil
}

// open opens a store whose index nobody brings up to date.
func open(ctx context.Context, cfg Config) (*Store, error) {
	config, err := parse(cfg)
	if err != nil {
		return nil, err
	}
	s := &Store{
		patience: cmp.Or(cfg.Patience, 5*time.Second),
		timeout:  cmp.Or(cfg.Timeout, timeout),
		log:      cmp.Or(cfg.Logger, slog.Default()),
		closed:   make(chan struct{}),
	}
	s.config = config.ConnConfig
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, wrap(ctx, err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, wrap(ctx, err)
	}
	s.background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.listener.init()
	s.indexer.init()
	s.running.Go(func() { s.follow(s.background) })
	return s, nil
}

// timeout is that of a statement if none is given.
const timeout = 30 * time.Second

// parse reads the address, and sets what it does not.
func parse(cfg Config) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, &sequent.Error{ // the cause may show what was meant to be a password
			Code: sequent.CodeUnavailable,
			Msg:  "the address of the database cannot be understood",
			Fix:  "write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with other characters in USER and PASSWORD as %XX",
		}
	}
	config.MaxConns = int32(cmp.Or(cfg.Connections, 8))
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, 5*time.Second)
	config.PingTimeout = 2 * time.Second
	limit := cmp.Or(cfg.Timeout, timeout).Milliseconds()
	for name, value := range map[string]string{
		"application_name":                    "sequent",
		"statement_timeout":                   strconv.FormatInt(limit, 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt(2*limit, 10),
		// Every statement has its index. A table that has just been filled has no
		// statistics that say so.
		"enable_seqscan": "off",
		"jit":            "off",
		// The statements are few and their plans the same for all arguments. To make
		// them anew for each append took PostgreSQL half of its time.
		"plan_cache_mode": "force_generic_plan",
	} {
		if _, set := config.ConnConfig.RuntimeParams[name]; !set {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// prepare brings the schema up to date and learns its name.
func (s *Store) prepare(ctx context.Context) error {
	return s.again(ctx, lost, func(ctx context.Context) error {
		if err := migrate(ctx, s.config); err != nil {
			return err
		}
		var encoding string
		err := s.pool.QueryRow(ctx, "SELECT 'sequent_' || to_hex(hashtext(current_schema())), current_setting('server_encoding')").
			Scan(&s.channel, &encoding)
		if err == nil && encoding != "UTF8" {
			err = &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  "the database has the encoding " + encoding + ", which cannot hold every text",
				Fix:  "create one with the encoding UTF8",
			}
		}
		return err
	})
}

// again runs do, which stores nothing if it fails with an error that again
// accepts, until it succeeds or the store's patience is at an end. Each run has
// the store's time-out.
func (s *Store) again(ctx context.Context, accepts func(error) bool, do func(context.Context) error) error {
	late := time.Now().Add(s.patience)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		limited, cancel := context.WithTimeout(ctx, s.timeout+5*time.Second) // the server's own comes first
		err := do(limited)
		cancel()
		if err == nil || ctx.Err() != nil || !accepts(err) || time.Now().Add(pause).After(late) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closed:
			return record.ErrClosed
		}
	}
}

// read runs do, which changes nothing, again if the connection is lost.
func (s *Store) read(ctx context.Context, do func(context.Context) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.wrap(ctx, s.again(ctx, lost, do))
}

// usable returns an error if the store is closed or the caller has given up.
func (s *Store) usable(ctx context.Context) error {
	select {
	case <-s.closed:
		return record.ErrClosed
	default:
		return s.wrap(ctx, ctx.Err())
	}
}

// Close implements [sequent.Store]. Commits under way finish; those who Wait
// are told that the store is closed.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		s.stop()
		s.running.Wait()
		s.pool.Close()
	})
	return nil
}

// rollback ends a transaction that may have ended already.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = tx.Rollback(ctx) // what is not committed goes with the connection at the latest
}

// inTx runs do in one transaction. An error is undone, unless it is one of
// COMMIT.
func (s *Store) inTx(ctx context.Context, options pgx.TxOptions, do func(pgx.Tx) error) error {
	tx, err := s.pool.BeginTx(ctx, options)
	if err != nil {
		return undone{err}
	}
	defer rollback(ctx, tx)
	if err := do(tx); err != nil {
		return undone{err}
	}
	return tx.Commit(ctx)
}

// undone is an error of a transaction that was not committed.
type undone struct{ error }

func (e undone) Unwrap() error { return e.error }

// outcome returns what an error of a write means: one after which nobody knows
// whether it was stored is made to say so.
func outcome(err error) error {
	if err != nil && lost(err) && !harmless(err) {
		return unknown(err)
	}
	return err
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
