package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/tool"
)

// think returns a Think function that uses the tool of package history.
func think(e *sequent.Engine) func(sequent.ID, func(context.Context, *sequent.Change) error) tool.Tool {
	return func(id sequent.ID, onRecord func(context.Context, *sequent.Change) error) tool.Tool {
		return history.NewTool(history.ToolConfig{Engine: e, SessionID: id, TTL: -1, Window: 1, Beside: onRecord}).Tool()
	}
}

// A scene is a model whose answer depends on the phase and step of a request and
// not on the number of requests, so that a repeated request gets the same answer.
type scene struct {
	asked []string // phase and step of each request
	turns map[string]llmtest.Turn
	wrote []string // arguments of each call of the tool write
}

// position returns the phase and step of a request.
func position(r llm.Request) string {
	phase, step := "think", 1
	for _, m := range r.Messages {
		if _, rest, ok := strings.Cut(m.Text, "This is the phase "); ok && m.Role == llm.User && step == 1 {
			phase, _, _ = strings.Cut(rest, ".")
		}
		if m.Role == llm.Assistant {
			step++
		}
	}
	return fmt.Sprintf("%s %d", phase, step)
}

func thought(number int, text string) llm.Call {
	args, err := json.Marshal(history.Input{Thought: text, ThoughtNumber: number, TotalThoughts: 9, NextThoughtNeeded: number < 9})
	if err != nil {
		panic(err)
	}
	return llm.Call{Name: "sequentialthinking", Args: string(args)}
}

func newScene() *scene {
	return &scene{turns: map[string]llmtest.Turn{
		"analyze_code 1": {Text: "Ten connections, 32 workers."},
		"research 1":     {Calls: []llm.Call{thought(2, "What holds a connection?"), thought(3, "Look at the worker.")}},
		"research 2":     {Text: "Let me see.", Calls: []llm.Call{{Name: "read", Args: `{"path":"worker.go"}`}, {Name: "write", Args: `{"note":"seen"}`}, thought(4, "It calls out inside the transaction.")}},
		"research 3":     {Text: "The check holds the connection."},
		"design 1":       {Calls: []llm.Call{thought(6, "Move the check.")}},
		"design 2":       {Calls: []llm.Call{thought(9, "Nothing speaks against it.")}},
		"design 3":       {Text: "1. Move the check before the transaction.\n2. Measure."},
	}}
}

// machine returns a machine with the scene as its model, and with an altered configuration.
func (s *scene) machine(e *sequent.Engine, alter ...func(*plan.Config)) *plan.Machine {
	turn := llmtest.Turn{Answer: func(ctx context.Context, r llm.Request) llmtest.Turn {
		at := position(r)
		s.asked = append(s.asked, at)
		t, ok := s.turns[at]
		if t.Answer != nil {
			t = t.Answer(ctx, r)
		}
		if !ok {
			t.Err = &llm.Error{Code: llm.CodeUnavailable, Msg: "no answer at " + at}
		}
		t.Calls = slices.Clone(t.Calls)
		for i := range t.Calls {
			t.Calls[i].ID = fmt.Sprintf("%s.%d", at, i)
		}
		return t
	}}
	cfg := plan.Config{
		Engine: e, Model: llmtest.New(slices.Repeat([]llmtest.Turn{turn}, 100)...), Think: think(e),
		Tools: []tool.Tool{
			{Spec: tool.Spec{Name: "read", Annotations: tool.Annotations{ReadOnly: true}}, Call: func(context.Context, tool.Call) (tool.Reply, error) {
				return tool.Reply{Text: "func work() { tx.Begin(); check() }"}, nil
			}},
			{Spec: tool.Spec{Name: "write"}, Call: func(_ context.Context, c tool.Call) (tool.Reply, error) {
				s.wrote = append(s.wrote, string(c.Args))
				return tool.Reply{Text: "written"}, nil
			}},
		},
	}
	for _, f := range alter {
		f(&cfg)
	}
	return plan.New(cfg)
}

// begin returns an engine with a plan that has begun, and its machine.
func (s *scene) begin(t *testing.T, alter ...func(*plan.Config)) (*sequent.Engine, *plan.Machine) {
	t.Helper()
	e := sequent.New(sequent.Config{})
	m := s.machine(e, alter...)
	if err := m.Begin(t.Context(), "p", problem); err != nil {
		t.Fatal(err)
	}
	return e, m
}

// checkLog checks that the log has each thought once.
func checkLog(t *testing.T, e *sequent.Engine, when string) {
	t.Helper()
	if texts, s := log(t, e); !slices.Equal(texts, wantLog) || s.State() != sequent.Completed {
		t.Errorf("%s: got session %s with\n%s", when, s.State(), strings.Join(texts, "\n"))
	}
}

