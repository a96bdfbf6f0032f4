package dialect

import (
	"context"
	"errors"
	"time"

	"github.com/sequent-dev/sequent"
)

// retryAfter is the wait before a session is read again after an error.
const retryAfter = time.Second

// WatchSession calls changed after each change of a session from now on, until stop is called.
// Changes in quick succession may be one call, and a call may be one too many. If the
// session is deleted, the last call has gone set, and the watch has ended. It does what [Template.Watch]
// asks for.
//
// Changed must not block and must not call stop. Stop returns when changed is not called
// any more; it must be called unless the session is gone. Ctx is for WatchSession itself and does
// not end the watch. Errors are those of [sequent.Engine.Session]: one that matches
// [sequent.ErrNotFound] if there is no such session.
func WatchSession(ctx context.Context, e *sequent.Engine, id sequent.ID, changed func(gone bool)) (stop func(), err error) {
	changes, err := e.Watch(ctx)
	if err != nil {
		return nil, err
	}
	// Watch before the session is read, so that no change is missed.
	changes.Add(sequent.Key{Owner: e.Owner(), ID: id})
	s, err := e.Session(ctx, id)
	if err != nil {
		changes.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background()) // it outlives the request
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer changes.Close()
		follow(ctx, changes, e, id, s.Position(), changed)
	}()
	return func() { cancel(); <-done }, nil
}

// follow reports changes until ctx is done, the session is deleted or the store is closed.
func follow(ctx context.Context, w *sequent.Watch, e *sequent.Engine, id sequent.ID, have sequent.Position, changed func(gone bool)) {
	for {
		if _, err := w.Wait(ctx); err != nil {
			return
		}
		h, err := read(ctx, w, e, id, have)
		for ; err != nil && !errors.Is(err, sequent.ErrNotFound); h, err = read(ctx, w, e, id, have) {
			select {
			case <-time.After(retryAfter):
			case <-ctx.Done():
				return
			}
		}
		switch {
		case err != nil:
			changed(true)
			return
		case h.Position() != have:
			have = h.Position()
			changed(false)
		}
	}
}

// read returns the header of a session beyond a position, in a turn of the watch.
func read(ctx context.Context, w *sequent.Watch, e *sequent.Engine, id sequent.ID, have sequent.Position) (h sequent.Header, err error) {
	if canceled := w.Turn(ctx, func() { h, _, err = e.Entries(ctx, id, have) }); canceled != nil {
		return h, canceled
	}
	return h, err
}
