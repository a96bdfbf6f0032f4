package sequent_test

import (
	"context"
	"testing"

	"github.com/sequent-dev/sequent"
)

// Thousands of watches of one session read a few at a time, so that its change keeps no other
// caller from the store.
func TestTurn(t *testing.T) {
	t.Parallel()
	w, err := sequent.New(sequent.Config{}).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var third error
	turn := func(ctx context.Context, read func()) {
		if err := w.Turn(ctx, read); err != nil {
			third = err
		}
	}
	turn(t.Context(), func() {
		turn(t.Context(), func() {
			turn(done, func() { t.Error("a third watch reads at the same time") })
		})
	})
	if sequent.CodeOf(third) != sequent.CodeCanceled {
		t.Errorf("the third watch: %v", third)
	}
}
