package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/wake"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Wait implements [sequent.Store]. Commits of this handle wake at once, those
// of others within the interval of a glance at the file.
func (s *Store) Wait(ctx context.Context, k sequent.Key, have sequent.Position) error {
	// Both places are taken before the look, so that nothing is missed.
	here := s.hub.Subscribe(k)
	defer here.Close()
	elsewhere := s.others.hub.Subscribe(struct{}{})
	defer elsewhere.Close()
	if err := s.others.enter(ctx); err != nil {
		return s.wrap(err)
	}
	defer s.others.leave()
	for {
		if k != (sequent.Key{}) {
			if moved, err := s.moved(ctx, k, have); moved || err != nil {
				return s.wrap(err)
			}
		}
		select {
		case <-here.C():
			return nil
		case <-elsewhere.C():
			if k == (sequent.Key{}) {
				return nil
			}
		case <-s.closed:
			return record.ErrClosed
		case <-ctx.Done():
			return wrap(ctx.Err())
		}
	}
}

func (s *Store) moved(ctx context.Context, k sequent.Key, have sequent.Position) (bool, error) {
	var now sequent.Position
	err := s.loading.position.QueryRowContext(ctx, k.Owner, k.ID).Scan(&now.Epoch, &now.Version, &now.Len)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return now != have, err
}

// glance is how often the file is looked at while somebody waits.
const glance = 50 * time.Millisecond

// A watch notices commits of other handles and processes. It looks at the file
// only while somebody waits.
type watch struct {
	store *Store
	hub   wake.Hub[struct{}]

	mu      sync.Mutex // guards what follows
	waiting int
	looking bool // a goroutine looks at the file
	ended   bool // nobody may look at it any more
	done    sync.WaitGroup
}

// enter makes sure that every commit from now on is noticed, until leave.
func (w *watch) enter(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return record.ErrClosed
	}
	if !w.looking {
		g, err := w.open(ctx)
		if err != nil {
			return err
		}
		w.looking = true
		w.done.Go(func() { w.look(g) })
	}
	w.waiting++
	return nil
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
}

// look glances at the file until nobody waits any more.
func (w *watch) look(g *glancer) {
	defer g.close()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case <-w.store.closed:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		idle := w.waiting == 0
		w.looking = !idle
		w.mu.Unlock()
		if idle {
			return
		}
		if g.changed() {
			w.hub.Wake(struct{}{})
		}
	}
}

// end lets nobody enter any more, and waits until nobody looks at the file. Those
// who look know that the store is closed.
func (w *watch) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.done.Wait()
}

// A glancer tells whether another connection has committed.
type glancer struct {
	conn    *sql.Conn
	stmt    *sql.Stmt
	version int64
}

func (w *watch) open(ctx context.Context) (*glancer, error) {
	g := new(glancer)
	var err error
	if g.conn, err = w.store.readers.Conn(ctx); err != nil {
		return nil, err
	}
	if g.stmt, err = g.conn.PrepareContext(ctx, "PRAGMA data_version"); err != nil {
		return nil, errors.Join(err, g.conn.Close())
	}
	if err := g.stmt.QueryRowContext(ctx).Scan(&g.version); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// changed reports a change since the last call. A file that cannot be read
// counts as changed, so that those who wait look for themselves.
func (g *glancer) changed() bool {
	before := g.version
	err := g.stmt.QueryRowContext(context.Background()).Scan(&g.version)
	return err != nil || g.version != before
}

// close gives the connection back. An error would be one of the file, and
// those who read it will see it.
func (g *glancer) close() {
	_ = g.stmt.Close()
	_ = g.conn.Close()
}
