// Package watch tells of changes of sessions. However many clients watch a
// session, the store is asked to wait for it once.
package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// retryAfter is how long a watcher waits after an error of the store before it
// looks again.
const retryAfter = time.Second

// A Watcher watches the sessions of one engine. It is safe for concurrent use.
type Watcher struct {
	engine *sequent.Engine

	mu       sync.Mutex // guards what follows, entries included
	sessions map[sequent.Key]*entry
}

// An entry is a session that somebody watches.
type entry struct {
	told   map[*watcher]struct{}
	cancel context.CancelFunc
	done   chan struct{} // closed when nobody is told any more
}

// A watcher is one who is told.
type watcher struct{ changed func(gone bool) }

// New returns a watcher of the sessions in engine.
func New(engine *sequent.Engine) *Watcher {
	return &Watcher{engine: engine, sessions: make(map[sequent.Key]*entry)}
}

// Watch calls changed after each change of a session that happens after the call,
// and with gone set, for the last time, when the session does not exist any more.
// Changes in quick succession can be one call. Changed must not wait, and must not
// call stop. The error matches sequent.ErrNotFound if there is no such session.
func (w *Watcher) Watch(ctx context.Context, owner string, id sequent.ID, changed func(gone bool)) (stop func(), err error) {
	engine, key, me := w.engine.Owned(owner), sequent.Key{Owner: owner, ID: id}, &watcher{changed}
	// It is added before the session is read, so that no change is missed.
	w.mu.Lock()
	e := w.sessions[key]
	if e != nil {
		e.told[me] = struct{}{}
	}
	w.mu.Unlock()
	s, err := engine.Session(ctx, id)
	switch {
	case err != nil && e != nil:
		w.leave(key, e, me)
		return nil, err
	case err != nil:
		return nil, err
	case e == nil:
		e = w.enter(engine, key, s.Position(), me)
	}
	return func() { w.leave(key, e, me) }, nil
}

// enter adds a watcher to the entry of a session, and makes that if it is not
// there. Have is where the session stood when the watcher looked.
func (w *Watcher) enter(engine *sequent.Engine, key sequent.Key, have sequent.Position, me *watcher) *entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.sessions[key]
	if e == nil {
		ctx, cancel := context.WithCancel(context.Background()) // it outlives the request
		e = &entry{told: make(map[*watcher]struct{}), cancel: cancel, done: make(chan struct{})}
		w.sessions[key] = e
		go func() {
			defer close(e.done)
			w.follow(ctx, engine, key, e, have)
		}()
	} else {
		me.changed(false) // what happened since the look can have been told already
	}
	e.told[me] = struct{}{}
	return e
}

// leave removes a watcher. After the last it waits until the entry has ended.
func (w *Watcher) leave(key sequent.Key, e *entry, me *watcher) {
	w.mu.Lock()
	delete(e.told, me)
	last := len(e.told) == 0
	if last && w.sessions[key] == e {
		delete(w.sessions, key)
	}
	w.mu.Unlock()
	if last {
		e.cancel()
		<-e.done
	}
}

// follow tells the watchers of a session of its changes after a position, until
// ctx is done or the session is gone.
func (w *Watcher) follow(ctx context.Context, engine *sequent.Engine, key sequent.Key, e *entry, have sequent.Position) {
	for {
		err := engine.Await(ctx, key.ID, have)
		var s *sequent.Session
		if err == nil {
			s, err = engine.Session(ctx, key.ID)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, sequent.ErrNotFound):
			w.tell(key, e, true)
			return
		case err != nil:
			if !pause(ctx) {
				return
			}
		case s.Position() != have:
			have = s.Position()
			w.tell(key, e, false)
		}
	}
}

// tell calls all watchers of a session.
func (w *Watcher) tell(key sequent.Key, e *entry, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gone && w.sessions[key] == e {
		delete(w.sessions, key)
	}
	for me := range e.told {
		me.changed(gone)
	}
}

// pause waits after an error, and reports whether ctx is still to be served.
func pause(ctx context.Context) bool {
	t := time.NewTimer(retryAfter)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
