// Package watch reports changes of sessions, as a dialect.Template needs it. It has one
// watch of the store for all sessions, however many clients watch them.
package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// retryAfter is the wait before a session is read again after an error.
const retryAfter = time.Second

// A Watcher watches the sessions of an engine. It is safe for concurrent use.
type Watcher struct {
	engine *sequent.Engine

	mu     sync.Mutex // guards what follows, and the fields of round and session
	active *round     // nil if there are no subscribers
}

// A round is the time from the first subscriber to the end of the last.
type round struct {
	changes     *sequent.Watch
	cancel      context.CancelFunc
	done        chan struct{} // closed when follow has returned
	subscribers int
	sessions    map[sequent.Key]*session
}

// A session is a session that is watched.
type session struct {
	have        sequent.Position // as it was last read
	subscribers map[*subscriber]struct{}
}

// A subscriber is one call of Watch.
type subscriber struct{ changed func(gone bool) }

// New returns a watcher of the sessions in engine.
func New(engine *sequent.Engine) *Watcher { return &Watcher{engine: engine} }

// Watch calls changed after each change of the session from now on, until stop is
// called. Changes in quick succession may be one call, and a call may be one too many.
// If the session is deleted, the last call has gone set, and the watch has ended.
//
// Changed must not block and must not call stop. Stop returns when changed is not
// called any more; it must be called unless the session is gone. Ctx is for Watch
// itself and does not end the watch. Errors are those of [sequent.Engine.Session]:
// one that matches [sequent.ErrNotFound] if there is no such session.
func (w *Watcher) Watch(ctx context.Context, owner string, id sequent.ID, changed func(gone bool)) (stop func(), err error) {
	r, err := w.enter(ctx)
	if err != nil {
		return nil, err
	}
	key, sub := sequent.Key{Owner: owner, ID: id}, &subscriber{changed}
	// Subscribe before the session is read, so that no change is missed.
	watched := w.subscribe(r, key, sub)
	stop = func() { w.leave(r, key, watched, sub) }
	s, err := w.engine.Owned(owner).Session(ctx, id)
	if err != nil {
		stop()
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if watched.have == (sequent.Position{}) {
		watched.have = s.Position()
	}
	return stop, nil
}

// enter returns the round with one more subscriber. It begins one if there is none.
func (w *Watcher) enter(ctx context.Context) (*round, error) {
	w.mu.Lock()
	if r := w.active; r != nil {
		r.subscribers++
		w.mu.Unlock()
		return r, nil
	}
	w.mu.Unlock()
	changes, err := w.engine.Watch(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active != nil { // begun by another caller meanwhile
		changes.Close()
		w.active.subscribers++
		return w.active, nil
	}
	ctx, cancel := context.WithCancel(context.Background()) // it outlives the request
	r := &round{
		changes: changes, cancel: cancel, done: make(chan struct{}),
		subscribers: 1, sessions: make(map[sequent.Key]*session),
	}
	w.active = r
	go func() {
		defer close(r.done)
		defer changes.Close()
		w.follow(ctx, r)
	}()
	return r, nil
}

func (w *Watcher) subscribe(r *round, key sequent.Key, sub *subscriber) *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	watched := r.sessions[key]
	if watched == nil {
		watched = &session{subscribers: make(map[*subscriber]struct{})}
		r.sessions[key] = watched
		r.changes.Add(key)
	}
	watched.subscribers[sub] = struct{}{}
	return watched
}

// leave removes a subscriber. After the last of a session it stops watching the
// session, after the last of the round it ends the round.
func (w *Watcher) leave(r *round, key sequent.Key, watched *session, sub *subscriber) {
	w.mu.Lock()
	if _, ok := watched.subscribers[sub]; !ok {
		w.mu.Unlock()
		return
	}
	delete(watched.subscribers, sub)
	if len(watched.subscribers) == 0 {
		r.forget(key, watched)
	}
	last := w.release(r, 1)
	w.mu.Unlock()
	if last {
		<-r.done
	}
}

// release removes n subscribers of a round and ends it after the last. The caller
// holds mu.
func (w *Watcher) release(r *round, n int) (last bool) {
	r.subscribers -= n
	if last = r.subscribers == 0; last {
		w.active = nil
		r.cancel()
	}
	return last
}

// forget stops watching a session, unless it is watched anew. The caller holds mu.
func (r *round) forget(key sequent.Key, watched *session) {
	if r.sessions[key] == watched {
		delete(r.sessions, key)
		r.changes.Remove(key)
	}
}

// follow reports changes until ctx is done or the store is closed.
func (w *Watcher) follow(ctx context.Context, r *round) {
	for {
		notices, err := r.changes.Wait(ctx)
		if err != nil {
			return
		}
		for _, n := range notices {
			w.mu.Lock()
			watched := r.sessions[n.Key]
			w.mu.Unlock()
			switch {
			case watched == nil:
			case n.Written:
				w.report(r, n.Key, watched, false)
			default:
				for !w.look(ctx, r, n.Key, watched) {
					if !pause(ctx) {
						return
					}
				}
			}
		}
	}
}

// look reads whether a session has changed, and reports it. It returns false if the
// session could not be read.
func (w *Watcher) look(ctx context.Context, r *round, key sequent.Key, watched *session) bool {
	w.mu.Lock()
	have := watched.have
	w.mu.Unlock()
	now, err := w.engine.Owned(key.Owner).Position(ctx, key.ID, have)
	switch {
	case errors.Is(err, sequent.ErrNotFound):
		w.report(r, key, watched, true)
	case err != nil:
		return false
	case now != have:
		w.mu.Lock()
		watched.have = now
		w.mu.Unlock()
		w.report(r, key, watched, false)
	}
	return true
}

// report calls all subscribers of a session. If it is gone, it removes them.
func (w *Watcher) report(r *round, key sequent.Key, watched *session, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for sub := range watched.subscribers {
		sub.changed(gone)
	}
	if gone && len(watched.subscribers) > 0 {
		r.forget(key, watched)
		w.release(r, len(watched.subscribers))
		clear(watched.subscribers)
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
