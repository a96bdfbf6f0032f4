package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

// think records a plain thought.
func think(t testing.TB, tl *history.Tool, id sequent.ID, number int, text string) history.Output {
	t.Helper()
	return record(t, tl, history.Input{
		Thought: text, NextThoughtNeeded: true, ThoughtNumber: number, TotalThoughts: 5, SessionID: id,
	})
}

func record(t testing.TB, tl *history.Tool, in history.Input) history.Output {
	t.Helper()
	out, err := tl.Think(t.Context(), in)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return out
}

// texts are the thoughts of a history.
func texts(out history.Output) string {
	var list []string
	for _, e := range out.ThoughtHistory {
		list = append(list, e.Thought)
	}
	return strings.Join(list, ", ")
}

// ids are the tool's sessions.
func ids(t testing.TB, tl *history.Tool) []sequent.ID {
	t.Helper()
	var list []sequent.ID
	for s, err := range tl.Sessions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s.ID())
	}
	return list
}

// A tool that is made with an id keeps it.
func TestPinned(t *testing.T) {
	e := sequent.New(sequent.Config{})
	tl := history.NewTool(history.ToolConfig{Engine: e, SessionID: "plan-7"})
	if out := think(t, tl, "", 1, "a"); out.SessionID != "plan-7" || texts(out) != "a" {
		t.Errorf("the first thought is answered with %+v", out)
	}
	if out := think(t, tl, "another", 2, "b"); out.SessionID != "plan-7" || texts(out) != "a, b" {
		t.Errorf("a call that names another session is answered with %+v", out)
	}

	before, err := e.Session(t.Context(), "plan-7")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tl.Think(t.Context(), history.Input{
		Thought: strings.Repeat("a", 64<<10+1), ThoughtNumber: 1, TotalThoughts: 1, ClearSession: true,
	})
	if sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("a thought that is too long is answered with %v", err)
	}
	if s, err := tl.Session(t.Context(), "plan-7"); err != nil || s.Epoch() != before.Epoch() || s.Len() != 2 {
		t.Errorf("a refused call has cleared the session: %v", err)
	}

	out := record(t, tl, history.Input{Thought: "c", NextThoughtNeeded: true, ThoughtNumber: 1, TotalThoughts: 1, ClearSession: true})
	if out.SessionID != "plan-7" || texts(out) != "c" {
		t.Errorf("the session is begun afresh as %+v", out)
	}
	if s, err := tl.Session(t.Context(), "plan-7"); err != nil || s.Epoch() == before.Epoch() {
		t.Errorf("the session is still the same one: %v", err)
	}

	same := history.NewTool(history.ToolConfig{Engine: e, SessionID: "plan-7"})
	if out := think(t, same, "", 2, "d"); texts(out) != "c, d" {
		t.Errorf("a tool with the same id sees %q", texts(out))
	}
	for _, other := range []*history.Tool{
		history.NewTool(history.ToolConfig{Engine: e, SessionID: "plan-8"}),
		history.NewTool(history.ToolConfig{Engine: e}),
		history.NewTool(history.ToolConfig{Engine: e.Owned("alice"), SessionID: "plan-7"}),
		history.NewTool(history.ToolConfig{SessionID: "plan-7"}),
	} {
		if out := think(t, other, "", 1, "x"); texts(out) != "x" {
			t.Errorf("another tool sees %q", texts(out))
		}
	}
	if err := tl.Clear(t.Context(), "plan-7"); err != nil {
		t.Error(err)
	}
	if out := think(t, tl, "", 1, "e"); out.SessionID != "plan-7" || texts(out) != "e" {
		t.Errorf("after Clear the session is begun as %+v", out)
	}
}

