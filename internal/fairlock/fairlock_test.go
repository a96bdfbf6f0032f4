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

// Waits that ended with an error do not keep the lock from later ones.
func TestWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder := flock.New(path)
	if err := fairlock.Wait(t.Context(), holder, nil); err != nil {
		t.Fatal(err)
	}
	timeout := make(chan time.Time, 1)
	timeout <- time.Time{}
	if err := fairlock.Wait(t.Context(), flock.New(path), timeout); !errors.Is(err, fairlock.ErrTimeout) {
		t.Errorf("Wait for a held lock = %v, want %v", err, fairlock.ErrTimeout)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fairlock.Wait(ctx, flock.New(path), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait with a cancelled context = %v, want %v", err, context.Canceled)
	}
	got := make(chan error, 1)
	next := flock.New(path)
	go func() { got <- fairlock.Wait(t.Context(), next, nil) }()
	if err := holder.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("Wait after Unlock = %v, want the lock", err)
	}
	if err := next.Unlock(); err != nil {
		t.Error(err)
	}
}
