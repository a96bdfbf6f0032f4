package fairlock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/fairlock"
)

// Whoever gives up leaves the queue to the others: the lock is free once the one
// who had it lets go.
func TestWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder := flock.New(path)
	if err := fairlock.Wait(t.Context(), holder, nil); err != nil {
		t.Fatal(err)
	}
	late := make(chan time.Time, 1)
	late <- time.Time{}
	if err := fairlock.Wait(t.Context(), flock.New(path), late); !errors.Is(err, fairlock.ErrLate) {
		t.Errorf("a held lock: got %v, want %v", err, fairlock.ErrLate)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fairlock.Wait(ctx, flock.New(path), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call given up: got %v, want %v", err, context.Canceled)
	}
	got := make(chan error, 1)
	next := flock.New(path)
	go func() { got <- fairlock.Wait(t.Context(), next, nil) }()
	if err := holder.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("the next one got %v, want the lock", err)
	}
	if err := next.Unlock(); err != nil {
		t.Error(err)
	}
}
