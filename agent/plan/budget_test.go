package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

func TestBudgets(t *testing.T) {
	sc := newScene()
	for i := 1; i <= 20; i++ { // the model never answers without a call
		sc.turns[fmt.Sprintf("research %d", i)] = llmtest.Turn{Calls: []llm.Call{thought(i+1, fmt.Sprintf("r%d", i))}}
		sc.turns[fmt.Sprintf("design %d", i)] = llmtest.Turn{Calls: []llm.Call{thought(i+17, fmt.Sprintf("d%d", i))}}
	}
	sc.turns["analyze_code 1"] = llmtest.Turn{Calls: []llm.Call{thought(1, "a1"), {Name: "read", Args: "{}"}}}
	e, m := sc.begin(t)
	for range 2 { // the second Run asks nothing
		events, err := run(m, t.Context(), -1)
		if sequent.CodeOf(err) != plan.CodeExhausted || events[len(events)-1] != "design -ranOut-> exhausted" {
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
	st, _ := plan.StateOf(s.Header())
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

func TestTokenBudget(t *testing.T) {
	sc := newScene()
	e, m := sc.begin(t, func(cfg *plan.Config) { cfg.TokenBudget = 40 })
	for range 2 {
		_, err := run(m, t.Context(), -1)
		if sequent.CodeOf(err) != plan.CodeOutOfTokens || len(sc.asked) != 3 {
			t.Fatalf("got %v after %q", err, sc.asked)
		}
	}
	m = sc.machine(e, func(cfg *plan.Config) { cfg.TokenBudget = 1000 })
	if _, err := run(m, t.Context(), -1); err != nil || len(sc.asked) != 7 {
		t.Errorf("got %v after %q", err, sc.asked)
	}
	checkLog(t, e, "at the end")
}

// A phase whose calls were all refused has no result, and says what happened.
func TestRefusedCalls(t *testing.T) {
	bad := llm.Call{Name: "sequentialthinking", Args: `{"thought":"x","totalThoughts":3,"nextThoughtNeeded":true}`}
	for _, tt := range []struct {
		name  string
		turns map[string]llmtest.Turn
		want  string
	}{
		{"refused", map[string]llmtest.Turn{
			"analyze_code 1": {Calls: []llm.Call{bad, bad}}, "analyze_code 2": {Calls: []llm.Call{bad, {Name: "lok", Args: "{}"}, bad, bad}},
		}, `the phase analyze_code ended without an answer: 6 calls refused: thoughtNumber missing; no tool "lok"`},
		{"empty", map[string]llmtest.Turn{"analyze_code 1": {}}, "the phase analyze_code ended without an answer: 1 empty reply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := newScene()
			sc.turns = tt.turns
			e, m := sc.begin(t)
			_, err := run(m, t.Context(), -1)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want+":") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if _, s := log(t, e); s.Len() != 0 {
				t.Errorf("%d thoughts, want none", s.Len())
			}
			// Another attempt has the free step again.
			sc.turns = map[string]llmtest.Turn{"analyze_code 1": {Calls: []llm.Call{bad}}, "analyze_code 2": {Text: "Ten connections."}}
			_, _ = run(m, t.Context(), -1) // it fails in the next phase
			_, s := log(t, e)
			if st, _ := plan.StateOf(s.Header()); len(st.Results) != 1 || st.Results[0].Text != "Ten connections." {
				t.Errorf("after another attempt: %+v", st.Results)
			}
		})
	}
}
