package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Watch implements [sequent.Store]. Commits of this Store are reported at once, and
// those of others within pollInterval.
func (s *Store) Watch(ctx context.Context) (*sequent.Watch, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap(err)
	}
	w := s.feed.Watch() // before start, so that the poller does not stop
	if err := s.poller.start(ctx); err != nil {
		w.Close()
		return nil, s.wrap(err)
	}
	return w, nil
}

// pollInterval is the time between two polls of the file.
const pollInterval = 50 * time.Millisecond

// A poller reports commits of other Stores and processes to the feed. It polls the
// file once, however many sessions are watched, while there are watches.
type poller struct {
	store *Store

	mu      sync.Mutex // guards the fields below
	running bool       // a goroutine runs poll
	closed  bool
	seen    marks
	done    sync.WaitGroup
}

// Marks are the last rows of the tables that grow with each change, in the order of
// commits.
type marks struct {
	thoughts  int64 // a change that adds thoughts
	touched   int64 // any other change of a session
	forgotten int64 // a deletion
	// schema grows when SQLite restores a copy over the file. Then rows up to the other
	// marks may be different ones.
	schema int64
}

const (
	selectMarks = `
		SELECT (SELECT coalesce(max(id), 0) FROM thoughts), (SELECT coalesce(max(id), 0) FROM touched),
			(SELECT coalesce(max(id), 0) FROM forgotten), (SELECT schema_version FROM pragma_schema_version)`
	selectChanged = `
		SELECT owner, id FROM tool_sessions WHERE key IN (
			SELECT session FROM thoughts WHERE id > ? AND id <= ?
			UNION SELECT session FROM touched WHERE id > ? AND id <= ?)`
)

// start starts the polling if it is not running. Every later commit is reported while
// there are watches.
func (p *poller) start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return record.ErrClosed
	case p.running:
		return nil
	}
	v, err := openDataVersion(ctx, p.store.readers)
	if err != nil {
		return err
	}
	if p.seen, err = v.marks(ctx); err != nil {
		v.close()
		return err
	}
	p.running = true
	p.done.Go(func() { p.poll(v) })
	return nil
}

// poll polls until there are no watches or the store is closed.
func (p *poller) poll(v *dataVersion) {
	defer v.close()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.store.closed:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		idle := !p.store.feed.Watched()
		p.running = !idle
		p.mu.Unlock()
		if idle {
			return
		}
		topics, complete := p.changes(v)
		if complete {
			p.store.feed.Touched(topics...)
		} else {
			p.store.feed.Lost()
		}
	}
}

// maxReported limits the sessions that one poll reports.
const maxReported = 5000

// changes returns the sessions that were changed since the last call. They are
// incomplete if there were deletions, too many changes, or an error; a reader of the
// file gets that error too.
func (p *poller) changes(v *dataVersion) (changed []sequent.Topic, complete bool) {
	ctx := context.Background()
	p.mu.Lock()
	seen := p.seen
	p.mu.Unlock()
	if changed, err := v.changed(ctx); err != nil || !changed {
		return nil, err == nil
	}
	now, err := v.marks(ctx)
	if err != nil {
		return nil, false
	}
	if now.schema != seen.schema || now.thoughts < seen.thoughts || now.touched < seen.touched || now.forgotten < seen.forgotten {
		p.mu.Lock()
		p.seen = now
		p.mu.Unlock()
		return nil, false // the file has been restored from a copy
	}
	// Own may have moved the marks meanwhile, past rows that are in now or later.
	p.mu.Lock()
	seen = p.seen
	now.thoughts, now.touched, now.forgotten = max(now.thoughts, seen.thoughts), max(now.touched, seen.touched), max(now.forgotten, seen.forgotten)
	p.seen = now
	p.mu.Unlock()
	switch {
	case now == seen:
		return nil, true // only this Store has committed
	case now.forgotten > seen.forgotten, now.thoughts-seen.thoughts+now.touched-seen.touched > maxReported:
		return nil, false
	}
	changed, err = v.topics(ctx, seen, now)
	return changed, err == nil
}

// own moves the marks past what a transaction of this Store has added, which the feed
// reports itself: last are the last rows, added is their number. If another process
// has committed since the last poll, the next one finds these rows again.
func (p *poller) own(last, added marks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range []struct {
		seen        *int64
		last, added int64
	}{
		{&p.seen.thoughts, last.thoughts, added.thoughts},
		{&p.seen.touched, last.touched, added.touched},
		{&p.seen.forgotten, last.forgotten, added.forgotten},
	} {
		if *m.seen == m.last-m.added {
			*m.seen = m.last
		}
	}
}

// close waits for the polling to stop. The caller has closed store.closed, unless
// there were no watches yet.
func (p *poller) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.done.Wait()
}

// A dataVersion tells whether other connections have committed since the last
// look.
type dataVersion struct {
	conn  *sql.Conn
	stmt  *sql.Stmt
	last  *sql.Stmt // selectMarks
	value int64
}

func openDataVersion(ctx context.Context, db *sql.DB) (*dataVersion, error) {
	v := new(dataVersion)
	var err error
	if v.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if v.stmt, err = v.conn.PrepareContext(ctx, "PRAGMA data_version"); err != nil {
		return nil, errors.Join(err, v.conn.Close())
	}
	if v.last, err = v.conn.PrepareContext(ctx, selectMarks); err != nil {
		return nil, errors.Join(err, v.stmt.Close(), v.conn.Close())
	}
	if _, err := v.changed(ctx); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// changed reports whether there was a commit since the last call.
func (v *dataVersion) changed(ctx context.Context) (bool, error) {
	before := v.value
	err := v.stmt.QueryRowContext(ctx).Scan(&v.value)
	return v.value != before, err
}

func (v *dataVersion) marks(ctx context.Context) (m marks, err error) {
	err = v.last.QueryRowContext(ctx).Scan(&m.thoughts, &m.touched, &m.forgotten, &m.schema)
	return m, err
}

// topics returns the sessions with rows after from, up to to, that still exist.
func (v *dataVersion) topics(ctx context.Context, from, to marks) (topics []sequent.Topic, err error) {
	rows, err := v.conn.QueryContext(ctx, selectChanged, from.thoughts, to.thoughts, from.touched, to.touched)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var k sequent.Key
		if err := rows.Scan(&k.Owner, &k.ID); err != nil {
			return nil, err
		}
		topics = append(topics, k.Topic())
	}
	return topics, rows.Err()
}

// close ignores errors of the file: readers of the file get them too.
func (v *dataVersion) close() {
	_ = v.stmt.Close()
	_ = v.last.Close()
	_ = v.conn.Close()
}
