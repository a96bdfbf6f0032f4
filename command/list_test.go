package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
)

// A listOnly store counts listings and refuses to load sessions.
type listOnly struct {
	sequent.Store
	lists int
}

func (l *listOnly) Load(context.Context, sequent.Key, sequent.Position, int) (sequent.Header, []sequent.Entry, error) {
	return sequent.Header{}, nil, errors.New("a session was loaded")
}

func (l *listOnly) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	l.lists++
	return l.Store.List(ctx, q)
}

// TestListIsOneQuery verifies that a listing needs one query, whatever the number of
// sessions.
func TestListIsOneQuery(t *testing.T) {
	store := sequent.NewMemoryStore()
	engine := sequent.New(sequent.Config{Store: store})
	for _, id := range []sequent.ID{"a", "b", "c"} {
		if _, err := engine.Begin(t.Context(), id, func(c *sequent.Change) error {
			for _, branch := range []string{"", "x", "y", "x"} {
				if _, err := c.Append(sequent.Draft{Number: 1, Total: 2, Text: "text", Branch: branch}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	only := &listOnly{Store: store}
	var out bytes.Buffer
	p := &program{json: true, out: &out, getenv: func(string) string { return "" }, now: time.Now}
	p.project.all = true // in a project, one more query counts the sessions of others
	if err := p.listSessions(t.Context(), &app.App{Engine: sequent.New(sequent.Config{Store: only})}, &listing{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"thoughts":4,"branches":2`); n != 3 || only.lists != 1 {
		t.Errorf("%d rows, %d listings, want 3 and 1:\n%s", n, only.lists, out.String())
	}
}