const problem = "Orders time out at noon.\nWhy?"

// run runs a plan for at most limit events, or to its end if limit is negative. It
// returns one line per event.
func run(m *plan.Machine, ctx context.Context, limit int) (events []string, err error) {
	for e, err := range m.Run(ctx, "p") {
		if err != nil {
			return events, err
		}
		switch {
		case e.Moved != nil:
			events = append(events, fmt.Sprintf("%s -%s-> %s", e.Moved.From, e.Moved.On, e.Moved.To))
		case e.Response != nil:
			events = append(events, fmt.Sprintf("%s %d answer", e.State, e.Step))
		case e.Calling != nil:
			events = append(events, fmt.Sprintf("%s %d calling %s", e.State, e.Step, e.Calling.Name))
		case e.Called != nil:
			events = append(events, fmt.Sprintf("%s %d called %s", e.State, e.Step, e.Called.Call.Name))
		default:
			continue
		}
		if len(events) == limit {
			return events, nil
		}
	}
	return events, nil
}

func log(t *testing.T, e *sequent.Engine) (texts []string, s *sequent.Session) {
	t.Helper()
	s, err := e.Session(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for th := range s.All() {
		texts = append(texts, fmt.Sprintf("%d %s", th.Number, th.Text))
	}
	return texts, s
}

var wantLog = []string{
	"1 Ten connections, 32 workers.", "2 What holds a connection?", "3 Look at the worker.",
	"4 It calls out inside the transaction.", "5 The check holds the connection.", "6 Move the check.", "9 Nothing speaks against it.",
}

func TestPlan(t *testing.T) {
	sc := newScene()
	e, m := sc.begin(t)
	events, err := run(m, t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"analyze_code 1 answer", "analyze_code -done-> research",
		"research 1 answer", "research 1 calling sequentialthinking", "research 1 called sequentialthinking",
		"research 1 calling sequentialthinking", "research 1 called sequentialthinking",
		"research 2 answer", "research 2 calling read", "research 2 called read", "research 2 calling write", "research 2 called write",
		"research 2 calling sequentialthinking", "research 2 called sequentialthinking",
		"research 3 answer", "research -done-> design",
		"design 1 answer", "design 1 calling sequentialthinking", "design 1 called sequentialthinking",
		"design 2 answer", "design 2 calling sequentialthinking", "design 2 called sequentialthinking",
		"design 3 answer", "design -done-> plan_complete",
	}
	if !slices.Equal(events, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(events, "\n"), strings.Join(want, "\n"))
	}
	checkLog(t, e, "at the end")
	_, s := log(t, e)
	if s.Title() != "Orders time out at noon." || !strings.HasPrefix(s.Conclusion(), "1. Move") || s.Header().Dialect != "plan" {
		t.Errorf("got session %+v", s.Header())
	}
	st, ok := plan.StateOf(s.Header())
	if !ok || st.State != "plan_complete" || len(st.Results) != 3 || st.Usage != (llm.Usage{Input: 70, Output: 35}) || st.Steps != 7 || st.Messages != nil {
		t.Errorf("got state %+v", st)
	}
	// A second Run changes nothing.
	asked := len(sc.asked)
	if again, err := run(m, t.Context(), -1); err != nil || len(again) != 1 || again[0] != "design -done-> plan_complete" || len(sc.asked) != asked {
		t.Errorf("second Run: got %q, %v", again, err)
	}
}

