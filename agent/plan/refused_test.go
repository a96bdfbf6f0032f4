package plan_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

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
			e := sequent.New(sequent.Config{})
			sc := newScene()
			sc.turns = tt.turns
			m := sc.machine(e)
			if err := m.Begin(t.Context(), "p", problem); err != nil {
				t.Fatal(err)
			}
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
			if st, _ := plan.StateOf(s); len(st.Results) != 1 || st.Results[0].Text != "Ten connections." {
				t.Errorf("after another attempt: %+v", st.Results)
			}
		})
	}
}
