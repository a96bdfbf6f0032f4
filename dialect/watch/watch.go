// Package watch reports changes of sessions, as a dialect.Template needs it. For each
// session it waits in the store once, however many clients watch it.
package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// retryAfter is the wait before the store is asked again after an error.
const retryAfter = time.Second

// A Watcher watches the sessions of an engine. It is safe for concurrent use.
type Watcher struct {
	engine *sequent.Engine

	mu       sync.Mutex // guards sessions and their subscribers
	sessions map[sequent.Key]*session
}

// A session is a session that is watched.
type session struct {
	subscribers map[*subscriber]struct{}
	cancel      context.CancelFunc
	done        chan struct{} // closed when follow has returned
}

// A subscriber is one call of Watch.
type subscriber struct{ changed func(gone bool) }

// New returns a watcher of the sessions in engine.
func New(engine *sequent.Engine) *Watcher {
	return &Watcher{engine: engine, sessions: make(map[sequent.Key]*session)}
}

// Watch calls changed after each change of the session from now on, until stop is
// called. Changes in quick succession may be one call. If the session is deleted, the
// last call has gone set.
//
// Changed must not block and must not call stop. Stop returns when changed is not
// called any more; it must be called even if the session is gone. Ctx is for Watch
// itself and does not end the watch. Errors are those of [sequent.Engine.Session]:
// one that matches [sequent.ErrNotFound] if there is no such session.
func (w *Watcher) Watch(ctx context.Context, owner string, id sequent.ID, changed func(gone bool)) (stop func(), err error) {
	engine, key, sub := w.engine.Owned(owner), sequent.Key{Owner: owner, ID: id}, &subscriber{changed}
	// Subscribe before the session is read, so that no change is missed.
	w.mu.Lock()
	watched := w.sessions[key]
	if watched != nil {
		watched.subscribers[sub] = struct{}{}
	}
	w.mu.Unlock()
	s, err := engine.Session(ctx, id)
	switch {
	case err != nil && watched != nil:
		w.leave(key, watched, sub)
		return nil, err
	case err != nil:
		return nil, err
	case watched == nil:
		watched = w.enter(engine, key, s.Position(), sub)
	}
	return func() { w.leave(key, watched, sub) }, nil
}

// enter subscribes to a session and begins to watch it if nobody does. Have is the
// position that the subscriber has read.
func (w *Watcher) enter(engine *sequent.Engine, key sequent.Key, have sequent.Position, sub *subscriber) *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	watched := w.sessions[key]
	if watched == nil {
		ctx, cancel := context.WithCancel(context.Background()) // it outlives the request
		watched = &session{subscribers: make(map[*subscriber]struct{}), cancel: cancel, done: make(chan struct{})}
		w.sessions[key] = watched
		go func() {
			defer close(watched.done)
			w.follow(ctx, engine, key, watched, have)
		}()
	} else {
		sub.changed(false) // a change after have may have been reported to the others already
	}
	watched.subscribers[sub] = struct{}{}
	return watched
}

// leave removes a subscriber. After the last it stops watching the session.
func (w *Watcher) leave(key sequent.Key, watched *session, sub *subscriber) {
	w.mu.Lock()
	delete(watched.subscribers, sub)
	last := len(watched.subscribers) == 0
	if last && w.sessions[key] == watched {
		delete(w.sessions, key)
	}
	w.mu.Unlock()
	if last {
		watched.cancel()
		<-watched.done
	}
}

// follow reports changes of a session after a position, until ctx is done or the
// session is gone.
func (w *Watcher) follow(ctx context.Context, engine *sequent.Engine, key sequent.Key, watched *session, have sequent.Position) {
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
			w.report(key, watched, true)
			return
		case err != nil:
			if !pause(ctx) {
				return
			}
		case s.Position() != have:
			have = s.Position()
			w.report(key, watched, false)
		}
	}
}

// report calls all subscribers of a session.
func (w *Watcher) report(key sequent.Key, watched *session, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gone && w.sessions[key] == watched {
		delete(w.sessions, key)
	}
	for sub := range watched.subscribers {
		sub.changed(gone)
	}
}

// pause waits for retryAfter. It returns false if ctx was done before.
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
