package postgres

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

const (
	// maxThoughtBytes is well below PostgreSQL's limit of 1 GB for a message.
	maxThoughtBytes = 200 << 20

	// lockTimeout bounds the wait of a statement for a lock. After it, the connection serves others.
	lockTimeout = 200 * time.Millisecond
	// remoteTimeout is the same for a whole statement on Citus, whose shard may be moving: workers
	// would have to be told of a lock_timeout.
	remoteTimeout = time.Second
)

// Commit implements [sequent.Store].
//
// One statement stores all writes whose sessions are at their bases and not locked by another
// process. The others, and on Citus all, follow side by side, each in a transaction that locks the
// session while Rebase is called.
//
// An attempt is repeated if the connection breaks. It stores nothing that is stored already:
// it sees its own hash in the log.
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	var left []*sequent.Write
	for _, w := range batch {
		if w.Err = sqlstore.CheckSize(w, maxThoughtBytes); w.Err == nil {
			left = append(left, w)
		}
	}
	sent := false
	if len(left) > 0 && !left[0].Wait && !s.distributed {
		left, sent = s.together(ctx, left)
	}
	s.apart(ctx, left, sent)
	return nil
}

// apart stores writes side by side. Sent says that they may be stored already. It panics with what
// one of them panics with, such as a Rebase.
func (s *Store) apart(ctx context.Context, writes []*sequent.Write, sent bool) {
	var running sync.WaitGroup
	panics := make(chan any, len(writes))
	for _, w := range writes {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- p
				}
			}()
			if err := s.wrap(ctx, s.alone(ctx, w, sent)); err != nil {
				w.Err = err
			}
		})
	}
	running.Wait()
	select {
	case p := <-panics:
		panic(p)
	default:
	}
}

// alone stores a write in a transaction of its own. Sent says that an attempt may have stored
// it already.
func (s *Store) alone(ctx context.Context, w *sequent.Write, sent bool) error {
	a := attempt{Store: s, write: w, sent: sent}
	for wait, deadline := 10*time.Millisecond, time.Now().Add(statementTimeout); ; wait = min(2*wait, 500*time.Millisecond) {
		err := s.retry(ctx, a.run)
		locked := s.isLocked(err)
		switch {
		case locked && !a.waits():
			return sequent.ErrLocked
		case locked && time.Now().Add(wait).Before(deadline):
		case err != nil && a.sent:
			s.feed.Touched(w.Header.Topic())
			return uncertain(err)
		default:
			return err
		}
		select {
		case <-time.After(wait):
		case <-s.background.Done():
			return sqlstore.ErrClosed
		}
	}
}

// An attempt is a write alone.
type attempt struct {
	*Store
	write *sequent.Write
	sent  bool // a transaction may have stored the write
}

// waits reports whether the attempt waits for a session that another process has locked, which
// may be the server's own process of an earlier attempt.
func (a *attempt) waits() bool { return a.write.Wait || a.sent }

// errAgain says that the session was changed, begun or moved to another server while the
// transaction saw it as it was.
var errAgain = &pgconn.PgError{Code: "40001", Message: "the session has changed"}

// run tries once.
func (a *attempt) run(ctx context.Context) error {
	if a.waits() { // only some connections wait for sessions
		a.patient <- struct{}{}
		defer func() { <-a.patient }()
	}
	return a.withConn(ctx, func(c *conn) error {
		var key int64
		var b pgx.Batch
		b.Queue("BEGIN")
		if a.distributed || a.waits() { // otherwise a batch has tried already
			queueSwap(&b, a.write, &key)
		}
		if err := c.send(ctx, &b); err != nil {
			return err
		}
		if key == 0 {
			if fits, err := a.rebase(ctx, c); !fits || err != nil {
				return err
			}
			var b pgx.Batch
			queueSwap(&b, a.write, &key)
			if err := c.send(ctx, &b); err != nil {
				return err
			}
			if key == 0 {
				return errAgain
			}
		}
		b = pgx.Batch{}
		for i := range a.write.Entries {
			b.Queue(insertEntry, packed(append([]any{partOf(a.write.Header.Key), key}, entryValues(&a.write.Entries[i])...))...)
		}
		b.Queue(notify, a.channel, a.payload([]sequent.Topic{a.write.Header.Topic()}))
		b.Queue("COMMIT")
		sent := a.sent
		a.sent = true
		err := c.send(ctx, &b)
		if err != nil && (!isLost(err) || hadNoEffect(err)) {
			a.sent = sent
		}
		if err == nil {
			a.feed.Touched(a.write.Header.Topic())
		}
		return err
	})
}

// queueSwap adds a statement that changes the row of a session if it is at the base of the write,
// or inserts it. Then key becomes its key.
func queueSwap(b *pgx.Batch, w *sequent.Write, key *int64) {
	values := []any{partOf(w.Header.Key), w.Header.Owner, string(w.Header.ID)}
	text := insertSession
	if w.Base.Version > 0 {
		text = updateSession
		values = append(values, w.Base.Epoch, int64(w.Base.Version), w.Base.Head[:])
	}
	b.Queue(text, packed(append(values, sessionValues(&w.Header)...))...).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(key); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
}

