package fairlock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/fairlock"
)

// Waits that ended with an error do not keep the lock from later ones, of the same Lock neither.
func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock := func() *fairlock.Lock {
		l := fairlock.New(path, os.O_CREATE|os.O_RDWR)
		t.Cleanup(func() { l.Close() })
		return l
	}
	holder, next := lock(), lock()
	if err := holder.Acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if locked, err := next.TryAcquire(); locked || err != nil {
		t.Errorf("TryAcquire of a held lock = %t, %v", locked, err)
	}
	if err := next.Acquire(t.Context(), time.Millisecond); !errors.Is(err, fairlock.ErrTimeout) {
		t.Errorf("Acquire of a held lock = %v, want %v", err, fairlock.ErrTimeout)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := next.Acquire(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire with a cancelled context = %v, want %v", err, context.Canceled)
	}
	got := make(chan error, 1)
	go func() { got <- next.Acquire(t.Context(), time.Minute) }()
	if err := holder.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("Acquire after Release = %v, want the lock", err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	if locked, err := holder.TryAcquire(); !locked || err != nil {
		t.Errorf("TryAcquire of a lock that was released = %t, %v", locked, err)
	}
}
