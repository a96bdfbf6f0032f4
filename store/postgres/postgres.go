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
	"database/sql"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A Config configures a [Store].
type Config struct {
	URL          string        // postgres://…, or key=value pairs; required. It may contain a password.
	RetryTimeout time.Duration // maximum time to retry while the server is unreachable; 0 means 5 s
	Logger       *slog.Logger  // nil means slog.Default()
}

// statementTimeout limits each statement, unless the address does.
const statementTimeout = 30 * time.Second

// A Store is a [sequent.Store] in PostgreSQL. Use [Open].
type Store struct {
	sqlstore.Store

	database     *sqlstore.Database
	config       *pgx.ConnConfig
	distributed  bool          // the tables are on workers of Citus
	db, commits  *sql.DB       // connections of commits are apart, so that neither wait for the others
	patient      chan struct{} // holds a token for each commit that waits for a session
	retryTimeout time.Duration
	log          *slog.Logger

	feed      sequent.Feed
	channel   string // of notifications; each schema has its own
	sender    string // of this Store's notifications, which its listener skips
	listen    sync.Once
	listening chan struct{} // closed when the listener listens for the first time

	closing    sync.Once
	closed     atomic.Bool
	background context.Context // of the listener
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// Open opens the store at cfg.URL and creates its tables if they do not exist.
// Several processes may do so at the same time. A store of another format is refused
// with [sequent.CodeOtherFormat].
//
// If the address has the parameter distributed=1, the tables are created distributed
// over the workers of a Citus cluster. A store that exists stays what it is.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	config, distributed, err := parse(cfg)
	if err != nil {
		return nil, err
	}
	s := &Store{
		config: config, distributed: distributed,
		retryTimeout: cmp.Or(cfg.RetryTimeout, 5*time.Second),
		log:          cmp.Or(cfg.Logger, slog.Default()),
		sender:       rand.Text(),
		listening:    make(chan struct{}),
	}
	s.background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.retry(ctx, s.create); err != nil {
		return nil, wrap(ctx, err)
	}
	s.database = &sqlstore.Database{Read: s.read, Write: s.write, Sources: sources, Part: partOf, Copy: copySession, Lock: lock, Decode: unpack}
	s.Store = sqlstore.New(s.database)
	connections := 4   // for commits, and as many for other calls; a process uses one more to watch
	if s.distributed { // where a batch is many transactions
		connections = 16
	}
	open := func(config *pgx.ConnConfig, settings map[string]string) *sql.DB {
		set(config, settings)
		db := stdlib.OpenDB(*config)
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		db.SetConnMaxIdleTime(30 * time.Minute)
		return db
	}
	s.patient = make(chan struct{}, connections/4)
	// The best plan of a commit does not depend on its arguments, and planning would take half
	// of the server's time; that of a search does.
	commit := map[string]string{"lock_timeout": strconv.FormatInt(lockTimeout.Milliseconds(), 10), "plan_cache_mode": "force_generic_plan"}
	committing := s.config.Copy()
	if s.distributed {
		// A worker makes a commit durable: the coordinator has only the notification.
		commit["synchronous_commit"] = "off"
		committing.RuntimeParams["statement_timeout"] = strconv.FormatInt(remoteTimeout.Milliseconds(), 10)
	}
	s.commits, s.db = open(committing, commit), open(s.config.Copy(), map[string]string{"plan_cache_mode": "force_custom_plan"})
	return s, nil
}

// parse parses cfg.URL, and adds settings that it does not contain.
func parse(cfg Config) (config *pgx.ConnConfig, distributed bool, err error) {
	config, err = pgx.ParseConfig(cfg.URL)
	if err != nil { // which may contain the password
		return nil, false, refuse("the address of the database is not valid",
			"write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in USER and PASSWORD as %XX")
	}
	if value, has := config.RuntimeParams["distributed"]; has {
		delete(config.RuntimeParams, "distributed") // the server does not know it
		if distributed, err = strconv.ParseBool(value); err != nil {
			return nil, false, refuse("distributed="+value+" in the address of the database is neither 1 nor 0", "write distributed=1, or leave it out")
		}
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, 5*time.Second)
	config.OnNotice = noteLostCommit
	timeout := statementTimeout.Milliseconds()
	set(config, map[string]string{
		"application_name":                    "sequent",
		"statement_timeout":                   strconv.FormatInt(timeout, 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt(2*timeout, 10),
		// Every statement has an index, but PostgreSQL may prefer a sequential scan
		// while a table that has just been filled has no statistics.
		"enable_seqscan": "off",
		"jit":            "off",
	})
	return config, distributed, nil
}

// set adds settings that the address does not contain.
func set(config *pgx.ConnConfig, settings map[string]string) {
	for name, value := range settings {
		if _, has := config.RuntimeParams[name]; !has {
			config.RuntimeParams[name] = value
		}
	}
}

// retry calls do until it succeeds, fails with an error that does not pass, or the time for
// retries ends. Repeating do must do no harm: an attempt that failed may have had its effect.
func (s *Store) retry(ctx context.Context, do func(context.Context) error) error {
	deadline := time.Now().Add(s.retryTimeout)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		attempt, cancel := context.WithTimeout(ctx, statementTimeout+5*time.Second) // the server's timeout fires first
		err := do(attempt)
		cancel()
		if err == nil || ctx.Err() != nil || !isLost(err) && !isPassing(err) || time.Now().Add(wait).After(deadline) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		case <-s.background.Done():
			return sqlstore.ErrClosed
		}
	}
}

// checkOpen returns an error if the store is closed or ctx has ended.
func (s *Store) checkOpen(ctx context.Context) error {
	if s.closed.Load() {
		return sqlstore.ErrClosed
	}
	return wrap(ctx, ctx.Err())
}

// Close implements [sequent.Store]. It waits for commits in progress; watches end
// with an error.
func (s *Store) Close() (err error) {
	s.closing.Do(func() {
		s.closed.Store(true)
		s.feed.Close(sqlstore.ErrClosed)
		s.stop()
		s.running.Wait()
		err = errors.Join(s.commits.Close(), s.db.Close())
	})
	return err
}

// lostCommit is the key of a connection's CustomData with the message of Citus that a worker
// did not confirm a COMMIT, which succeeds nevertheless.
const lostCommit = "lost commit"

func noteLostCommit(conn *pgconn.PgConn, n *pgconn.Notice) {
	if strings.HasPrefix(n.Message, "failed to commit") {
		conn.CustomData()[lostCommit] = n.Message
	}
}