// rebase locks the session and rebases the write unless it is at its base. It reports whether
// the write is to be stored.
func (a *attempt) rebase(ctx context.Context, c *conn) (bool, error) {
	w, how := a.write, skipLocked
	if a.waits() {
		how = lock
	}
	r, err := a.database.Find(ctx, c, w.Header.Key, how)
	if errors.Is(err, sequent.ErrNotFound) {
		if _, err := a.database.Find(ctx, c, w.Header.Key, ""); err == nil {
			return false, sequent.ErrLocked
		} else if !errors.Is(err, sequent.ErrNotFound) {
			return false, err
		}
	} else if err != nil {
		return false, err
	}
	var tail []sequent.Entry
	if r.Key != 0 {
		if tail, err = a.database.Log(ctx, c, r, w.Base); err != nil {
			return false, err
		}
	}
	switch {
	case a.sent && isStored(w, &r.Header, tail):
		a.feed.Touched(w.Header.Topic())
		return false, nil
	case r.Header.Position() != w.Base && !w.Rebase(r.Header, tail):
		return false, nil
	}
	if w.Err = sqlstore.CheckSize(w, maxThoughtBytes); w.Err != nil {
		return false, nil
	}
	return true, nil
}

// isStored reports whether a session has a write.
func isStored(w *sequent.Write, now *sequent.Header, tail []sequent.Entry) bool {
	if len(w.Entries) == 0 {
		return now.Seal == w.Header.Seal
	}
	return slices.ContainsFunc(tail, func(e sequent.Entry) bool { return e.Hash == w.Header.Head })
}

// together stores the writes whose sessions are at their bases and not locked by others, and returns
// those that are left, and whether they may be stored nevertheless.
func (s *Store) together(ctx context.Context, batch []*sequent.Write) (left []*sequent.Write, sent bool) {
	var rows, log [][]any
	topics := make([]sequent.Topic, len(batch))
	text := changeBatch
	for i, w := range batch {
		if w.Base.Version == 0 {
			text = storeBatch
		}
		topics[i] = w.Header.Topic()
		rows = append(rows, packed(append([]any{
			partOf(w.Header.Key), w.Header.Owner, string(w.Header.ID), w.Base.Epoch, int64(w.Base.Version), w.Base.Head[:],
		}, sessionValues(&w.Header)...)))
		for j := range w.Entries {
			log = append(log, packed(append([]any{int64(i + 1)}, entryValues(&w.Entries[j])...)))
		}
	}
	stored := make([]bool, len(batch))
	err := s.withConn(ctx, func(c *conn) error {
		args := slices.Concat(columns(exampleRow, rows), columns(exampleEntry, log), []any{s.channel, s.payload(topics)})
		return c.raw(func(c *pgx.Conn) error {
			found, err := c.Query(ctx, text, args...)
			if err != nil {
				return err
			}
			var n int
			_, err = pgx.ForEachRow(found, []any{&n, nil}, func() error {
				stored[n-1] = true
				return nil
			})
			return err
		})
	})
	var changed []sequent.Topic
	for i, w := range batch {
		switch {
		case err == nil && stored[i]:
			changed = append(changed, topics[i])
		case s.isLocked(err): // each waits alone
			w.Err = sequent.ErrLocked
		default:
			left = append(left, w)
		}
	}
	s.feed.Touched(changed...)
	return left, isLost(err) && !hadNoEffect(err)
}

// A conn is a connection for commits. It is a [sqlstore.Tx], too.
type conn struct {
	tx
	conn *sql.Conn
}

// withConn calls do with a connection and ends the transaction in which do has left it.
func (s *Store) withConn(ctx context.Context, do func(*conn) error) error {
	sqlConn, err := s.commits.Conn(ctx)
	if err != nil {
		return err
	}
	c := &conn{tx{sqlConn}, sqlConn}
	defer func() {
		_ = c.raw(func(c *pgx.Conn) error { // a connection that fails here is not used again
			if !c.IsClosed() && c.PgConn().TxStatus() != 'I' {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
				defer cancel()
				_, err := c.Exec(ctx, "ROLLBACK")
				return err
			}
			return nil
		})
		_ = sqlConn.Close()
	}()
	return do(c)
}

func (c *conn) raw(do func(*pgx.Conn) error) error {
	return c.conn.Raw(func(driver any) error { return do(driver.(*stdlib.Conn).Conn()) })
}

// send sends statements at once and waits for their results.
func (c *conn) send(ctx context.Context, b *pgx.Batch) error {
	return c.raw(func(c *pgx.Conn) error {
		err := c.SendBatch(ctx, b).Close()
		if data := c.PgConn().CustomData(); err == nil && data[lostCommit] != nil {
			delete(data, lostCommit)
			err = errLostCommit
		}
		return err
	})
}
