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

// Wait implements [sequent.Store]. It notices commits of this Store at once, and
// those of others within pollInterval.
func (s *Store) Wait(ctx context.Context, k sequent.Key, have sequent.Position) error {
	// Subscribe before the first read, so that no commit is missed.
	own := s.hub.Subscribe(k)
	defer own.Close()
	others := s.poller.hub.Subscribe(struct{}{})
	defer others.Close()
	if err := s.poller.addWaiter(ctx); err != nil {
		return s.wrap(err)
	}
	defer s.poller.removeWaiter()
	for {
		if k != (sequent.Key{}) {
			if moved, err := s.moved(ctx, k, have); moved || err != nil {
				return s.wrap(err)
			}
		}
		select {
		case <-own.C():
			return nil
		case <-others.C():
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

// moved reports whether the position of a session differs from have.
func (s *Store) moved(ctx context.Context, k sequent.Key, have sequent.Position) (bool, error) {
	var now sequent.Position
	err := s.loading.position.QueryRowContext(ctx, k.Owner, k.ID).Scan(&now.Epoch, &now.Version, &now.Len)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return now != have, err
}

// pollInterval is the time between two polls of the file.
const pollInterval = 50 * time.Millisecond

// A poller notices commits of other Stores and processes by polling the file while
// there are waiters.
type poller struct {
	store *Store
	hub   wake.Hub[struct{}]

	mu      sync.Mutex // guards the fields below
	waiters int
	running bool // a goroutine runs poll
	closed  bool
	done    sync.WaitGroup
}

// addWaiter starts the polling if it is not running. Every later commit is noticed
// until removeWaiter.
func (p *poller) addWaiter(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return record.ErrClosed
	}
	if !p.running {
		v, err := openDataVersion(ctx, p.store.readers)
		if err != nil {
			return err
		}
		p.running = true
		p.done.Go(func() { p.poll(v) })
	}
	p.waiters++
	return nil
}

func (p *poller) removeWaiter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters--
}

// poll polls until there are no waiters or the store is closed.
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
		idle := p.waiters == 0
		p.running = !idle
		p.mu.Unlock()
		if idle {
			return
		}
		if v.changed() {
			p.hub.Wake(struct{}{})
		}
	}
}

// close waits for the polling to stop. The caller has closed store.closed, unless
// there were no waiters yet.
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
	if err := v.stmt.QueryRowContext(ctx).Scan(&v.value); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// changed reports whether there was a commit since the last call. It returns true
// after an error, so that waiters read the file and see the error.
func (v *dataVersion) changed() bool {
	before := v.value
	err := v.stmt.QueryRowContext(context.Background()).Scan(&v.value)
	return err != nil || v.value != before
}

// close ignores errors of the file: readers of the file get them too.
func (v *dataVersion) close() {
	_ = v.stmt.Close()
	_ = v.conn.Close()
}
