package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// waitTimeout bounds each wait for an event that must happen.
const waitTimeout = 20 * time.Second

// watch returns a watch of sessions that is closed at the end of the test.
func watch(t *testing.T, s sequent.Store, keys ...sequent.Key) *sequent.Watch {
	t.Helper()
	w, err := sequent.WatchStore(t.Context(), s)
	if err != nil {
		t.Fatalf("Watch: %v", err)
	}
	t.Cleanup(w.Close)
	for _, k := range keys {
		w.Add(k)
	}
	return w
}

// waitUntil calls Wait until done returns true, and returns the number of calls of
// done. It returns an error if Wait always returns immediately.
func waitUntil(ctx context.Context, w *sequent.Watch, done func() bool) (int, error) {
	const maxCalls = 100_000
	for calls := 1; calls < maxCalls; calls++ {
		if done() {
			return calls, nil
		}
		if _, err := w.Wait(ctx); err != nil {
			return calls, err
		}
	}
	return maxCalls, fmt.Errorf("%d calls of Wait returned before the event", maxCalls)
}

// waitForLen waits until the session of a watch has n thoughts.
func waitForLen(t *testing.T, s sequent.Store, w *sequent.Watch, k sequent.Key, n int) error {
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	for have := (sequent.Position{}); ; {
		now, _, err := s.Load(ctx, k, have)
		if err != nil || now.Len >= n {
			return err
		}
		have = now.Position()
		if _, err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// waitFor waits until each of the sessions has been reported.
func waitFor(t *testing.T, w *sequent.Watch, keys ...sequent.Key) error {
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	missing := make(map[sequent.Key]bool)
	for _, k := range keys {
		missing[k] = true
	}
	for len(missing) > 0 {
		due, err := w.Wait(ctx)
		if err != nil {
			return fmt.Errorf("%d of %d sessions were not reported: %w", len(missing), len(keys), err)
		}
		for _, k := range due {
			delete(missing, k)
		}
	}
	return nil
}

var watchTests = []test{
	{"no commit is missed", func(t *testing.T, h Harness) {
		s := h.open(t)
		wr := begin(key("a"), "0")
		put(t, s, wr)
		w := watch(t, s, key("a"))
		done := make(chan error, 1)
		const n = 200
		go func() { done <- waitForLen(t, s, w, key("a"), n) }()
		for i := 1; i < n; i++ {
			put(t, s, add(wr.Header, fmt.Sprint(i)))
		}
		if err := <-done; err != nil {
			t.Errorf("waiting for %d thoughts: %v", n, err)
		}
	}},
	{"a change between two calls is reported", func(t *testing.T, h Harness) {
		s := h.open(t)
		wr := begin(key("a"), "0")
		put(t, s, wr)
		w := watch(t, s, key("a"), key("b"))
		for i := 1; i < 30; i++ {
			put(t, s, add(wr.Header, fmt.Sprint(i)))
			if err := waitFor(t, w, key("a")); err != nil {
				t.Fatalf("thought %d: %v", i+1, err)
			}
		}
	}},
	{"a change of the header only", func(t *testing.T, h Harness) {
		s := h.open(t)
		wr := begin(key("a"), "0")
		put(t, s, wr)
		w := watch(t, s, key("a"))
		change := next(wr.Header)
		change.Header.Title = "another"
		put(t, s, change)
		if err := waitFor(t, w, key("a")); err != nil {
			t.Error(err)
		}
	}},
	{"a watch of many sessions", func(t *testing.T, h Harness) {
		s := h.open(t)
		const n = 600 // more than one call of Wait returns
		var keys []sequent.Key
		var batch []*sequent.Write
		for i := range n {
			keys = append(keys, key(fmt.Sprint(i)))
			batch = append(batch, begin(keys[i], "one"))
		}
		put(t, s, batch...)
		w := watch(t, s, keys...)
		for i := range batch {
			batch[i] = next(batch[i].Header, "two")
		}
		put(t, s, batch...)
		if err := waitFor(t, w, keys...); err != nil {
			t.Error(err)
		}
	}},
	{"Delete and Sweep are reported", func(t *testing.T, h Harness) {
		s := h.open(t)
		for _, id := range []string{"a", "b"} {
			wr := begin(key(id), "one")
			wr.Header.Expires = start
			put(t, s, wr)
		}
		w := watch(t, s, key("a"), key("b"))
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		gone := func(id string) {
			t.Helper()
			_, err := waitUntil(ctx, w, func() bool {
				_, _, err := s.Load(ctx, key(id), sequent.Position{})
				return errors.Is(err, sequent.ErrNotFound)
			})
			if err != nil {
				t.Errorf("waiting for the end of %q: %v", id, err)
			}
		}
		if err := s.Delete(ctx, key("a"), 0); err != nil {
			t.Fatal(err)
		}
		gone("a")
		if _, err := sequent.SweepStore(ctx, s, expired(start), 1); err != nil {
			t.Fatal(err)
		}
		gone("b")
		if err := waitFor(t, w, key("b")); err != nil {
			t.Error(err)
		}
	}},
	{"the zero key stands for all sessions", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := watch(t, s, sequent.Key{})
		for i := range 20 {
			put(t, s, begin(key(fmt.Sprint(i)), "one"))
			if err := waitFor(t, w, sequent.Key{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Delete(t.Context(), key("1"), 0); err != nil {
			t.Fatal(err)
		}
		if err := waitFor(t, w, sequent.Key{}); err != nil {
			t.Errorf("a deletion: %v", err)
		}
	}},
	{"until the context ends", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"))
		w := watch(t, s, key("a"), sequent.Key{}, key("missing"))
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		calls, err := waitUntil(ctx, w, func() bool { return false })
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v, want context.DeadlineExceeded", err)
		}
		if calls > 100 {
			t.Errorf("Wait returned %d times in 200 ms without a change", calls)
		}
		if _, err := w.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait after the deadline: %v, want context.DeadlineExceeded", err)
		}
	}},
	{"until it is closed", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := watch(t, s, key("a"))
		done := make(chan error, 1)
		go func() {
			_, err := waitUntil(t.Context(), w, func() bool { return false })
			done <- err
		}()
		w.Close()
		if err := <-done; sequent.CodeOf(err) != sequent.CodeCanceled {
			t.Errorf("Wait of a closed watch: %v, want code %s", err, sequent.CodeCanceled)
		}
	}},
	{"commits to other sessions are not reported", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"))
		w := watch(t, s, key("a"))
		ctx, cancel := context.WithCancel(t.Context())
		type result struct {
			calls int
			err   error
		}
		done := make(chan result, 1)
		go func() {
			calls, err := waitUntil(ctx, w, func() bool { return false })
			done <- result{calls, err}
		}()
		other := begin(key("b")).Header
		for range 300 {
			put(t, s, add(other, "more"))
		}
		cancel()
		if r := <-done; !errors.Is(r.err, context.Canceled) || r.calls > 20 { // a few may be too many
			t.Errorf("Wait returned %d times during 300 commits to another session, and then %v", r.calls, r.err)
		}
	}},
	{"an append wakes only its reader among 40,000 watches", func(t *testing.T, h Harness) {
		s := h.open(t)
		if _, ok := sequent.As[sequent.Watcher](s); !ok {
			t.Skip("this store does not report changes")
		}
		wr := begin(key("a"), "one")
		put(t, s, wr)
		now := wr.Header
		w := watch(t, s, key("a"))
		for i := range 40_000 {
			w.Add(key(fmt.Sprint("watched ", i)))
		}
		var others atomic.Int64
		reported := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for {
				due, err := w.Wait(ctx)
				if err != nil {
					return
				}
				for _, k := range due {
					if k != key("a") {
						others.Add(1)
					}
				}
				select {
				case reported <- struct{}{}:
				default:
				}
			}
		}()
		for range 200 {
			wr := next(now, "more")
			put(t, s, wr)
			now = wr.Header
		}
		select {
		case <-reported:
		case <-time.After(waitTimeout):
			t.Error("the appends were not reported")
		}
		// A poll may find an append before the commit has returned.
		if n := others.Load(); n > 20 {
			t.Errorf("the reader has to look at %d sessions after 200 appends of the same process", n)
		}
	}},
}
