package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// waitTimeout bounds each wait for an event that must happen.
const waitTimeout = 20 * time.Second

// waitUntil calls Wait until done returns true, and returns the number of calls of
// done. It returns an error if Wait always returns immediately.
func waitUntil(ctx context.Context, s sequent.Store, k sequent.Key, have sequent.Position, done func() bool) (int, error) {
	const maxCalls = 100_000
	for calls := 1; calls < maxCalls; calls++ {
		if done() {
			return calls, nil
		}
		if err := s.Wait(ctx, k, have); err != nil {
			return calls, err
		}
	}
	return maxCalls, fmt.Errorf("%d calls of Wait returned before the event", maxCalls)
}

// waitForLen waits until the session has n thoughts.
func waitForLen(t *testing.T, s sequent.Store, h sequent.Header, n int) error {
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	have := h.Position()
	_, err := waitUntil(ctx, s, h.Key, have, func() bool {
		now, _, err := s.Load(ctx, h.Key, have)
		have = now.Position()
		return err == nil && now.Len >= n
	})
	return err
}

var waitTests = []test{
	{"an old position", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first, next(first.Header, "two"))
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		for _, have := range []sequent.Position{
			{}, first.Header.Position(), {Epoch: 1, Version: 2, Len: 2},
		} {
			if err := s.Wait(ctx, key("a"), have); err != nil {
				t.Errorf("Wait at %+v: %v, want nil", have, err)
			}
		}
		if err := s.Wait(ctx, key("missing"), first.Header.Position()); err != nil {
			t.Errorf("Wait for a missing session: %v, want nil", err)
		}
	}},
	{"no commit is missed", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "0")
		put(t, s, w)
		done := make(chan error, 1)
		const n = 200
		go func() { done <- waitForLen(t, s, w.Header, n) }()
		for i := 1; i < n; i++ {
			put(t, s, add(w.Header, fmt.Sprint(i)))
		}
		if err := <-done; err != nil {
			t.Errorf("waiting for %d thoughts: %v", n, err)
		}
	}},
	{"a waiter and a writer alternate", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "0")
		put(t, s, w)
		lengths := make(chan int)
		done := make(chan error)
		go func() {
			for n := range lengths {
				done <- waitForLen(t, s, w.Header, n)
			}
		}()
		for i := 1; i < 50; i++ {
			lengths <- i + 1
			put(t, s, add(w.Header, fmt.Sprint(i)))
			if err := <-done; err != nil {
				t.Fatalf("waiting for thought %d: %v", i+1, err)
			}
		}
		close(lengths)
	}},
	{"many waiters", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		const n = 50
		done := make(chan error, n)
		for range n {
			go func() { done <- waitForLen(t, s, w.Header, 2) }()
		}
		put(t, s, next(w.Header, "two"))
		for range n {
			if err := <-done; err != nil {
				t.Errorf("waiting for the second thought: %v", err)
			}
		}
	}},
	{"Delete wakes", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := waitUntil(ctx, s, key("a"), w.Header.Position(), func() bool {
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
	{"Sweep wakes", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		w.Header.Expires = start
		put(t, s, w)
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := waitUntil(ctx, s, key("a"), w.Header.Position(), func() bool {
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
	{"a commit to any session wakes the zero key", func(t *testing.T, h Harness) {
		s := h.open(t)
		for i := range 20 {
			// Wait notices only commits after its call, so commit until it returns.
			ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
			done := make(chan error, 1)
			go func() { done <- s.Wait(ctx, sequent.Key{}, sequent.Position{}) }()
			h := begin(key(fmt.Sprint(i)), "one").Header
			var err error
			for returned := false; !returned; {
				select {
				case err = <-done:
					returned = true
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
	{"until the context ends", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		for _, k := range []sequent.Key{key("a"), {}, key("missing")} {
			var have sequent.Position
			if k.ID == "a" {
				have = w.Header.Position()
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			calls, err := waitUntil(ctx, s, k, have, func() bool { return false })
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait for %q: %v, want context.DeadlineExceeded", k, err)
			}
			if calls > 100 {
				t.Errorf("Wait for %q returned %d times in 200 ms without a change", k, calls)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Wait(ctx, key("a"), w.Header.Position()); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait with a cancelled context: %v, want context.Canceled", err)
		}
	}},
	{"commits to other sessions do not wake", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		ctx, cancel := context.WithCancel(t.Context())
		type result struct {
			calls int
			err   error
		}
		done := make(chan result, 1)
		go func() {
			calls, err := waitUntil(ctx, s, key("a"), w.Header.Position(), func() bool { return false })
			done <- result{calls, err}
		}()
		other := begin(key("b")).Header
		for range 300 {
			put(t, s, add(other, "more"))
		}
		cancel()
		if r := <-done; !errors.Is(r.err, context.Canceled) || r.calls > 150 { // Wait may return early
			t.Errorf("Wait returned %d times during 300 commits to another session, and then %v", r.calls, r.err)
		}
	}},
}
