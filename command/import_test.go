package command

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// A signal ends an import that waits for standard input.
func TestImportOfStandardInputIsCanceled(t *testing.T) {
	in, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan error, 1)
	go func() {
		_, err := (&importRun{program: &program{in: in}}).spool(ctx)
		done <- err
	}()
	select {
	case err := <-done:
		if sequent.CodeOf(err) != sequent.CodeCanceled {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the import waits for standard input")
	}
}
