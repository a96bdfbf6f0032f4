package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// patience is how long the suite waits for what must happen.
const patience = 20 * time.Second

// awaits runs Wait until look is satisfied, as every caller of Wait does, and
// returns how often it looked. It gives up on a Wait that does not wait.
func awaits(ctx context.Context, s sequent.Store, k sequent.Key, have sequent.Position, look func() bool) (int, error) {
	for looks := 1; looks < 100_000; looks++ {
		if look() {
			return looks, nil
		}
		if err := s.Wait(ctx, k, have); err != nil {
			return looks, err
		}
	}
	return 100_000, errors.New("the wait ended at once, time and again")
}

// reaches waits until the session has n thoughts.
func reaches(t *testing.T, s sequent.Store, h sequent.Header, n int) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	have := h.Position()
	_, err := awaits(ctx, s, h.Key, have, func() bool {
		now, _, err := s.Load(ctx, h.Key, have)
		have = now.Position()
		return err == nil && now.Len >= n
	})
	return err
}

var waitTests = []test{
	{"a position that is left already", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first, next(first.Header, "two"))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for _, have := range []sequent.Position{
			{}, first.Header.Position(), {Epoch: 1, Version: 2, Len: 2},
		} {
			if err := s.Wait(ctx, key("a"), have); err != nil {
				t.Errorf("Wait at %+v: %v, want nil at once", have, err)
			}
		}
		if err := s.Wait(ctx, key("gone"), first.Header.Position()); err != nil {
			t.Errorf("Wait for a session that is gone: %v, want nil at once", err)
		}
	}},
	{"no wake-up is lost", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "0")
		put(t, s, w)
		done := make(chan error, 1)
		const n = 200
		go func() { done <- reaches(t, s, w.Header, n) }()
		for i := 1; i < n; i++ {
			put(t, s, add(w.Header, fmt.Sprint(i)))
		}
		if err := <-done; err != nil {
			t.Errorf("waiting for %d thoughts: %v", n, err)
		}
	}},
	{"a waiter and a writer take turns", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "0")
		put(t, s, w)
		ask := make(chan int)
		done := make(chan error)
		go func() {
			for n := range ask {
				done <- reaches(t, s, w.Header, n)
			}
		}()
		for i := 1; i < 50; i++ {
			ask <- i + 1
			put(t, s, add(w.Header, fmt.Sprint(i)))
			if err := <-done; err != nil {
				t.Fatalf("waiting for thought %d: %v", i+1, err)
			}
		}
		close(ask)
	}},
	{"many waiters", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		const n = 50
		done := make(chan error, n)
		for range n {
			go func() { done <- reaches(t, s, w.Header, 2) }()
		}
		put(t, s, next(w.Header, "two"))
		for range n {
			if err := <-done; err != nil {
				t.Errorf("a waiter: %v", err)
			}
		}
	}},
	{"deletion wakes", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := awaits(ctx, s, key("a"), w.Header.Position(), func() bool {
				_, _, err := s.Load(ctx, key("a"), sequent.Position{})
				return errors.Is(err, sequent.ErrNotFound)
			})
			done <- err
		}()
		if err := s.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("waiting for the deletion: %v", err)
		}
	}},
	{"sweeping wakes", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		w.Header.Expires = start
		put(t, s, w)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := awaits(ctx, s, key("a"), w.Header.Position(), func() bool {
				_, _, err := s.Load(ctx, key("a"), sequent.Position{})
				return errors.Is(err, sequent.ErrNotFound)
			})
			done <- err
		}()
		if _, err := s.Sweep(t.Context(), expired(start), 1); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("waiting for the sweep: %v", err)
		}
	}},
	{"the zero key wakes for any session", func(t *testing.T, h Harness) {
		s := h.open(t)
		for i := range 20 {
			// Wait counts from its call on, so the writer goes on until it is
			// noticed.
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			done := make(chan error, 1)
			go func() { done <- s.Wait(ctx, sequent.Key{}, sequent.Position{}) }()
			h := begin(key(fmt.Sprint(i)), "one").Header
			var err error
			for woken := false; !woken; {
				select {
				case err = <-done:
					woken = true
				default:
					put(t, s, add(h, "more"))
				}
			}
			cancel()
			if err != nil {
				t.Fatalf("Wait for any session: %v", err)
			}
		}
	}},
	{"until the caller gives up", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		for _, k := range []sequent.Key{key("a"), {}, key("never")} {
			var have sequent.Position
			if k.ID == "a" {
				have = w.Header.Position()
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			looks, err := awaits(ctx, s, k, have, func() bool { return false })
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait for %q: %v, want the context's error", k, err)
			}
			if looks > 100 {
				t.Errorf("Wait for %q returned %d times in 200 ms though nothing changed", k, looks)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Wait(ctx, key("a"), w.Header.Position()); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait with a cancelled context: %v, want context.Canceled", err)
		}
	}},
	{"other sessions do not keep a waiter busy", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		ctx, cancel := context.WithCancel(t.Context())
		type result struct {
			looks int
			err   error
		}
		done := make(chan result, 1)
		go func() {
			looks, err := awaits(ctx, s, key("a"), w.Header.Position(), func() bool { return false })
			done <- result{looks, err}
		}()
		other := begin(key("b")).Header
		for range 300 {
			put(t, s, add(other, "more"))
		}
		cancel()
		if r := <-done; !errors.Is(r.err, context.Canceled) || r.looks > 150 {
			t.Errorf("the waiter looked %d times for 300 changes elsewhere and ended with %v", r.looks, r.err)
		}
	}},
}
