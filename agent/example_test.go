package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/tool"
)

// An agent with two tools: the one of package history, which records its thoughts,
// and a clock. The model follows a script; openai.New returns a real one.
func ExampleRun() {
	model := llmtest.New(
		llmtest.CallOf("sequentialthinking", `{"thought":"The clock says it.","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}`),
		llmtest.CallOf("clock", `{}`),
		llmtest.Say("It is noon."),
	)
	thinking := history.NewTool(history.ToolConfig{SessionID: "noon"})
	clock := tool.Tool{
		Spec: tool.Spec{
			Name: "clock", Description: "Tells the time.", InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: tool.Annotations{ReadOnly: true},
		},
		Call: func(context.Context, tool.Call) (tool.Reply, error) { return tool.Reply{Text: "12:00"}, nil },
	}

	ctx := context.Background()
	for event, err := range agent.Run(ctx, agent.Config{
		Model: model, Tools: []tool.Tool{thinking.Tool(), clock}, MaxSteps: 5, TokenBudget: 10_000,
		Messages: []llm.Message{{Role: llm.User, Text: "What time is it?"}},
	}) {
		switch {
		case err != nil:
			fmt.Println(err)
		case event.Calling != nil:
			fmt.Println(event.Step, "calls", event.Calling.Name)
		case event.Done != nil:
			fmt.Println(event.Done.Text, event.Done.Reason, event.Progress.Usage.Total(), "tokens")
		}
	}
	session, err := thinking.Session(ctx, "noon")
	if err != nil {
		fmt.Println(err)
		return
	}
	for t := range session.All() {
		fmt.Println(t.Number, t.Text)
	}
	// Output:
	// 1 calls sequentialthinking
	// 2 calls clock
	// It is noon. answered 45 tokens
	// 1 The clock says it.
}
