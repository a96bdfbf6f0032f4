package plan_test

import (
	"context"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/tool"
)

// A machine with two custom phases, of which the second has a tool. With a
// persistent store, Run resumes after a crash.
func ExampleMachine() {
	engine := sequent.New(sequent.Config{})
	search := tool.Tool{
		Spec: tool.Spec{Name: "search", Description: "Searches.", Annotations: tool.Annotations{ReadOnly: true}},
		Call: func(context.Context, tool.Call) (tool.Reply, error) { return tool.Reply{Text: "nothing"}, nil },
	}
	machine := plan.New(plan.Config{
		Engine: engine,
		Model: llmtest.New(
			llmtest.Say("Is it the clock?"),
			llmtest.CallOf("search", `{}`),
			llmtest.Say("It is not the clock."),
		),
		Think: func(id sequent.ID, onRecord func(context.Context, *sequent.Change) error) tool.Tool {
			return history.NewTool(history.ToolConfig{Engine: engine, SessionID: id, TTL: -1, Beside: onRecord}).Tool()
		},
		Table: plan.Table{Name: "debug", Final: "solved", Phases: []plan.Phase{
			{Name: "suspect", Steps: 1, Task: "Say what it may be."},
			{Name: "check", Steps: 10, Task: "Find out.", Tools: []tool.Tool{search}},
		}},
	})

	ctx := context.Background()
	if err := machine.Begin(ctx, "monday", "Jobs run twice on Mondays."); err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range machine.Run(ctx, "monday") {
		switch {
		case err != nil:
			fmt.Println(err)
		case event.Calling != nil:
			fmt.Println(event.State, "calls", event.Calling.Name)
		case event.Moved != nil:
			fmt.Println(event.Moved.From, "→", event.Moved.To+":", event.Result)
		}
	}
	// Output:
	// suspect → check: Is it the clock?
	// check calls search
	// check → solved: It is not the clock.
}
