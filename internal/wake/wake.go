// Package wake lets many wait for one thing to change, by name.
package wake

import (
	"context"
	"sync"
)

// A Hub wakes those who wait for a name. The zero Hub is ready for use.
type Hub[K comparable] struct {
	mu   sync.Mutex
	subs map[K]map[*Sub[K]]struct{} // who waits for what
}

// A Sub is one waiter's place. It is made before the waiter looks at the state
// it waits for, so that no change between the look and the wait is missed.
type Sub[K comparable] struct {
	hub *Hub[K]
	key K
	c   chan struct{}
}

// Subscribe returns a place at key. The caller must Close it.
func (h *Hub[K]) Subscribe(key K) *Sub[K] {
	s := &Sub[K]{hub: h, key: key, c: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = make(map[K]map[*Sub[K]]struct{})
	}
	if h.subs[key] == nil {
		h.subs[key] = make(map[*Sub[K]]struct{})
	}
	h.subs[key][s] = struct{}{}
	return s
}

// Wake wakes everyone who has a place at key. It never blocks.
func (h *Hub[K]) Wake(key K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs[key] {
		select {
		case s.c <- struct{}{}:
		default:
		}
	}
}

// C is readable after a Wake since the last read.
func (s *Sub[K]) C() <-chan struct{} { return s.c }

// Wait returns nil after a Wake, or ctx.Err() if ctx is done first.
func (s *Sub[K]) Wait(ctx context.Context) error {
	select {
	case <-s.c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close gives the place up.
func (s *Sub[K]) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.subs[s.key], s)
	if len(s.hub.subs[s.key]) == 0 {
		delete(s.hub.subs, s.key)
	}
}
