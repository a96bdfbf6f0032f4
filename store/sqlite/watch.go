package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// pollInterval is the time between two polls of the file.
const pollInterval = 50 * time.Millisecond

// A poller reports commits of other Stores and processes to the feed, while there are
// watches.
type poller struct {
	mu      sync.Mutex
	running bool
	done    sync.WaitGroup
}

// Watch implements [sequent.Watcher]. Commits of this Store are reported at once, and
// those of others within pollInterval.
func (s *Store) Watch(ctx context.Context) (*sequent.Watch, error) {
	p := &s.poller
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, s.wrap(err)
	}
	w := s.feed.Watch() // before the poller looks for watches
	if p.running {
		return w, nil
	}
	v := &version{store: s}
	if err := v.read(ctx); err != nil {
		v.close()
		w.Close()
		return nil, s.wrap(err)
	}
	p.running = true
	p.done.Go(func() { s.poll(v) })
	return w, nil
}

// poll polls until there are no watches or the store is closed.
func (s *Store) poll(v *version) {
	defer v.close()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.closed:
			return
		case <-tick.C:
		}
		s.poller.mu.Lock()
		s.poller.running = s.feed.Watched()
		idle := !s.poller.running
		s.poller.mu.Unlock()
		if idle {
			return
		}
		before := *v
		if replaced, _ := s.isReplaced(); replaced {
			_ = s.withWriter(context.Background(), func(*writer) error { return nil }) // otherwise calls return its error
		}
		if v.read(context.Background()) != nil {
			v.value = -1
		}
		if *v != before {
			s.feed.Lost()
		}
	}
}

// A version tells whether other connections than its own have committed.
type version struct {
	store *Store
	conn  *sql.Conn // of the writer, which does not see its own commits, or of a read-only store
	value int64
}

func (v *version) read(ctx context.Context) (err error) {
	s := v.store
	if !s.readOnly {
		if err := s.acquire(ctx); err != nil {
			return err
		}
		defer s.release()
		if s.writer == nil { // it failed, and its successor does not know what it saw
			v.conn = nil
			return nil
		}
		v.conn = s.writer.conn
	} else if v.conn == nil {
		if v.conn, err = s.readers.Conn(ctx); err != nil {
			return err
		}
	}
	return v.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v.value)
}

// close ignores errors of the file: readers of the file get them too.
func (v *version) close() {
	if v.store.readOnly && v.conn != nil {
		_ = v.conn.Close()
	}
}