// A server can be pinned as well.
func TestPinnedDialect(t *testing.T) {
	d := history.New(history.Config{Engine: sequent.New(sequent.Config{}), SessionID: "plan-7", Window: 1})
	const args = `{"thought":"a","thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true,"sessionId":"mine"}`
	for n := 1; n <= 2; n++ {
		reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
		var out history.Output
		if jsonErr := json.Unmarshal(reply.JSON, &out); err != nil || jsonErr != nil ||
			out.SessionID != "plan-7" || texts(out) != "a" || out.ThoughtHistoryLength != n {
			t.Errorf("call %d: got %s, %v", n, reply.Text, err)
		}
	}
}

// Each of several concurrent callers that clear the session gets one with its thought,
// and no change is half done.
func TestPinnedClearedByMany(t *testing.T) {
	e := sequent.New(sequent.Config{})
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			tl := history.NewTool(history.ToolConfig{Engine: e, SessionID: "p"})
			for range 20 {
				out := record(t, tl, history.Input{
					Thought: fmt.Sprint(n), NextThoughtNeeded: true, ThoughtNumber: 1, TotalThoughts: 1, ClearSession: n%2 == 0,
				})
				if last := out.ThoughtHistory[len(out.ThoughtHistory)-1]; last.Thought != fmt.Sprint(n) || n%2 == 0 && len(out.ThoughtHistory) != 1 {
					t.Errorf("agent %d is answered with %+v", n, out.ThoughtHistory)
				}
			}
		})
	}
	wg.Wait()
}

func TestWindow(t *testing.T) {
	e := sequent.New(sequent.Config{})
	tl := history.NewTool(history.ToolConfig{Engine: e, Window: 2})
	out := think(t, tl, "", 1, "a")
	for i, want := range []string{"a, b", "b, c", "c, d"} {
		out = think(t, tl, out.SessionID, i+2, string(rune('b'+i)))
		if texts(out) != want || out.ThoughtHistoryLength != i+2 {
			t.Errorf("thought %d: the history is %q of %d, want %q of %d", i+2, texts(out), out.ThoughtHistoryLength, want, i+2)
		}
	}
	whole := history.NewTool(history.ToolConfig{Engine: e})
	if out := think(t, whole, out.SessionID, 5, "e"); texts(out) != "a, b, c, d, e" {
		t.Errorf("without a window the history is %q", texts(out))
	}
}

func TestTTL(t *testing.T) {
	tests := []struct {
		name      string
		ttl       time.Duration
		engine    time.Duration
		keeps     time.Duration // so long after the last use it is there
		forgotten time.Duration // and so long after it is not; 0 means that it always is there
	}{
		{"default", 0, 0, 30*time.Minute - time.Second, 30 * time.Minute},
		{"set", time.Hour, 0, time.Hour - time.Second, time.Hour},
		{"the engine's is longer", 5 * time.Minute, 24 * time.Hour, 5*time.Minute - time.Second, 5 * time.Minute},
		{"the engine's is shorter", 2 * time.Hour, time.Minute, 2*time.Hour - time.Second, 2 * time.Hour},
		{"for ever", -1, 0, 1000 * time.Hour, 0},
		{"for ever, where the engine forgets", -1, time.Hour, 1000 * time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := sequent.New(sequent.Config{TTL: tt.engine})
				tl := history.NewTool(history.ToolConfig{Engine: e, TTL: tt.ttl})
				id := think(t, tl, "", 1, "a").SessionID
				for n := range 3 {
					time.Sleep(tt.keeps)
					if out := think(t, tl, id, n+2, "b"); out.SessionID != id {
						t.Fatalf("%v after use %d the session is gone", tt.keeps, n+1)
					}
				}
				if tt.forgotten == 0 {
					return
				}
				time.Sleep(tt.forgotten)
				if _, err := tl.Session(t.Context(), id); !errors.Is(err, sequent.ErrNotFound) {
					t.Errorf("%v after its last use the session is read: %v", tt.forgotten, err)
				}
				if got := ids(t, tl); len(got) != 0 {
					t.Errorf("it is listed: %v", got)
				}
				if n, err := e.Sweep(t.Context(), sequent.Query{AllOwners: true, Expired: e.Now()}); n != 1 || err != nil {
					t.Errorf("the sweep removes %d, %v", n, err)
				}
				if out := think(t, tl, id, 9, "c"); out.SessionID == id || texts(out) != "c" {
					t.Errorf("it is continued: %+v", out)
				}
			})
		})
	}
}

