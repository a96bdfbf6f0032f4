package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A sleeper is a model that takes as long as the caller's choice of it says.
type sleeper struct{}

func (sleeper) Write(ctx context.Context, p status.Prompt) (status.Answer, error) {
	d, err := time.ParseDuration(p.Model)
	if err != nil {
		return status.Answer{}, err
	}
	select {
	case <-time.After(d):
		return status.Answer{Text: "after " + p.Model, Model: p.Model}, nil
	case <-ctx.Done():
		return status.Answer{}, ctx.Err()
	}
}

// Calls that wait for a language model run beside the others, and the calls of one
// session keep their order, whichever tool they call.
func TestCallsRunBesideAModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := sequent.New(sequent.Config{})
		s := New(Config{
			Dialect: status.New(status.Config{Engine: e, Model: sleeper{}}),
			Caller:  tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true}},
		})
		p := dial(t, s)
		p.open()
		external := func(id int, session, wait string) string {
			return callWith(fmt.Sprint(id), fmt.Sprintf(`"name":"sequential_thinking_external","arguments":{"thought":"q","thought_number":1,"total_thoughts":9,"next_thought_needed":true,"session_id":%q,"model":%q}`, session, wait))
		}
		own := func(id int, session, text string) string {
			return callWith(fmt.Sprint(id), fmt.Sprintf(`"name":"sequential_thinking","arguments":{"thought":%q,"thought_number":1,"total_thoughts":9,"next_thought_needed":true,"session_id":%q}`, text, session))
		}
		begun := time.Now()
		p.send(external(1, "s", "30s"), external(2, "s", "1s"), own(3, "s", "mine"), external(4, "other", "2s"), own(5, "third", "quick"),
			external(6, "s", "1h"), own(7, "s", "last"), `{"jsonrpc":"2.0","id":8,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
		replied := func() (id int) {
			t.Helper()
			var m struct{ ID int }
			if l := p.line(); json.Unmarshal([]byte(l), &m) != nil || strings.Contains(l, `"error"`) {
				t.Fatalf("the server wrote %s", l)
			}
			return m.ID
		}
		for range 3 { // what waits for nothing
			if id := replied(); id != 5 && id != 8 && id != 9 || time.Since(begun) > time.Second {
				t.Errorf("reply %d after %v, want 5, 8 and 9 at once", id, time.Since(begun))
			}
		}
		for _, want := range []struct {
			id    int
			after time.Duration
		}{{4, 2 * time.Second}, {1, 30 * time.Second}, {2, 31 * time.Second}, {3, 31 * time.Second}} {
			if id := replied(); id != want.id || time.Since(begun).Truncate(time.Second) != want.after {
				t.Errorf("reply %d after %v, want %d after %v", id, time.Since(begun), want.id, want.after)
			}
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`)
		_ = p.in.Close() // everything that was read is answered, but for what was cancelled
		if id := replied(); id != 7 {
			t.Errorf("reply %d, want 7", id)
		}
		p.ended()
		session, err := e.Session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for th := range session.All() {
			texts = append(texts, th.Text)
		}
		if want := []string{"after 30s", "after 1s", "mine", "last"}; !slices.Equal(texts, want) {
			t.Errorf("recorded %q, want %q", texts, want)
		}
	})
}

// At the end of the input calls of a model have a bounded time. Then they are cancelled,
// answered, and nothing of them is recorded.
func TestModelCallsEndAfterTheInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := sequent.New(sequent.Config{})
		s := New(Config{
			Dialect: status.New(status.Config{Engine: e, Model: sleeper{}}),
			Caller:  tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true}},
		})
		p := dial(t, s)
		p.open()
		for i, wait := range []string{"20s", "1h", "1h"} {
			p.send(callWith(fmt.Sprint(i+1), fmt.Sprintf(`"name":"sequential_thinking_external","arguments":{"thought":"q","thought_number":1,"total_thoughts":9,"next_thought_needed":true,"session_id":"s%d","model":%q}`, i%2, wait)))
		}
		begun := time.Now()
		_ = p.in.Close()
		for range 3 {
			if l := p.line(); strings.Contains(l, `"error"`) == strings.Contains(l, `"id":1`) {
				t.Errorf("the server wrote %s", l)
			}
		}
		if err := await(t, "serving ends", p.done); err != nil || time.Since(begun) != inputTimeout {
			t.Errorf("serving ended with %v after %v, want nil after %v", err, time.Since(begun), inputTimeout)
		}
		page, err := e.Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 1 {
			t.Errorf("sessions are %+v (%v), want one", page.Headers, err)
		}
	})
}
