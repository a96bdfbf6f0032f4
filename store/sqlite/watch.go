package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/sequent-dev/sequent"
)

// pollInterval is the time between two polls of the file.
const pollInterval = 50 * time.Millisecond

// Watch implements [sequent.Watcher]. Commits of this Store are reported at once, and
// those of others within pollInterval.
func (s *Store) Watch(ctx context.Context) (*sequent.Watch, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, s.wrap(err)
	}
	defer func() { <-s.writing }()
	if !s.feed.Watched() {
		s.look(ctx)
	}
	s.polling.Do(func() { s.poller.Go(s.poll) })
	return s.feed.Watch(), nil
}

// poll polls the file until the store is closed.
func (s *Store) poll() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.closed:
			return
		case <-tick.C:
		}
		if !s.feed.Watched() {
			continue
		}
		if replaced, _ := s.isReplaced(); replaced {
			_ = s.withWriter(context.Background(), func(*writer) error { return nil }) // otherwise calls return its error
		}
		if s.acquire(context.Background()) != nil {
			return
		}
		changed := s.look(context.Background())
		<-s.writing
		if changed {
			s.feed.Lost()
		}
	}
}

// A version tells whether other connections than its own have committed.
type version struct {
	conn  *sql.Conn
	value int64
}

// look reports whether others may have committed since the last look. The writer, if there is
// one, does not see its own commits. The caller holds s.writing.
func (s *Store) look(ctx context.Context) bool {
	now := version{conn: s.file.first}
	if s.writer != nil {
		now.conn = s.writer.conn
	}
	var err error
	now.value, err = dataVersion(ctx, now.conn)
	was := s.seen
	s.seen = now
	return err != nil || now != was
}

func dataVersion(ctx context.Context, conn *sql.Conn) (v int64, err error) {
	err = conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v)
	return v, err
}