// A pinned session that has expired is begun anew.
func TestPinnedExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := history.NewTool(history.ToolConfig{SessionID: "p"})
		think(t, tl, "", 1, "a")
		time.Sleep(30 * time.Minute)
		if out := think(t, tl, "", 2, "b"); out.SessionID != "p" || texts(out) != "b" {
			t.Errorf("the session is %+v", out)
		}
	})
}

// A tool that has an engine for itself does not gather what has expired.
func TestOwnEngineIsSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := history.NewTool(history.ToolConfig{})
		for range 10 {
			for range 100 {
				think(t, tl, "", 1, "a")
			}
			time.Sleep(30 * time.Minute)
		}
		think(t, tl, "", 1, "a")
		if n, err := history.Sweep(t.Context(), tl); n != 0 || err != nil {
			t.Errorf("%d expired sessions were left (%v)", n, err)
		}
	})
}

func TestClear(t *testing.T) {
	e := sequent.New(sequent.Config{})
	tl, other := history.NewTool(history.ToolConfig{Engine: e}), history.NewTool(history.ToolConfig{Engine: e})
	alice := history.NewTool(history.ToolConfig{Engine: e.Owned("alice")})
	if _, err := e.Begin(t.Context(), "theirs", func(c *sequent.Change) error {
		c.BeginIn("", "standard")
		_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: "theirs"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	a, b, c := think(t, tl, "", 1, "a").SessionID, think(t, other, "", 1, "b").SessionID, think(t, alice, "", 1, "c").SessionID
	think(t, tl, "theirs", 2, "continued")

	got := ids(t, tl)
	slices.Sort(got)
	want := []sequent.ID{a, b}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the sessions are %v, want %v", got, want)
	}
	if s, err := tl.Session(t.Context(), a); err != nil || s.Len() != 1 || len(s.Branches()) != 0 || s.Created().IsZero() {
		t.Errorf("session %s is %+v, %v", a, s, err)
	}
	for _, id := range []sequent.ID{"theirs", c, "nowhere"} {
		if _, err := tl.Session(t.Context(), id); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("session %s is read: %v", id, err)
		}
		if err := tl.Clear(t.Context(), id); err != nil {
			t.Errorf("clearing %s, which is no session of the tool, fails: %v", id, err)
		}
	}
	if err := tl.Clear(t.Context(), a); err != nil {
		t.Error(err)
	}
	if out := think(t, tl, a, 2, "again"); out.SessionID == a || out.ThoughtHistoryLength != 1 {
		t.Errorf("a cleared session goes on: %+v", out)
	}
	for range 250 { // more than a page
		think(t, tl, "", 1, "a")
	}
	if err := tl.ClearAll(t.Context()); err != nil {
		t.Error(err)
	}
	if got := ids(t, tl); len(got) != 0 {
		t.Errorf("%d sessions are left", len(got))
	}
	if s, err := e.Session(t.Context(), "theirs"); err != nil || s.Len() != 2 {
		t.Errorf("the session of another dialect is gone: %v", err)
	}
	if got := ids(t, alice); !slices.Equal(got, []sequent.ID{c}) {
		t.Errorf("alice's sessions are %v", got)
	}
}

