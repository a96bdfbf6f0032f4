package status_test

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/dialect/status/statustest"
)

func build(_ testing.TB, env dialect.Env) dialect.Dialect {
	return status.New(status.Config{Engine: env.Engine, Rand: env.Rand, Model: statustest.Script{Out: env.Stderr}})
}

// args are the arguments that both tools have.
type args struct {
	Thought string   `json:"thought"`
	Number  int      `json:"thought_number"`
	Total   int      `json:"total_thoughts"`
	Next    bool     `json:"next_thought_needed"`
	Revises int      `json:"revises_thought,omitzero"`
	From    int      `json:"branch_from_thought,omitzero"`
	Branch  string   `json:"branch_id,omitzero"`
	Session string   `json:"session_id,omitzero"`
	Model   string   `json:"model,omitzero"`
	Heat    *float64 `json:"temperature,omitzero"`
	UseLLM  *bool    `json:"use_llm,omitzero"`
}

func (a args) json() string {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func step(s dialecttest.Step) args {
	return args{
		Thought: s.Text, Number: s.Number, Total: s.Total, Next: !s.Last,
		From: s.From, Branch: s.Branch, Session: s.Session,
	}
}

func TestDialect(t *testing.T) {
	other := args{Thought: "a", Number: 2, Total: 3, Next: true, Session: "other"}
	manual := other
	manual.UseLLM = new(false)
	implicit := other
	implicit.Session = ""
	dialecttest.Run(t, dialecttest.Config{
		Build: build,
		Call:  func(s dialecttest.Step) string { return step(s).json() },
		Others: []dialecttest.OtherCall{
			{Tool: "sequential_thinking_external", Args: other.json()},
			{Tool: "sequential_thinking_external", Args: manual.json()},
			{Tool: "sequential_thinking_external", Args: implicit.json()},
		},
	})
}

// The second tool follows the rules for all dialects too.
func TestExternalKeepsTheRules(t *testing.T) {
	dialecttest.Rules(t, dialecttest.Config{
		Build: func(t testing.TB, env dialect.Env) dialect.Dialect {
			d := build(t, env)
			d.Tools = d.Tools[1:]
			return d
		},
		Call: func(s dialecttest.Step) string {
			a := step(s)
			a.UseLLM = new(false)
			return a.json()
		},
	})
}
