package panel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/panel"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/tool"
)

// A cast answers by perspective and step, so that the order of requests does not matter.
type cast struct {
	mu    sync.Mutex
	asked []string
	turns map[string]llmtest.Turn // "critical 1", "synthesis 1"
}

func newCast() *cast {
	c := &cast{turns: map[string]llmtest.Turn{"synthesis 1": llmtest.Say(
		`{"answer":"Move the check.","points":[{"text":"Both see the check.","refs":["factual#2","critical#3"]},{"text":"Nobody says so.","refs":["creative#9"]},{"text":"It may pay.","refs":["[optimistic#3]"]}]}`)}}
	for _, name := range []string{"factual", "critical", "optimistic", "creative"} {
		c.turns[name+" 1"] = llmtest.Turn{Calls: []llm.Call{{ID: "a", Name: "record_thought", Args: `{"thought":"` + name + ` thought"}`}}}
		c.turns[name+" 2"] = llmtest.Say(name + " answer")
	}
	return c
}

func (c *cast) model() llm.Model {
	turn := llmtest.Turn{Answer: func(ctx context.Context, r llm.Request) llmtest.Turn {
		name, step := "synthesis", 1
		if _, rest, ok := strings.Cut(r.Messages[0].Text, "Your perspective is "); ok {
			name, _, _ = strings.Cut(rest, ".")
		}
		for _, m := range r.Messages {
			if m.Role == llm.Assistant {
				step++
			}
		}
		at := fmt.Sprint(name, " ", step)
		c.mu.Lock()
		c.asked = append(c.asked, at)
		t, ok := c.turns[at]
		c.mu.Unlock()
		if t.Answer != nil {
			t = t.Answer(ctx, r)
		}
		if !ok {
			t.Err = &llm.Error{Code: llm.CodeUnavailable, Msg: "no answer at " + at}
		}
		return t
	}}
	return llmtest.New(slices.Repeat([]llmtest.Turn{turn}, 100)...)
}

