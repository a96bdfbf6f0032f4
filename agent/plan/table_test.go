package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

func TestThinking(t *testing.T) {
	e := sequent.New(sequent.Config{})
	model := llmtest.New(llmtest.Turn{Calls: []llm.Call{thought(1, "Six times nine.")}}, llmtest.Say("54"))
	m := plan.New(plan.Config{Engine: e, Model: model, Think: think(e), Table: plan.Thinking(5)})
	if err := m.Begin(t.Context(), "p", "6 × 9?"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(m, t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	texts, s := log(t, e)
	if len(texts) != 1 || s.Conclusion() != "54" || s.State() != sequent.Completed {
		t.Errorf("got session %+v with %q", s.Header(), texts)
	}
	sent := model.Requests()[0].Messages
	if strings.Contains(sent[1].Text, "This is the phase") || !strings.Contains(sent[1].Text, "6 × 9?") {
		t.Errorf("got prompt %q", sent[1].Text)
	}
}

// An answer without a thought is recorded as thoughts.
func TestAnswerWithoutThought(t *testing.T) {
	e := sequent.New(sequent.Config{Limits: sequent.Limits{Text: 10}})
	m := plan.New(plan.Config{Engine: e, Model: llmtest.New(llmtest.Say("Fifty-four, äs everybody knows.")), Think: think(e), Table: plan.Thinking(5)})
	if err := m.Begin(t.Context(), "p", "6 × 9?"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(m, t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	texts, s := log(t, e)
	if want := []string{"1 Fifty-four", "2 , äs ever", "3 ybody know", "4 s."}; !slices.Equal(texts, want) || s.State() != sequent.Completed {
		t.Errorf("got session %+v with %q", s.Header(), texts)
	}
}

func TestMermaid(t *testing.T) {
	const want = `stateDiagram-v2
    [*] --> analyze_code
    analyze_code: analyze_code, at most 1 step
    research: research, at most 15 steps
    design: design, at most 20 steps
    analyze_code --> research: done
    analyze_code --> error: fail
    error --> analyze_code: resume
    research --> design: done
    research --> error: fail
    error --> research: resume
    design --> plan_complete: done
    design --> error: fail
    error --> design: resume
    design --> exhausted: ranOut
    plan_complete --> [*]
    exhausted --> [*]
`
	if got := plan.Planning().Mermaid(); got != want {
		t.Errorf("got\n%s", got)
	}
}
