package sequent

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// A Feed tells watches which sessions have changed. A [Store] has one, reports every
// change to it, and returns its watches from [Store.Watch]. The zero Feed is ready for
// use. All methods may be called concurrently and none blocks.
type Feed struct {
	watches atomic.Int64 // how many there are

	mu      sync.Mutex // guards what follows, and the watches
	open    map[*Watch]struct{}
	entries map[Topic]*watched // the first of a list
	err     error              // of a closed feed
}

// A Topic is a hash of a [Key]. Sessions are reported by topic between processes. If
// two sessions have the same one, a watch of either is told of both.
type Topic uint64

// Topic returns the FNV-1a hash of the owner, a zero byte and the ID. All versions
// of this package return the same.
func (k Key) Topic() Topic {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(k.Owner) {
		h = (h ^ uint64(k.Owner[i])) * prime
	}
	h *= prime // the zero byte
	for i := range len(k.ID) {
		h = (h ^ uint64(k.ID[i])) * prime
	}
	return Topic(h)
}

// A watched is one session of one watch.
type watched struct {
	watch          *Watch // nil after its removal
	key            Key
	topic          Topic
	previous, next *watched // with the same topic
	due            bool     // it is in Watch.due
	written        bool     // see Notice
}

// A Watch reports which sessions of a set have changed. A change after [Watch.Add]
// is reported however late Wait is called. Changes of one session that Wait has not
// returned yet are one notice. All methods may be called concurrently.
type Watch struct {
	feed   *Feed
	signal chan struct{} // capacity one; receives when due is not empty or the watch ends

	// Guarded by feed.mu:
	entries map[Key]*watched
	due     []*watched
	closed  bool
}

// A Notice reports that a session may have changed.
type Notice struct {
	Key Key // the zero Key if any session may have changed
	// Written means that this process has changed the session, which existed
	// afterwards. Otherwise it may have been deleted or be unchanged: read it.
	Written bool
}

// maxNotices limits what one call of Wait returns.
const maxNotices = 256

var errWatchClosed = &Error{Code: CodeCanceled, Msg: "the watch is closed", Err: context.Canceled}

// Watch returns a watch of no sessions. The caller must close it.
func (f *Feed) Watch() *Watch {
	w := &Watch{feed: f, signal: make(chan struct{}, 1), entries: make(map[Key]*watched)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open, f.entries = make(map[*Watch]struct{}), make(map[Topic]*watched)
	}
	f.open[w] = struct{}{}
	f.watches.Add(1)
	return w
}

// Watched reports whether there are watches.
func (f *Feed) Watched() bool { return f.watches.Load() > 0 }

// Written reports sessions that this process has changed and that exist.
func (f *Feed) Written(keys ...Key) {
	if len(keys) == 0 || !f.Watched() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		for e := f.entries[k.Topic()]; e != nil; e = e.next {
			e.report(e.key == k)
		}
	}
	f.reportAny()
}

// Touched reports sessions that have been deleted, or that another process may have
// changed.
func (f *Feed) Touched(topics ...Topic) {
	if len(topics) == 0 || !f.Watched() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		for e := f.entries[t]; e != nil; e = e.next {
			e.report(false)
		}
	}
	f.reportAny()
}

// reportAny reports a change to the watches of any session. The caller holds mu.
func (f *Feed) reportAny() {
	for e := f.entries[Key{}.Topic()]; e != nil; e = e.next {
		e.report(false)
	}
}

// Lost reports that changes may have been missed: any session may have changed.
func (f *Feed) Lost() {
	if !f.Watched() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.open {
		for _, e := range w.entries {
			e.report(false)
		}
	}
}

// Close makes the Wait of all watches, present and future, return err.
func (f *Feed) Close(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err == nil {
		f.err = errors.New("sequent: the store is closed")
	}
	for w := range f.open {
		w.wake()
	}
}

// report adds e to what is due. The caller holds feed.mu.
func (e *watched) report(written bool) {
	if e.due {
		e.written = e.written && written // a deletion may be reported before an earlier change
		return
	}
	e.due, e.written = true, written
	e.watch.due = append(e.watch.due, e)
	e.watch.wake()
}

func (w *Watch) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// Add adds a session, which need not exist. The zero Key stands for all sessions.
// Read the session afterwards: changes from now on are reported.
func (w *Watch) Add(k Key) {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.closed || w.entries[k] != nil {
		return
	}
	e := &watched{watch: w, key: k, topic: k.Topic()}
	if e.next = f.entries[e.topic]; e.next != nil {
		e.next.previous = e
	}
	f.entries[e.topic] = e
	w.entries[k] = e
}

// Remove removes a session. A notice of it that Wait has not returned is dropped.
func (w *Watch) Remove(k Key) {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	if e := w.entries[k]; e != nil {
		w.remove(e)
	}
}

// remove removes an entry. The caller holds feed.mu.
func (w *Watch) remove(e *watched) {
	if e.previous != nil {
		e.previous.next = e.next
	} else if e.next != nil {
		w.feed.entries[e.topic] = e.next
	} else {
		delete(w.feed.entries, e.topic)
	}
	if e.next != nil {
		e.next.previous = e.previous
	}
	e.watch = nil
	delete(w.entries, e.key)
}

// Wait waits until sessions of the watch may have changed and returns a notice for
// each of them, at most 256 in a call. The error wraps ctx.Err() when ctx is done; it
// is that of the store when the store has been closed, and has the code CodeCanceled
// after Close.
func (w *Watch) Wait(ctx context.Context) ([]Notice, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, canceled(err)
		}
		if notices, err := w.take(); len(notices) > 0 || err != nil {
			return notices, err
		}
		select {
		case <-w.signal:
		case <-ctx.Done():
		}
	}
}

// take returns what is due.
func (w *Watch) take() ([]Notice, error) {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case w.closed:
		return nil, errWatchClosed
	case f.err != nil:
		return nil, f.err
	}
	var notices []Notice
	taken := 0
	for _, e := range w.due {
		if len(notices) == maxNotices {
			w.wake()
			break
		}
		taken++
		e.due = false
		if e.watch != nil {
			notices = append(notices, Notice{e.key, e.written})
		}
	}
	w.due = w.due[taken:]
	if len(w.due) == 0 {
		w.due = nil
	}
	return notices, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	for _, e := range w.entries {
		w.remove(e)
	}
	delete(f.open, w)
	f.watches.Add(-1)
	w.wake()
}
