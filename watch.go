package sequent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Feed tells watches which sessions have changed. A [Watcher] has one, reports every
// change to it, and returns its watches. The zero Feed is ready for use. All methods may be
// called concurrently and none blocks.
type Feed struct {
	mu    sync.Mutex // guards what follows, and the watches
	open  map[*Watch]bool
	turns chan struct{} // filled by calls of Watch.Turn; made with the first watch
	err   error         // of a closed feed
}

// maxTurns is how many watches of a feed read at the same time.
const maxTurns = 2

// A Topic is a hash of a [Key]. Sessions are reported by topic between processes. If
// two sessions have the same one, a watch of either is told of both.
type Topic uint64

// Topic returns the FNV-1a hash of the owner, a zero byte and the ID. All versions
// of this package return the same.
func (k Key) Topic() Topic {
	h := uint64(14695981039346656037)
	for _, b := range []byte(k.Owner + "\x00" + string(k.ID)) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return Topic(h)
}

// anyTopic is the topic of the zero Key, which stands for all sessions.
var anyTopic = Key{}.Topic()

// A Watch reports which sessions of a set have changed. A change after [Watch.Add]
// is reported however late Wait is called. Changes of one session that Wait has not
// returned yet are reported once. All methods may be called concurrently.
type Watch struct {
	feed   *Feed
	signal chan struct{}             // capacity one; receives when a session is due or the watch ends
	poll   func(ctx context.Context) // looks for changes; nil if the store reports them

	// Guarded by feed.mu:
	keys map[Topic][]Key
	due  map[Key]bool
}

// Watch returns a watch of no sessions. The caller must close it.
func (f *Feed) Watch() *Watch {
	w := &Watch{feed: f, signal: make(chan struct{}, 1), keys: make(map[Topic][]Key), due: make(map[Key]bool)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open, f.turns = make(map[*Watch]bool), make(chan struct{}, maxTurns)
	}
	f.open[w] = true
	return w
}

// Watched reports whether there are watches.
func (f *Feed) Watched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open) > 0
}

// Touched reports sessions that may have changed or been deleted, by whatever process.
func (f *Feed) Touched(topics ...Topic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.open {
		for _, t := range topics {
			w.report(t)
			w.report(anyTopic)
		}
	}
}

// Lost reports that changes may have been missed: any session may have changed.
func (f *Feed) Lost() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.open {
		for t := range w.keys {
			w.report(t)
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

// report adds the sessions of a topic to what is due. The caller holds feed.mu.
func (w *Watch) report(t Topic) {
	for _, k := range w.keys[t] {
		w.due[k] = true
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
	if t := k.Topic(); !slices.Contains(w.keys[t], k) {
		w.keys[t] = append(w.keys[t], k)
	}
}

// Wait waits until sessions of the watch may have changed, and returns them: each may have been
// deleted or be unchanged. The error wraps ctx.Err() when ctx is done; it is that of the store when
// the store has been closed, and has the code CodeCanceled after Close.
func (w *Watch) Wait(ctx context.Context) ([]Key, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, canceled(err)
		}
		if due, err := w.take(); len(due) > 0 || err != nil {
			return due, err
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
func (w *Watch) take() ([]Key, error) {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	switch {
	case !w.feed.open[w]:
		return nil, canceled(context.Canceled)
	case w.feed.err != nil:
		return nil, w.feed.err
	}
	due := slices.Collect(maps.Keys(w.due))
	clear(w.due)
	return due, nil
}

// Turn calls read, which reads what has changed, when few other watches of the feed read. A
// change that thousands of watches wait for keeps no other caller from the store.
func (w *Watch) Turn(ctx context.Context, read func()) error {
	select {
	case w.feed.turns <- struct{}{}:
	case <-ctx.Done():
		return canceled(ctx.Err())
	}
	defer func() { <-w.feed.turns }()
	read()
	return nil
}

// Close ends the watch.
func (w *Watch) Close() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	delete(w.feed.open, w)
	w.wake()
}

// pollInterval is how often a watch looks for changes in a store that does not report them.
const pollInterval = time.Second

// WatchStore does what [Watcher] says with any store. The watch of a store that is no Watcher
// reads all headers each second while Wait runs, and reports every session after any change.
func WatchStore(ctx context.Context, s Store) (*Watch, error) {
	if watcher, ok := As[Watcher](s); ok {
		return watcher.Watch(ctx)
	}
	w := new(Feed).Watch()
	var mu sync.Mutex
	var last []byte
	w.poll = func(ctx context.Context) {
		mu.Lock()
		defer mu.Unlock()
		all := sha256.New()
		for h, err := range headers(ctx, s, Query{AllOwners: true}) {
			if err != nil {
				return
			}
			fmt.Fprint(all, h.Key, h.Position())
		}
		if now := all.Sum(nil); !bytes.Equal(now, last) {
			last = now
			w.feed.Lost()
		}
	}
	return w, nil
}
