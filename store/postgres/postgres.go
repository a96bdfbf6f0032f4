// Package postgres stores sessions in a PostgreSQL database, which any number of
// processes may share: a client may send each call to another process.
//
// When [Store.Commit] returns, the commit is as durable as the server's setting
// synchronous_commit makes it. While the server is unreachable, calls retry for
// [Config.RetryTimeout] and then fail with [sequent.CodeUnavailable].
package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A Config configures a [Store].
type Config struct {
	URL              string        // postgres://…, or key=value pairs; required. It may contain a password.
	Connections      int           // maximum number of connections, half of them for commits; a process uses up to two more; at least 2; 0 means 8
	RetryTimeout     time.Duration // maximum time to retry while the server is unreachable; 0 means 5 s
	StatementTimeout time.Duration // of each statement; 0 means 30 s
	Logger           *slog.Logger  // nil means slog.Default()
}

// A Store is a [sequent.Store] in PostgreSQL. Use [Open].
type Store struct {
	parts            []*part
	pool             *pgxpool.Pool // of all but commits
	config           *pgx.ConnConfig
	channel          string // of notifications; each schema has its own
	distributed      bool   // the tables may be on workers of Citus
	retryTimeout     time.Duration
	statementTimeout time.Duration
	log              *slog.Logger

	commits           *pgxpool.Pool
	commitConnections int           // maximum size of commits
	patient           chan struct{} // holds a token for each connection that waits for a session

	unindexed atomic.Uint64 // the set of parts that have thoughts to index

	cache    cache
	feed     sequent.Feed
	sender   string // marks this Store's notifications, which the listener skips
	listener listener
	schedule *indexer.Schedule // of the indexer

	closing    sync.Once
	closed     chan struct{}
	background context.Context // of the goroutines
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// Open opens the store at cfg.URL and creates its tables if they do not exist.
// Several processes may do so at the same time.
//
// If the address has the parameter parts=N, with N from 2 to 64, the store is in N schemas
// beside the one that the address is for, with the sessions of the owners that a hash gives
// to each. It is made with that number, and refuses another one.
//
// It migrates a schema of an older format, and refuses one of a newer format
// without changing it.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.running.Go(func() { s.runIndexer(s.background) })
	return s, nil
}

// open opens a store without an indexer.
func open(ctx context.Context, cfg Config) (*Store, error) {
	config, parts, err := parse(cfg)
	if err != nil {
		return nil, err
	}
	s := &Store{
		retryTimeout:     cmp.Or(cfg.RetryTimeout, 5*time.Second),
		statementTimeout: cmp.Or(cfg.StatementTimeout, defaultStatementTimeout),
		log:              cmp.Or(cfg.Logger, slog.Default()),
		schedule:         indexer.NewSchedule(),
		sender:           senderMark + rand.Text(),
		closed:           make(chan struct{}),
	}
	config.ConnConfig.ValidateConnect = new(timelines).validate(config.ConnConfig.ValidateConnect)
	s.config = config.ConnConfig
	var l *layout
	if err := s.retry(ctx, isConnectionError, func(ctx context.Context) (err error) {
		l, err = s.locate(ctx, parts)
		return err
	}); err != nil {
		return nil, wrap(ctx, err)
	}
	if s.distributed {
		setDistributed(config.ConnConfig)
	}
	s.parts = l.parts
	config.AfterConnect = s.checkServer
	if err := s.openCommits(ctx, config); err != nil {
		return nil, wrap(ctx, err)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		s.commits.Close()
		return nil, wrap(ctx, err)
	}
	if err := s.migrate(ctx, l); err != nil {
		s.closePools()
		return nil, wrap(ctx, err)
	}
	s.background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.listener.init()

	s.running.Go(func() { s.runListener(s.background) })
	return s, nil
}

const defaultStatementTimeout = 30 * time.Second

// parse parses cfg.URL, and adds settings that it does not contain. It returns the number of
// parts too.
func parse(cfg Config) (config *pgxpool.Config, parts int, err error) {
	config, err = pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, 0, &sequent.Error{ // without the cause, which may contain the password
			Code: sequent.CodeUnavailable,
			Msg:  "the address of the database is not valid",
			Fix:  "write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in USER and PASSWORD as %XX",
		}
	}
	parts = 1
	if value, has := config.ConnConfig.RuntimeParams["parts"]; has {
		delete(config.ConnConfig.RuntimeParams, "parts") // the server does not know it
		if parts, err = strconv.Atoi(value); err != nil || parts < 2 || parts > maxParts {
			return nil, 0, &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  fmt.Sprintf("parts=%s in the address of the database is not a number from 2 to %d", value, maxParts),
				Fix:  "write a number, for example parts=32, or leave parts out for a store without parts",
			}
		}
		// Each part has statements of its own, and each connection prepares them.
		config.ConnConfig.StatementCacheCapacity = max(config.ConnConfig.StatementCacheCapacity, statementsOfPart*parts)
	}
	config.MaxConns = int32(cmp.Or(cfg.Connections, 8))
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, 5*time.Second)
	config.ConnConfig.OnNotice = noteLostCommit
	config.PingTimeout = 2 * time.Second
	timeout := cmp.Or(cfg.StatementTimeout, defaultStatementTimeout).Milliseconds()
	set(config.ConnConfig, map[string]string{
		"application_name":                    "sequent",
		"statement_timeout":                   strconv.FormatInt(timeout, 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt(2*timeout, 10),
		// Every statement has an index, but PostgreSQL may prefer a sequential scan
		// while a table that has just been filled has no statistics.
		"enable_seqscan": "off",
		"jit":            "off",
		// The best plan of a statement does not depend on its arguments, and planning
		// took half of the server's time for an append.
		"plan_cache_mode": "force_generic_plan",
	})
	return config, parts, nil
}