// Bad calls are refused alike in Go and in JSON.
func TestRefusals(t *testing.T) {
	tl := history.NewTool(history.ToolConfig{})
	for _, in := range []history.Input{
		{Thought: "a", ThoughtNumber: 0, TotalThoughts: 1},
		{Thought: "a", ThoughtNumber: 1, TotalThoughts: -1},
		{Thought: "a", ThoughtNumber: 1, TotalThoughts: 1, RevisesThought: -1},
		{Thought: "a", ThoughtNumber: 1, TotalThoughts: 1, BranchFromThought: -1},
		{Thought: "a", ThoughtNumber: 1, TotalThoughts: 1, BranchID: "a\x00b"},
		{Thought: "a", ThoughtNumber: 1, TotalThoughts: 1, SessionID: "\u200f"},
		{Thought: strings.Repeat("a", 64<<10+1), ThoughtNumber: 1, TotalThoughts: 1},
	} {
		out, err := tl.Think(t.Context(), in)
		if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Field == "" || e.Msg == "" || out.SessionID != "" {
			t.Errorf("%.200v is answered with %+v, %v", in, out, err)
		}
		args, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := tl.CallJSON(t.Context(), args)
		var refusal struct {
			Error tool.Refusal `json:"error"`
		}
		if jsonErr := json.Unmarshal(raw, &refusal); err != nil || jsonErr != nil || refusal.Error.Code == "" || refusal.Error.Message == "" {
			t.Errorf("%.200s is answered with %s, %v", args, raw, err)
		}
		text, err := tl.Call(t.Context(), string(args))
		if err != nil || !strings.HasPrefix(text, refusal.Error.Code+": ") {
			t.Errorf("%.200s is answered with %s, %v", args, text, err)
		}
	}
	if got := ids(t, tl); len(got) != 0 {
		t.Errorf("%d sessions were begun", len(got))
	}
	if text, err := tl.Call(t.Context(), "think about it"); err != nil || !strings.HasPrefix(text, "INVALID_ARGUMENT: ") {
		t.Errorf("plain text is answered with %s, %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tl.Think(ctx, history.Input{Thought: "a", ThoughtNumber: 1, TotalThoughts: 1}); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("a call that was given up is answered with %v", err)
	}
}

// What is done beside a thought is committed with it, or neither is.
func TestBeside(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	full := errors.New("no more")
	tl := history.NewTool(history.ToolConfig{Engine: engine, SessionID: "s", Beside: func(_ context.Context, c *sequent.Change) error {
		if c.Session().Len() > 1 {
			return full
		}
		c.SetLabel("count", fmt.Sprint(c.Session().Len()))
		return nil
	}})
	in := history.Input{Thought: "a", ThoughtNumber: 1, TotalThoughts: 2, NextThoughtNeeded: true}
	if _, err := tl.Think(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if _, err := tl.Think(t.Context(), in); !errors.Is(err, full) {
		t.Errorf("a refused thought: %v", err)
	}
	s, err := engine.Session(t.Context(), "s")
	if err != nil || s.Len() != 1 || s.Label("count") != "1" {
		t.Errorf("the session has %d thoughts, labels %v: %v", s.Len(), s.Header().Labels, err)
	}
	reply, err := tl.Tool().Call(t.Context(), tool.Call{Args: json.RawMessage(`{"thought":""}`)})
	if err != nil || !reply.Failed {
		t.Errorf("as a value: %+v, %v", reply, err)
	}
}

// A quota that refuses the new session of clearSession leaves the old one.
func TestClearSessionBeyondQuota(t *testing.T) {
	store := sequent.NewMemoryStore()
	free := history.NewTool(history.ToolConfig{Engine: sequent.New(sequent.Config{Store: store}), SessionID: "pinned"})
	think(t, free, "", 1, "kept")
	limited := history.NewTool(history.ToolConfig{
		Engine:    sequent.New(sequent.Config{Store: store, Quota: sequent.Quota{Bytes: 100}}),
		SessionID: "pinned",
	})
	_, err := limited.Think(t.Context(), history.Input{Thought: "new", ThoughtNumber: 1, TotalThoughts: 1, ClearSession: true})
	if sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
		t.Fatalf("clearSession beyond the quota: %v", err)
	}
	s, err := limited.Session(t.Context(), "pinned")
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := s.Last(); s.Len() != 1 || last.Text != "kept" {
		t.Errorf("the old session has %d thoughts, the last is %q", s.Len(), last.Text)
	}
}
