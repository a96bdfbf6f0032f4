package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
)

// watch and show tell that a plan has failed, and why.
func TestWatchFailedPlan(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	a, err := app.Open(t.Context(), app.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	change := func(text, state string) {
		t.Helper()
		_, err := a.Engine.Ensure(t.Context(), "plan-1", func(c *sequent.Change) error {
			c.SetLabel("plan", state)
			if text == "" {
				return nil
			}
			_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: text, More: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const failed = `{"machine":"plan","problem":"p","state":"error","usage":{},"fault":{"phase":"research","code":"x","message":"the model is away"}}`
	change("first", `{"machine":"plan","problem":"p","state":"research","usage":{}}`)
	watch, lines := startCommand(t, "watch", "--store", store, "plan-1")
	if got := <-lines; !strings.Contains(got, "first") {
		t.Errorf("got first line %q, want the thought", got)
	}
	change("", failed)
	if got := <-lines; !strings.HasSuffix(got, " The phase research failed: the model is away.") {
		t.Errorf("got %q, want the failure", got)
	}
	change("second", failed) // still failed: it is not told again
	if got := <-lines; !strings.Contains(got, "second") {
		t.Errorf("got %q, want the second thought", got)
	}
	stop(t, watch)
	for range lines {
	}
	if err := watch.Wait(); err != nil && !stopKills {
		t.Errorf("sequent watch ended with %v", err)
	}
}
