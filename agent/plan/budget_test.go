package plan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

func TestBudgets(t *testing.T) {
	e := sequent.New(sequent.Config{})
	sc := newScene()
	for i := 1; i <= 20; i++ { // the model never answers without a call
		sc.turns[fmt.Sprintf("research %d", i)] = llmtest.Turn{Calls: []llm.Call{thought(i+1, fmt.Sprintf("r%d", i))}}
		sc.turns[fmt.Sprintf("design %d", i)] = llmtest.Turn{Calls: []llm.Call{thought(i+17, fmt.Sprintf("d%d", i))}}
	}
	sc.turns["analyze_code 1"] = llmtest.Turn{Calls: []llm.Call{thought(1, "a1"), {Name: "read", Args: "{}"}}}
	m := sc.machine(e)
	if err := m.Begin(t.Context(), "p", problem); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second Run asks nothing
		events, err := run(m, t.Context(), -1)
		if e, ok := errors.AsType[*plan.Error](err); !ok || e.Code != plan.CodeExhausted || events[len(events)-1] != "design -ranOut-> exhausted" {
			t.Fatalf("got %v after %q", err, events)
		}
	}
	count := map[string]int{}
	for _, at := range sc.asked {
		phase, _, _ := strings.Cut(at, " ")
		count[phase]++
	}
	if count["analyze_code"] != 1 || count["research"] != 15 || count["design"] != 20 {
		t.Errorf("got requests %v, want 1, 15 and 20", count)
	}
	_, s := log(t, e)
	st, _ := plan.StateOf(s)
	if got := st.Results[0].Text; got != "a1\n\nread answered: func work() { tx.Begin(); check() }" {
		t.Errorf("got analysis %q", got)
	}
	if !strings.HasPrefix(st.Results[1].Text, "r1\n\nr2\n\n") || !strings.HasSuffix(st.Results[2].Text, "d20") {
		t.Errorf("got results %+v", st.Results)
	}
	if st.State != plan.Exhausted || len(st.RanOut) != 3 || s.State() != sequent.Active || s.Conclusion() != "" {
		t.Errorf("got state %s after %q, session %s", st.State, st.RanOut, s.State())
	}
}

// A model that answers in the last step, which it must, has finished the phase.
func TestLastStep(t *testing.T) {
	e := sequent.New(sequent.Config{})
	sc := newScene()
	for i := 1; i <= 15; i++ {
		at := fmt.Sprintf("research %d", i)
		sc.turns[at] = llmtest.Turn{Answer: func(_ context.Context, r llm.Request) llmtest.Turn {
			if len(r.Tools) == 0 {
				t.Errorf("%s has no tools", at)
			}
			if r.NoCalls {
				return llmtest.Say("found")
			}
			return llmtest.CallOf("read", "{}")
		}}
	}
	m := sc.machine(e)
	if err := m.Begin(t.Context(), "p", problem); err != nil {
		t.Fatal(err)
	}
	if _, err := run(m, t.Context(), -1); err != nil || !slices.Contains(sc.asked, "research 15") {
		t.Errorf("got %v after %q", err, sc.asked)
	}
	if _, s := log(t, e); s.State() != sequent.Completed {
		t.Errorf("the session is %s", s.State())
	}
}

func TestTokenBudget(t *testing.T) {
	e := sequent.New(sequent.Config{})
	sc := newScene()
	with := func(tokens int) *plan.Machine {
		m := sc.machine(e)
		return plan.WithTokenBudget(m, tokens)
	}
	if err := with(40).Begin(t.Context(), "p", problem); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := run(with(40), t.Context(), -1)
		if pe, ok := errors.AsType[*plan.Error](err); !ok || pe.Code != plan.CodeOutOfTokens || len(sc.asked) != 3 {
			t.Fatalf("got %v after %q", err, sc.asked)
		}
	}
	if _, err := run(with(1000), t.Context(), -1); err != nil || len(sc.asked) != 7 {
		t.Errorf("got %v after %q", err, sc.asked)
	}
	if texts, _ := log(t, e); !slices.Equal(texts, wantLog) {
		t.Errorf("got log\n%s", strings.Join(texts, "\n"))
	}
}
