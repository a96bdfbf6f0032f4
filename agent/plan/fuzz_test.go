package plan_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// A session can be imported from any source. For every value of its label, Run ends
// with a complete session or an error.
func FuzzState(f *testing.F) {
	for _, st := range []plan.State{
		{Machine: "plan", State: "research", Progress: agent.Progress{Messages: []llm.Message{
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "sequentialthinking", Args: `{"thought":"x","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":true}`}, {ID: "a", Name: "write"}}},
		}, Begun: "a", Step: 3}},
		{Machine: "plan", State: "error", Fault: &plan.Fault{Phase: "design", Code: "plan_no_answer"}},
		{Machine: "plan", State: "error"}, {Machine: "plan", State: "plan_complete"}, {Machine: "plan"}, {},
		{Machine: "plan", State: "design", Progress: agent.Progress{Step: -7}, Since: -1, Number: -1, Writes: -1},
		{Machine: "plan", State: "design", Since: 1 << 40, Progress: agent.Progress{Step: 1 << 40, Messages: []llm.Message{{Role: llm.Result, CallID: "x"}, {Role: "odd"}}}},
	} {
		raw, err := json.Marshal(st)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Add(`{"machine":"plan","state":"research","messages":null,"results":[{}],"usage":{"input":9223372036854775807}}`)
	f.Fuzz(func(t *testing.T, label string) {
		e := sequent.New(sequent.Config{})
		if _, err := e.Begin(t.Context(), "p", func(c *sequent.Change) error {
			c.SetLabel("plan", label)
			c.SetState(sequent.Active)
			return nil
		}); err != nil {
			return
		}
		turn := llmtest.Turn{Answer: func(_ context.Context, r llm.Request) llmtest.Turn {
			if strings.Contains(r.Messages[len(r.Messages)-1].Text, "This is the phase") {
				return llmtest.Turn{Calls: []llm.Call{thought(1, "Hm."), {Name: "write", Args: "{}"}}}
			}
			return llmtest.Say("So be it.")
		}}
		script := make([]llmtest.Turn, 64)
		for i := range script {
			script[i] = turn
		}
		sc := newScene()
		m := sc.machine(e, func(cfg *plan.Config) { cfg.Model = llmtest.New(script...) })
		_, err := run(m, t.Context(), -1)
		s, loading := e.Session(t.Context(), "p")
		if loading != nil {
			t.Fatal(loading)
		}
		if st, ok := plan.StateOf(s.Header()); err == nil && (!ok || st.State != "plan_complete") {
			t.Errorf("%q: got final state %+v", label, st)
		}
	})
}
