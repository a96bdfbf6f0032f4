package mcpserver

import (
	"slices"
	"sync"
)

// How far reading may run ahead of answering. Reading ahead is what lets a
// cancellation overtake the calls before it; beyond this, the client waits.
const (
	maxAhead      = 10_000
	maxAheadBytes = 64 << 20
)

// maxUnderway is how many calls may overlap, as many as the engine commits at once.
const maxUnderway = 256

// An item is a message waiting for its turn.
type item struct {
	envelope
	plain    plainCall
	overlaps bool // it may begin while others are under way
	size     int
	room     []byte // for the reply; may be nil

	// Guarded by the inbox:
	cancelled bool   // no reply is wanted any more
	cancel    func() // stops the work on it; nil before that begins
	answered  bool   // the work on it is done
	reply     []byte // may be nil even then
}

// An inbox holds what has been read and not yet answered, in order. Items are
// taken one at a time: the next is given out when the one before is answered, or
// has let go because nothing that comes after can overtake it any more.
type inbox struct {
	spawn func() // makes one more that takes; it must not wait

	mu         sync.Mutex
	room       *sync.Cond // there may be room for more
	ready      *sync.Cond // there may be something to take
	queue      []*item
	bytes      int     // of queue
	underway   []*item // taken, and their replies not yet given out
	holder     *item   // the one taken last, unless it has let go
	takers     int     // those who wait to take, or were spawned to
	delivering bool    // somebody gives replies out
	closed     bool    // nothing more is accepted
}

func newInbox(spawn func()) *inbox {
	b := &inbox{spawn: spawn}
	b.room, b.ready = sync.NewCond(&b.mu), sync.NewCond(&b.mu)
	return b
}

// put adds an item. It waits while there is too much, and reports false once the
// inbox is closed.
func (b *inbox) put(it *item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.closed && (len(b.queue) >= maxAhead || len(b.queue) > 0 && b.bytes+it.size > maxAheadBytes) {
		b.room.Wait()
	}
	if b.closed {
		return false
	}
	b.queue = append(b.queue, it)
	b.bytes += it.size
	b.rouse()
	return true
}

// take takes an item that would not have to wait, for one who is none of those
// that take. It reports false if it would.
func (b *inbox) take(it *item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.queue) > 0 || len(b.underway) > 0 || b.delivering {
		return false
	}
	b.underway = append(b.underway, it)
	b.holder = it
	return true
}

// over reports whether there is nothing to take any more, and everything is
// answered. The caller holds mu.
func (b *inbox) over() bool {
	return b.closed && len(b.queue) == 0 && len(b.underway) == 0 && !b.delivering
}

// may reports whether the first in the queue can be taken. The caller holds mu.
func (b *inbox) may() bool {
	return len(b.queue) > 0 && b.holder == nil &&
		(len(b.underway) == 0 || b.queue[0].overlaps && len(b.underway) < maxUnderway)
}

// rouse has somebody take the first in the queue, if that may be. The caller
// holds mu.
func (b *inbox) rouse() {
	switch {
	case !b.may():
	case b.takers > 0:
		b.ready.Signal()
	default:
		b.takers++
		b.spawn()
	}
}

// enter announces one that takes. One that was spawned is announced.
func (b *inbox) enter() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takers++
}

// next waits for the next item and takes it, for one that was announced. It
// reports false when the inbox is closed and empty, and what was taken is answered.
func (b *inbox) next() (*item, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for !b.may() && !b.over() {
			b.ready.Wait()
		}
		if len(b.queue) == 0 {
			return nil, false
		}
		it := b.queue[0]
		b.queue[0] = nil
		b.queue = b.queue[1:]
		b.bytes -= it.size
		b.room.Signal()
		if b.over() {
			b.ready.Broadcast() // if nothing comes of this one
		}
		if it.cancelled {
			continue
		}
		b.takers--
		b.underway = append(b.underway, it)
		b.holder = it
		return it, true
	}
}

// letGo lets the next item be taken while the work on it goes on. It reports
// whether there is one.
func (b *inbox) letGo(it *item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holder == it {
		b.holder = nil
		b.rouse()
	}
	return len(b.queue) > 0
}

// begin says how to stop the work on an item that was taken.
func (b *inbox) begin(it *item, cancel func()) {
	b.mu.Lock()
	it.cancel = cancel
	already := it.cancelled
	b.mu.Unlock()
	if already {
		cancel()
	}
}

// finish says that the work on an item is done, and announces the caller as one
// that takes. It gives out in order the replies that are due, unless somebody is
// at it, who then gives them all. It returns how many items wait and how many are
// under way.
func (b *inbox) finish(it *item, reply []byte, give func([]byte) error) (waiting, underway int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deliver(it, reply, give)
	if b.takers > 0 {
		b.rouse()
	}
	b.takers++
	return len(b.queue), len(b.underway)
}

// settle is finish for one who is none of those that take. It reports whether any
// items wait.
func (b *inbox) settle(it *item, reply []byte, give func([]byte) error) (waiting bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deliver(it, reply, give)
	b.rouse()
	return len(b.queue) > 0
}

// deliver says that the work on an item is done and gives out the replies that are
// due. The caller holds mu, which is free meanwhile.
func (b *inbox) deliver(it *item, reply []byte, give func([]byte) error) {
	it.answered, it.reply = true, reply
	if b.holder == it {
		b.holder = nil
	}
	if !b.delivering {
		b.delivering = true
		for len(b.underway) > 0 && b.underway[0].answered {
			first := b.underway[0]
			b.underway = slices.Delete(b.underway, 0, 1)
			if first.reply == nil || first.cancelled {
				continue
			}
			b.mu.Unlock()
			_ = give(first.reply) // if that fails, the inbox is closed
			b.mu.Lock()
		}
		b.delivering = false
	}
	if b.over() {
		b.ready.Broadcast()
	}
}

// cancel drops the request with that key, or stops the work on it.
func (b *inbox) cancel(key string) {
	b.mu.Lock()
	var stop []func()
	for _, items := range [][]*item{b.underway, b.queue} {
		for _, it := range items {
			// The protocol lets nobody cancel the handshake.
			if it.kind != request || it.method == methodInitialize || idKey(it.id) != key {
				continue
			}
			it.cancelled = true
			if it.cancel != nil {
				stop = append(stop, it.cancel)
			}
		}
	}
	b.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// close makes the inbox accept nothing more. What it holds is still answered.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.room.Broadcast()
	b.ready.Broadcast()
}

// abort closes the inbox, drops what it holds and stops the work that is under
// way: there is nobody left to answer.
func (b *inbox) abort() {
	b.mu.Lock()
	b.closed = true
	b.queue, b.bytes = nil, 0
	var stop []func()
	for _, it := range b.underway {
		it.cancelled = true
		if it.cancel != nil {
			stop = append(stop, it.cancel)
		}
	}
	b.mu.Unlock()
	b.close()
	for _, f := range stop {
		f()
	}
}
