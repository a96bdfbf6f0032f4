package command

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

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
			_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: text})
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

// watch --all-owners names the owner of each thought, beside the store and from a server.
func TestWatchAllOwners(t *testing.T) {
	t.Parallel()
	r := newReaders(t)
	a, err := app.Open(t.Context(), app.Config{Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	think := func(owner, text string) {
		t.Helper()
		_, err := a.Engine.Owned(owner).Ensure(t.Context(), "same", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 1, Branch: "side", From: sequent.To(1), Text: text})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"SEQUENT_SERVER=" + r.server, "SEQUENT_TOKEN=" + r.tokens["lead"]}
	for _, where := range []struct {
		name string
		env  []string
		args []string
	}{{"store", nil, []string{"--store", r.store}}, {"server", env, nil}} {
		cmd, lines := startCommandIn(t, where.env, append([]string{"watch", "--all-owners", "--all-projects"}, where.args...)...)
		// The list was read before the first line; what follows is new.
		for n, seen := 0, false; !seen; n++ {
			think("carol", "probe")
			select {
			case got := <-lines:
				if seen = true; !strings.Contains(got, " same carol ") {
					t.Errorf("%s: got %s", where.name, got)
				}
			case <-time.After(time.Second):
				if n > 60 {
					t.Fatalf("%s: watch writes nothing", where.name)
				}
			}
		}
		for _, owner := range []string{"alice", "bob"} {
			think(owner, "of "+owner)
			for got := "probe"; strings.Contains(got, "probe"); {
				select {
				case got = <-lines:
				case <-time.After(time.Minute):
					t.Fatalf("%s: no thought of %s", where.name, owner)
				}
				if !strings.Contains(got, "probe") && !strings.HasSuffix(got, "of "+owner) || strings.Contains(got, " same "+owner+" ") == strings.Contains(got, "probe") {
					t.Errorf("%s: got %s, want the thought of %s", where.name, got, owner)
				}
			}
		}
		stop(t, cmd)
		for got := range lines {
			t.Errorf("%s: got %s", where.name, got)
		}
		if err := cmd.Wait(); err != nil && !stopKills {
			t.Errorf("%s: sequent watch ended with %v", where.name, err)
		}
	}
}
