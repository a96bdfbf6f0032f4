package eino_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/sequent-dev/sequent/adapters/eino"
	"github.com/sequent-dev/sequent/dialect/history"
)

// A script is a model that makes the given calls, one per request, and then answers.
type script struct {
	calls  []string
	answer string

	offered []*schema.ToolInfo
	asked   [][]*schema.Message
}

func (s *script) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	s.offered = tools
	return s, nil
}

func (s *script) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	s.asked = append(s.asked, in)
	n := len(s.asked)
	if n > len(s.calls) {
		return schema.AssistantMessage(s.answer, nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{
		ID: fmt.Sprint("call-", n), Function: schema.FunctionCall{Name: "sequentialthinking", Arguments: s.calls[n-1]},
	}}), nil
}

func (s *script) Stream(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, o...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

// A turn of an agent whose thoughts go to the session order-4711.
func Example() {
	ctx := context.Background()
	thinking := history.NewTool(history.ToolConfig{SessionID: "order-4711"})
	t, err := eino.New(thinking)
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: &script{answer: "The report takes the connections.", calls: []string{
			`{"thought": "The database is slow.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true}`,
			`{"thought": "It is idle: the pool is empty.", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "revisesThought": 1}`,
		}},
		ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage("Why do orders fail at noon?")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Content)
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
