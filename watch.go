package sequent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Feed tells watches which sessions have changed. A [Watcher] has one, reports every
// change to it, and returns its watches. The zero Feed is ready for use. All methods may be
// called concurrently and none blocks.
type Feed struct {
	watches atomic.Int64 // how many there are

	mu   sync.Mutex // guards what follows, and the watches
	open map[*Watch]struct{}
	err  error // of a closed feed
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

// anyTopic is the topic of the zero Key, which stands for all sessions.
var anyTopic = Key{}.Topic()

// A Watch reports which sessions of a set have changed. A change after [Watch.Add]
// is reported however late Wait is called. Changes of one session that Wait has not
// returned yet are one notice. All methods may be called concurrently.
type Watch struct {
	feed   *Feed
	signal chan struct{}             // capacity one; receives when there are notices or the watch ends
	poll   func(ctx context.Context) // looks for changes; nil if the store reports them

	// Guarded by feed.mu:
	keys   map[Topic][]Key
	due    map[Key]bool // written, by key
	closed bool
}

// A Notice reports that a session may have changed.
type Notice struct {
	Key Key // the zero Key if any session may have changed
	// Written means that this process has changed the session, which existed
	// afterwards. Otherwise it may have been deleted or be unchanged: read it.
	Written bool
}

// Watch returns a watch of no sessions. The caller must close it.
func (f *Feed) Watch() *Watch {
	w := &Watch{feed: f, signal: make(chan struct{}, 1), keys: make(map[Topic][]Key), due: make(map[Key]bool)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = make(map[*Watch]struct{})
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
	for w := range f.open {
		for _, k := range keys {
			w.report(k.Topic(), k, true)
		}
		w.report(anyTopic, Key{}, false)
	}
}

// Touched reports sessions that have been deleted, or that another process may have
// changed.
func (f *Feed) Touched(topics ...Topic) {
	if len(topics) == 0 || !f.Watched() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.open {
		for _, t := range topics {
			w.report(t, Key{}, false)
		}
		w.report(anyTopic, Key{}, false)
	}
}

// Lost reports that changes may have been missed: any session may have changed.
func (f *Feed) Lost() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.open {
		for t := range w.keys {
			w.report(t, Key{}, false)
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

// report adds the sessions of a topic to what is due. If this process has written one of them,
// it is that one alone that has surely changed. The caller holds feed.mu.
func (w *Watch) report(t Topic, by Key, written bool) {
	for _, k := range w.keys[t] {
		before, due := w.due[k]
		w.due[k] = written && k == by && (before || !due) // a deletion may be reported before an earlier change
		w.wake()
	}
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
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	if t := k.Topic(); !w.closed && !slices.Contains(w.keys[t], k) {
		w.keys[t] = append(w.keys[t], k)
	}
}

// Wait waits until sessions of the watch may have changed and returns a notice for
// each of them. The error wraps ctx.Err() when ctx is done; it is that of the store when the
// store has been closed, and has the code CodeCanceled after Close.
func (w *Watch) Wait(ctx context.Context) ([]Notice, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, canceled(err)
		}
		if notices, err := w.take(); len(notices) > 0 || err != nil {
			return notices, err
		}
		var poll <-chan time.Time
		if w.poll != nil {
			poll = time.After(pollInterval)
		}
		select {
		case <-w.signal:
		case <-poll:
			w.poll(ctx)
		case <-ctx.Done():
		}
	}
}

// take returns what is due.
func (w *Watch) take() (notices []Notice, err error) {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	switch {
	case w.closed:
		return nil, canceled(context.Canceled)
	case w.feed.err != nil:
		return nil, w.feed.err
	}
	for k, written := range w.due {
		notices = append(notices, Notice{k, written})
	}
	clear(w.due)
	return notices, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	delete(w.feed.open, w)
	w.feed.watches.Add(-1)
	w.wake()
}

// pollInterval is how often a watch looks for changes in a store that does not report them.
const pollInterval = time.Second

// WatchStore does what [Watcher] says with any store. The watch of a store that is no Watcher
// reads the headers of its sessions each second while Wait runs.
func WatchStore(ctx context.Context, s Store) (*Watch, error) {
	if watcher, ok := As[Watcher](s); ok {
		return watcher.Watch(ctx)
	}
	w := new(Feed).Watch()
	var mu sync.Mutex
	last := make(map[Key]Position) // when it was read last
	w.poll = func(ctx context.Context) {
		mu.Lock()
		defer mu.Unlock()
		w.feed.mu.Lock()
		keys := slices.Concat(slices.Collect(maps.Values(w.keys))...)
		w.feed.mu.Unlock()
		for _, k := range keys {
			var now Position
			if k == (Key{}) {
				all := sha256.New()
				for h := range headers(ctx, s, Query{AllOwners: true}) {
					fmt.Fprint(all, h.Key, h.Position())
				}
				all.Sum(now.Head[:0])
			} else if h, _, err := s.Load(ctx, k, last[k]); err == nil {
				now = h.Position()
			}
			if was, known := last[k]; !known || was != now {
				last[k] = now
				w.feed.Touched(k.Topic())
			}
		}
	}
	return w, nil
}
