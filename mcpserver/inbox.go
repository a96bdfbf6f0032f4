package mcpserver

import (
	"iter"
	"slices"
	"sync"
)

// How far reading may run ahead of answering. Reading ahead is what lets a
// cancellation overtake the calls before it; beyond this, the client waits.
const (
	maxAhead      = 10_000
	maxAheadBytes = 64 << 20
)

// An item is a message waiting for its turn.
type item struct {
	envelope
	size      int
	cancelled bool   // guarded by the inbox: no reply is wanted any more
	cancel    func() // guarded by the inbox: stops the work on it; nil before that begins
}

// An inbox holds what has been read and not yet answered, in order.
type inbox struct {
	mu      sync.Mutex
	change  *sync.Cond // any of the below has changed
	queue   []*item
	bytes   int   // of queue
	current *item // being answered
	closed  bool  // nothing more is accepted
}

func newInbox() *inbox {
	b := new(inbox)
	b.change = sync.NewCond(&b.mu)
	return b
}

// put adds an item. It waits while there is too much, and reports false once the
// inbox is closed.
func (b *inbox) put(it *item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.closed && (len(b.queue) >= maxAhead || len(b.queue) > 0 && b.bytes+it.size > maxAheadBytes) {
		b.change.Wait()
	}
	if b.closed {
		return false
	}
	b.queue = append(b.queue, it)
	b.bytes += it.size
	b.change.Broadcast()
	return true
}

// next waits for the next item and makes it the current one. It reports false
// when the inbox is closed and empty.
func (b *inbox) next() (*item, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = nil
	for {
		for len(b.queue) == 0 && !b.closed {
			b.change.Wait()
		}
		if len(b.queue) == 0 {
			return nil, false
		}
		it := b.queue[0]
		b.queue[0] = nil
		b.queue = b.queue[1:]
		b.bytes -= it.size
		b.change.Broadcast()
		if it.cancelled {
			continue
		}
		b.current = it
		return it, true
	}
}

// idle reports whether nothing waits.
func (b *inbox) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0
}

// begin says how to stop the work on the current item.
func (b *inbox) begin(cancel func()) {
	b.mu.Lock()
	b.current.cancel = cancel
	already := b.current.cancelled
	b.mu.Unlock()
	if already {
		cancel()
	}
}

// wanted reports whether the current item still wants its reply.
func (b *inbox) wanted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.current.cancelled
}

// cancel drops the request with that key, or stops the work on it.
func (b *inbox) cancel(key string) {
	b.mu.Lock()
	var stop func()
	for it := range b.all() {
		// The protocol lets nobody cancel the handshake.
		if it.kind != request || it.method == methodInitialize || idKey(it.id) != key {
			continue
		}
		it.cancelled = true
		if it == b.current {
			stop = it.cancel
		}
	}
	b.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// all yields the current item and those that wait. The caller holds mu.
func (b *inbox) all() iter.Seq[*item] {
	return func(yield func(*item) bool) {
		if b.current != nil && !yield(b.current) {
			return
		}
		slices.Values(b.queue)(yield)
	}
}

// close makes the inbox accept nothing more. What it holds is still answered.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.change.Broadcast()
}

// abort closes the inbox, drops what it holds and stops the current work: there
// is nobody left to answer.
func (b *inbox) abort() {
	b.mu.Lock()
	b.closed = true
	b.queue, b.bytes = nil, 0
	var stop func()
	if b.current != nil {
		b.current.cancelled = true
		stop = b.current.cancel
	}
	b.change.Broadcast()
	b.mu.Unlock()
	if stop != nil {
		stop()
	}
}
