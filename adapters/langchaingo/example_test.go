package langchaingo_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/sequent-dev/sequent/adapters/langchaingo"
	"github.com/sequent-dev/sequent/dialect/history"
)

// A script is a model that makes the given calls, one per request, and then answers.
type script struct {
	calls  []string
	answer string

	asked   [][]llms.MessageContent
	offered []llms.Tool // in the last request
}

func (s *script) GenerateContent(_ context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	s.offered = o.Tools
	s.asked = append(s.asked, messages)
	n := len(s.asked)
	choice := &llms.ContentChoice{Content: s.answer}
	if n <= len(s.calls) {
		choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{{
			ID: fmt.Sprint("call-", n), Type: "function",
			FunctionCall: &llms.FunctionCall{Name: "sequentialthinking", Arguments: s.calls[n-1]},
		}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func (s *script) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

// A turn of an agent whose thoughts go to the session order-4711.
func Example() {
	ctx := context.Background()
	thinking := history.NewTool(history.ToolConfig{SessionID: "order-4711"})
	llm := &script{answer: "The report takes the connections.", calls: []string{
		`{"thought": "The database is slow.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true}`,
		`{"thought": "It is idle: the pool is empty.", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "revisesThought": 1}`,
	}}
	agent, err := langchaingo.NewAgent(llm, []tools.Tool{thinking})
	if err != nil {
		fmt.Println(err)
		return
	}
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(30))
	answer, err := chains.Run(ctx, executor, "Why do orders fail at noon?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer)
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