func open(t *testing.T, cfg panel.Config) *panel.Panel {
	t.Helper()
	p, err := panel.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a panel for at most limit events, or to its end if limit is negative.
func run(ctx context.Context, p *panel.Panel, limit int) (n int, done *panel.Synthesis, err error) {
	for e, err := range p.Run(ctx, "p") {
		if err != nil {
			return n, nil, err
		}
		if e.Done != nil {
			done = e.Done
		}
		if n++; n == limit {
			return n, done, nil
		}
	}
	return n, done, nil
}

func session(t *testing.T, e *sequent.Engine) *sequent.Session {
	t.Helper()
	s, err := e.Session(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// covers: 003/agents-beside
func TestPanel(t *testing.T) {
	e := sequent.New(sequent.Config{})
	c := newCast()
	p := open(t, panel.Config{Engine: e, Model: c.model()})
	if err := p.Begin(t.Context(), "p", "Orders time out at noon."); err != nil {
		t.Fatal(err)
	}
	_, done, err := run(t.Context(), p, -1)
	if err != nil || done == nil {
		t.Fatal(done, err)
	}
	if len(done.Points) != 2 || !slices.Equal(done.Dropped, []string{"Nobody says so."}) || !slices.Equal(done.Silent, []string{"creative"}) || done.Failures != nil {
		t.Errorf("got %+v", done)
	}
	s := session(t, e)
	if s.State() != sequent.Completed || s.Len() != 10 || len(s.Branches()) != 4 || !strings.HasSuffix(s.Conclusion(), "- It may pay. [optimistic#3]") {
		t.Errorf("got %+v", s.Header())
	}
	for i, st := range s.Standings() {
		if st.State == sequent.Left {
			t.Errorf("thought %d was left", i+1)
		}
	}
	st, ok := panel.StateOf(s)
	if !ok || st.Calls != 9 || st.Usage != (llm.Usage{Input: 90, Output: 45}) || len(c.asked) != 9 {
		t.Errorf("got %+v after %q", st, c.asked)
	}
	// Another run asks for nothing.
	if n, again, err := run(t.Context(), p, -1); err != nil || n != 1 || again == nil || len(c.asked) != 9 {
		t.Errorf("again: %d events, %v, %v", n, again, err)
	}
	if est := p.Estimate("Orders time out."); est.Calls != [2]int{5, 18} || est.Tokens[0] <= 0 || est.Tokens[0] >= est.Tokens[1] {
		t.Errorf("estimate %+v", est)
	}
}

// Perspectives work at the same time.
func TestAtTheSameTime(t *testing.T) {
	c := newCast()
	var all sync.WaitGroup
	all.Add(4)
	for _, v := range panel.Perspectives() {
		first := c.turns[v.Name+" 1"]
		c.turns[v.Name+" 1"] = llmtest.Turn{Answer: func(context.Context, llm.Request) llmtest.Turn {
			all.Done()
			all.Wait() // for ever, if they wait for each other
			return first
		}}
	}
	e := sequent.New(sequent.Config{})
	p := open(t, panel.Config{Engine: e, Model: c.model()})
	if err := p.Begin(t.Context(), "p", "?"); err != nil {
		t.Fatal(err)
	}
	if _, done, err := run(t.Context(), p, -1); err != nil || done == nil {
		t.Fatal(done, err)
	}
}

// A panel that is interrupted after any event resumes, and asks for no stored answer
// again.
func TestResumeAfterEveryEvent(t *testing.T) {
	for limit := 1; limit <= 14; limit++ {
		e := sequent.New(sequent.Config{})
		c := newCast()
		// One at a time, so that no request is under way at the interruption.
		var one sync.Mutex
		for at, turn := range c.turns {
			c.turns[at] = llmtest.Turn{Answer: func(context.Context, llm.Request) llmtest.Turn {
				one.Lock()
				defer one.Unlock()
				return turn
			}}
		}
		p := open(t, panel.Config{Engine: e, Model: c.model()})
		if err := p.Begin(t.Context(), "p", "?"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := run(t.Context(), p, limit); err != nil {
			t.Fatal(limit, err)
		}
		stored := 0
		if st, ok := panel.StateOf(session(t, e)); ok {
			stored = st.Calls
		}
		c.mu.Lock()
		c.asked = nil
		c.mu.Unlock()
		p = open(t, panel.Config{Engine: e, Model: c.model()}) // another process
		_, done, err := run(t.Context(), p, -1)
		if err != nil || done == nil {
			t.Fatalf("after %d events: %v, %v", limit, done, err)
		}
		if len(c.asked) != 9-stored {
			t.Errorf("after %d events, with %d answers stored: asked %q", limit, stored, c.asked)
		}
		if s := session(t, e); s.Len() != 10 {
			t.Errorf("after %d events: %d thoughts, want 10", limit, s.Len())
		}
	}
}

// A perspective that fails is named, and the others go on.
func TestFailures(t *testing.T) {
	e := sequent.New(sequent.Config{})
	c := newCast()
	c.turns["critical 1"] = llmtest.Turn{Err: &llm.Error{Code: llm.CodeDeclined, Msg: "the model declined"}}
	c.turns["creative 2"] = llmtest.Turn{Answer: func(ctx context.Context, _ llm.Request) llmtest.Turn {
		<-ctx.Done()
		return llmtest.Turn{Err: ctx.Err()}
	}}
	c.turns["synthesis 1"] = llmtest.Say("no JSON")
	c.turns["synthesis 2"] = llmtest.Say(`{"answer":"Yes.","points":[{"text":"A new way.","refs":["creative#2"]}]}`)
	views := panel.Perspectives()
	views[3].Timeout = 50 * time.Millisecond
	p := open(t, panel.Config{Engine: e, Model: c.model(), Perspectives: views})
	if err := p.Begin(t.Context(), "p", "?"); err != nil {
		t.Fatal(err)
	}
	_, done, err := run(t.Context(), p, -1)
	if err != nil || len(done.Failures) != 2 || done.Failures[0].State != panel.Failed || done.Failures[1].State != panel.Cut ||
		!strings.Contains(done.Text(), "- The perspective critical failed: the model declined") || !strings.Contains(done.Text(), "creative was cut short: it took longer than 50ms") {
		t.Errorf("got %+v, %v", done, err)
	}
}

// If all fail, the next run tries them again.
func TestAllFail(t *testing.T) {
	e := sequent.New(sequent.Config{})
	c := &cast{turns: map[string]llmtest.Turn{}}
	p := open(t, panel.Config{Engine: e, Model: c.model()})
	if err := p.Begin(t.Context(), "p", "?"); err != nil {
		t.Fatal(err)
	}
	_, _, err := run(t.Context(), p, -1)
	if e, ok := errors.AsType[*panel.Error](err); !ok || e.Code != panel.CodeFailed {
		t.Fatalf("got %v", err)
	}
	p = open(t, panel.Config{Engine: e, Model: newCast().model()})
	if _, done, err := run(t.Context(), p, -1); err != nil || len(done.Failures) != 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
}

// Budgets end perspectives, and leave enough for the synthesis.
func TestBudgets(t *testing.T) {
	for name, cfg := range map[string]panel.Config{"calls": {CallBudget: 6}, "tokens": {TokenBudget: 70}} {
		e := sequent.New(sequent.Config{})
		c := newCast()
		c.turns["synthesis 1"] = llmtest.Turn{Answer: func(_ context.Context, r llm.Request) llmtest.Turn {
			_, rest, _ := strings.Cut(r.Messages[1].Text, "The perspective ")
			view, _, _ := strings.Cut(rest, ":")
			return llmtest.Say(`{"answer":"Yes.","points":[{"text":"So.","refs":["` + view + `#2"]}]}`)
		}}
		cfg.Engine, cfg.Model = e, c.model()
		p := open(t, cfg)
		if err := p.Begin(t.Context(), "p", "?"); err != nil {
			t.Fatal(err)
		}
		_, done, err := run(t.Context(), p, -1)
		if err != nil || len(done.Failures) == 0 || !strings.Contains(done.Text(), "the budget is used up") {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		if st, _ := panel.StateOf(session(t, e)); cfg.CallBudget > 0 && st.Calls > cfg.CallBudget {
			t.Errorf("%d calls of a budget of %d", st.Calls, cfg.CallBudget)
		}
	}
}

func TestInvalid(t *testing.T) {
	e := sequent.New(sequent.Config{})
	for _, cfg := range []panel.Config{
		{Perspectives: panel.Perspectives()[:1]}, {CallBudget: 5},
		{Perspectives: []panel.Perspective{{Name: "a", Instructions: "x"}, {Name: "a", Instructions: "y"}}},
		{Perspectives: []panel.Perspective{{Name: "main", Instructions: "x"}, {Name: "a", Instructions: "y"}}},
		{Perspectives: []panel.Perspective{{Name: "a"}, {Name: "b", Instructions: "y"}}},
	} {
		cfg.Engine = e
		if _, err := panel.New(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
	p := open(t, panel.Config{Engine: e, Model: newCast().model()})
	if err := p.Begin(t.Context(), "p", " "); err == nil {
		t.Error("an empty problem is accepted")
	}
	if _, err := e.Begin(t.Context(), "p", func(*sequent.Change) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t.Context(), p, -1); err == nil {
		t.Error("a session without a panel is run")
	}
}

// A perspective has its own tools. A call that was interrupted is not repeated.
func TestTools(t *testing.T) {
	e := sequent.New(sequent.Config{})
	c := newCast()
	c.turns["factual 1"] = llmtest.Turn{Calls: []llm.Call{{ID: "w", Name: "write", Args: "{}"}}}
	c.turns["factual 2"] = llmtest.Say("factual answer")
	views := panel.Perspectives()
	wrote := 0
	views[0].Tools = []tool.Tool{{Spec: tool.Spec{Name: "write"}, Call: func(context.Context, tool.Call) (tool.Reply, error) {
		wrote++
		return tool.Reply{Text: "written"}, nil
	}}}
	p := open(t, panel.Config{Engine: e, Model: c.model(), Perspectives: views})
	if err := p.Begin(t.Context(), "p", "?"); err != nil {
		t.Fatal(err)
	}
	if _, done, err := run(t.Context(), p, -1); err != nil || done == nil || wrote != 1 {
		t.Errorf("wrote %d times: %+v, %v", wrote, done, err)
	}
}