// A plan can be resumed after every event. No answered request is repeated, no
// thought is recorded twice, and no writing tool is called after it may have had effects.
func TestResumeAfterEveryEvent(t *testing.T) {
	for n, whole := 1, false; !whole; n++ {
		sc := newScene()
		e, m := sc.begin(t)
		before, err := run(m, t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		whole = len(before) < n
		asked := len(sc.asked)
		after, err := run(sc.machine(e), t.Context(), -1)
		if err != nil {
			t.Fatalf("after %d events: %v", n, err)
		}
		for _, at := range sc.asked[asked:] {
			if slices.Contains(sc.asked[:asked], at) && slices.Contains(before, at+" answer") {
				t.Errorf("after %d events: request %s is repeated", n, at)
			}
		}
		checkLog(t, e, fmt.Sprintf("after %d events, with %q then", n, after))
		wrote := 1
		if before[len(before)-1] == "research 2 calling write" { // it may have had effects
			wrote = 0
		}
		if len(sc.wrote) != wrote {
			t.Errorf("after %d events: write was called %d times, want %d", n, len(sc.wrote), wrote)
		}
	}
}

// A thought and the machine's state are stored in one commit, so a cancellation
// right after it does not record the thought twice.
func TestCancelAfterThought(t *testing.T) {
	for n := 1; n <= 5; n++ {
		sc := newScene()
		ctx, cancel := context.WithCancel(t.Context())
		left := n
		e, stopping := sc.begin(t, func(cfg *plan.Config) {
			record := cfg.Think
			cfg.Think = func(id sequent.ID, onRecord func(context.Context, *sequent.Change) error) tool.Tool {
				inner := record(id, onRecord)
				call := inner.Call
				inner.Call = func(ctx context.Context, c tool.Call) (tool.Reply, error) {
					reply, err := call(ctx, c)
					if left--; left == 0 {
						cancel()
					}
					return reply, err
				}
				return inner
			}
		})
		if _, err := run(stopping, ctx, -1); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d thoughts: %v", n, err)
		}
		_, s := log(t, e)
		if st, _ := plan.StateOf(s.Header()); st.State == plan.Failed || st.Fault != nil {
			t.Errorf("after %d thoughts: got state %+v", n, st)
		}
		if _, err := run(sc.machine(e), t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		checkLog(t, e, fmt.Sprintf("after %d thoughts", n))
	}
}

func TestFailAndResume(t *testing.T) {
	for _, phase := range []string{"analyze_code 1", "research 3", "design 2"} {
		sc := newScene()
		turn := sc.turns[phase]
		delete(sc.turns, phase)
		e, m := sc.begin(t)
		events, err := run(m, t.Context(), -1)
		name, _, _ := strings.Cut(phase, " ")
		if llm.CodeOf(err) != llm.CodeUnavailable || events[max(len(events)-1, 0)] != name+" -fail-> error" {
			t.Fatalf("%s: got %v after %q", phase, err, events)
		}
		_, s := log(t, e)
		st, _ := plan.StateOf(s.Header())
		if st.State != plan.Failed || st.Fault == nil || st.Fault.Phase != name || st.Fault.Code != string(llm.CodeUnavailable) || s.State() != sequent.Active {
			t.Errorf("%s: got state %+v", phase, st)
		}
		sc.turns[phase] = turn
		events, err = run(m, t.Context(), -1)
		if err != nil || events[0] != "error -resume-> "+name {
			t.Errorf("%s: got %v after %q", phase, err, events)
		}
		checkLog(t, e, phase)
	}
}

// If two processes run a plan concurrently, the slower one fails with CodeTaken and
// changes nothing.
func TestConcurrentRuns(t *testing.T) {
	second := newScene()
	e, first := newScene().begin(t)
	n := 0
	for ev, err := range first.Run(t.Context(), "p") {
		if n++; n == 1 {
			if _, err := run(second.machine(e), t.Context(), 9); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err == nil && ev.Text != "" {
			continue
		}
		if sequent.CodeOf(err) != plan.CodeTaken {
			t.Fatalf("first Run: got %+v, %v, want CodeTaken", ev, err)
		}
	}
	if _, err := run(second.machine(e), t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	checkLog(t, e, "at the end")
}

func TestClearSession(t *testing.T) {
	sc := newScene()
	clear := thought(6, "Begin again.")
	clear.Args = strings.Replace(clear.Args, "{", `{"clearSession":true,`, 1)
	sc.turns["design 1"] = llmtest.Turn{Calls: []llm.Call{clear, thought(6, "Move the check.")}}
	e, m := sc.begin(t)
	if _, err := run(m, t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	checkLog(t, e, "at the end")
}

func TestErrors(t *testing.T) {
	e := sequent.New(sequent.Config{})
	m := newScene().machine(e)
	for _, bad := range []string{"", " \n", "\x00", strings.Repeat("x", plan.MaxProblem+1)} {
		if err := m.Begin(t.Context(), "p", bad); err == nil {
			t.Errorf("Begin with a problem of %d bytes = nil, want an error", len(bad))
		}
	}
	if _, err := run(m, t.Context(), -1); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("missing session: got %v", err)
	}
	if _, err := e.Begin(t.Context(), "p", func(c *sequent.Change) error { c.SetLabel("x", "y"); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := run(m, t.Context(), -1); err == nil || !strings.Contains(err.Error(), "was not created by sequent plan") {
		t.Errorf("session of another kind: got %v", err)
	}
	if err := m.Begin(t.Context(), "p", problem); !errors.Is(err, sequent.ErrExists) {
		t.Errorf("duplicate id: got %v", err)
	}
}
