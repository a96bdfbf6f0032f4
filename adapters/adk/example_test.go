package adk_test

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/sequent-dev/sequent/adapters/adk"
	"github.com/sequent-dev/sequent/dialect/history"
)

// A script is a model that makes the given calls, one per request, and then answers.
type script struct {
	calls  []map[string]any
	answer string
	asked  []*model.LLMRequest
}

func (s *script) Name() string { return "script" }

func (s *script) GenerateContent(_ context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	s.asked = append(s.asked, r)
	part := genai.NewPartFromText(s.answer)
	if n := len(s.asked); n <= len(s.calls) {
		part = genai.NewPartFromFunctionCall("sequentialthinking", s.calls[n-1])
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel)}, nil)
	}
}

// A turn of an agent whose thoughts go to the session order-4711.
func Example() {
	ctx := context.Background()
	thinking := history.NewTool(history.ToolConfig{SessionID: "order-4711"})
	t, err := adk.New(thinking)
	if err != nil {
		fmt.Println(err)
		return
	}
	llm := &script{answer: "The report takes the connections.", calls: []map[string]any{
		{"thought": "The database is slow.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true},
		{"thought": "It is idle: the pool is empty.", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "revisesThought": 1},
	}}
	a, err := llmagent.New(llmagent.Config{Name: "support", Model: llm, Tools: []tool.Tool{t}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := runner.NewInMemory("support", a)
	if err != nil {
		fmt.Println(err)
		return
	}
	question := genai.NewContentFromText("Why do orders fail at noon?", genai.RoleUser)
	for event, err := range r.Run(ctx, "alice", "chat-1", question, agent.RunConfig{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.IsFinalResponse() {
			fmt.Println(event.Content.Parts[0].Text)
		}
	}
	s, err := thinking.Session(ctx, "order-4711")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range s.Effective("") {
		fmt.Println(step.Place, step.Text)
	}
	// Output:
	// The report takes the connections.
	// 1 It is idle: the pool is empty.
}