// statementsOfPart is more than the number of different statements of a part.
const statementsOfPart = 48

// setDistributed changes the settings for Citus.
func setDistributed(config *pgx.ConnConfig) {
	// The coordinator plans some statements only with the values of their parameters.
	config.RuntimeParams["plan_cache_mode"] = "auto"
	// Time-outs and settings of a transaction are for its statements on workers, too.
	set(config, map[string]string{"citus.propagate_set_commands": "local"})
}

// set adds settings that the address does not contain.
func set(config *pgx.ConnConfig, settings map[string]string) {
	for name, value := range settings {
		if _, has := config.RuntimeParams[name]; !has {
			config.RuntimeParams[name] = value
		}
	}
}

// locate returns the layout of the store with n parts, which it records if there is no store.
// It sets s.channel.
func (s *Store) locate(ctx context.Context, n int) (l *layout, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	l, err = find(ctx, conn, n)
	if err == nil && !l.made && n > 1 {
		if err = l.make(ctx, conn); err == nil {
			l, err = find(ctx, conn, n)
		}
	}
	if err != nil {
		return nil, err
	}
	var encoding string
	err = conn.QueryRow(ctx, "SELECT 'sequent_' || to_hex(hashtext($1)), current_setting('server_encoding'), "+isCitus, l.root.name).
		Scan(&s.channel, &encoding, &s.distributed)
	if err == nil && encoding != "UTF8" {
		err = &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "the database has the encoding " + encoding + ", which cannot represent all texts",
			Fix:  "create a database with the encoding UTF8",
		}
	}
	return l, err
}

// migrate brings all parts to the latest format. Concurrent processes wait for the one that
// does it.
func (s *Store) migrate(ctx context.Context, l *layout) error {
	var old []*part
	for i, p := range l.parts {
		if l.formats[i] < latest {
			old = append(old, p)
		}
	}
	return concurrently(old, maxConcurrent, func(p *part) error {
		return s.retry(ctx, isRetryable, func(ctx context.Context) error {
			return s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { return p.migrate(ctx, conn.Conn()) })
		})
	})
}

// retry calls do until it succeeds, fails with an error that is not retryable, or
// the retry timeout ends. An attempt that fails with a retryable error must have
// stored nothing.
func (s *Store) retry(ctx context.Context, retryable func(error) bool, do func(context.Context) error) error {
	deadline := time.Now().Add(s.retryTimeout)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		attempt, cancel := context.WithTimeout(ctx, s.statementTimeout+5*time.Second) // the server's timeout fires first
		err := do(attempt)
		if moved, ok := errors.AsType[movedError](err); ok {
			if adopted := s.adopt(attempt, moved.part); adopted != nil {
				err = adopted
			}
		}
		cancel()
		if err == nil || ctx.Err() != nil || !retryable(err) || time.Now().Add(wait).After(deadline) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closed:
			return record.ErrClosed
		}
	}
}

// read calls do, which must change nothing, and retries after connection errors.
func (s *Store) read(ctx context.Context, do func(context.Context) error) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	return s.wrap(ctx, s.retry(ctx, isConnectionError, do))
}

// checkOpen returns an error if the store is closed or ctx has ended.
func (s *Store) checkOpen(ctx context.Context) error {
	select {
	case <-s.closed:
		return record.ErrClosed
	default:
		return s.wrap(ctx, ctx.Err())
	}
}

// Close implements [sequent.Store]. It waits for commits in progress; watches end
// with an error.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		s.feed.Close(record.ErrClosed)
		s.stop()
		s.running.Wait()
		s.closePools()
	})
	return nil
}

func (s *Store) closePools() {
	s.commits.Close()
	s.pool.Close()
}

// rollback rolls back a transaction, unless it has ended.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = tx.Rollback(ctx) // closing the connection rolls back too
}

// inTx calls do in a transaction. All errors are notCommitted, except those of
// COMMIT.
func inTx(ctx context.Context, pool *pgxpool.Pool, options pgx.TxOptions, do func(pgx.Tx) error) error {
	tx, err := pool.BeginTx(ctx, options)
	if err != nil {
		return notCommitted{err}
	}
	defer rollback(ctx, tx)
	if err := do(tx); err != nil {
		return notCommitted{err}
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	return commitLost(tx.Conn())
}

// commitLost returns an error if the last COMMIT of a connection succeeded although a
// worker of Citus did not confirm it: Citus only warns then.
func commitLost(conn *pgx.Conn) error {
	data := conn.PgConn().CustomData()
	message, lost := data[lostCommit]
	if !lost {
		return nil
	}
	delete(data, lostCommit)
	return fmt.Errorf("%v: %w", message, io.ErrUnexpectedEOF) // a connection error: the worker may have committed
}

// lostCommit is the key of the message in a connection's CustomData.
const lostCommit = "lost commit"

func noteLostCommit(conn *pgconn.PgConn, n *pgconn.Notice) {
	if strings.HasPrefix(n.Message, "failed to commit") {
		conn.CustomData()[lostCommit] = n.Message
	}
}

// notCommitted is an error of a transaction before COMMIT.
type notCommitted struct{ error }

func (e notCommitted) Unwrap() error { return e.error }

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
