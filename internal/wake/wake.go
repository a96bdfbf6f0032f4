// Package wake signals goroutines that wait for a key to change.
package wake

import (
	"context"
	"sync"
)

// A Hub holds the subscriptions to keys. The zero Hub is ready for use.
type Hub[K comparable] struct {
	mu   sync.Mutex
	subs map[K]map[*Sub[K]]struct{}
}

// A Sub is a subscription to one key. Subscribe before reading the state that
// is waited for; otherwise a change between the read and the wait is missed.
type Sub[K comparable] struct {
	hub *Hub[K]
	key K
	c   chan struct{}
}

// Subscribe returns a subscription to key. The caller must Close it.
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

// Wake signals every subscription to key. It never blocks.
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

// C returns a channel of capacity one that receives after a Wake. Several Wakes
// before a receive count as one.
func (s *Sub[K]) C() <-chan struct{} { return s.c }

// Wait returns nil after a Wake, or ctx.Err() if ctx ends first.
func (s *Sub[K]) Wait(ctx context.Context) error {
	select {
	case <-s.c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the subscription.
func (s *Sub[K]) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.subs[s.key], s)
	if len(s.hub.subs[s.key]) == 0 {
		delete(s.hub.subs, s.key)
	}
}
