package genkit_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	adapter "github.com/sequent-dev/sequent/adapters/genkit"
	"github.com/sequent-dev/sequent/dialect/history"
)

// A script is a model that makes the given calls, one per request, and then answers.
type script struct {
	calls  []map[string]any
	answer string

	mu    sync.Mutex
	asked []*ai.ModelRequest
}

func (s *script) generate(_ context.Context, r *ai.ModelRequest, _ any, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	done := 0
	for _, m := range r.Messages {
		if m.Role == ai.RoleTool {
			done++
		}
	}
	part := ai.NewTextPart(s.answer)
	if done < len(s.calls) {
		part = ai.NewToolRequestPart(&ai.ToolRequest{Name: "sequentialthinking", Input: s.calls[done]})
	}
	return &ai.ModelResponse{Request: r, Message: ai.NewModelMessage(part), FinishReason: ai.FinishReasonStop}, nil
}

// define registers the script as a model.
func (s *script) define(g *genkit.Genkit) ai.Model {
	return genkit.DefineModelAction(g, "test/script", &ai.ModelOptions{Supports: &ai.ModelSupports{Multiturn: true, Tools: true}}, s.generate)
}

// A turn of an agent whose thoughts go to the session order-4711.
func Example() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	model := (&script{answer: "The report takes the connections.", calls: []map[string]any{
		{"thought": "The database is slow.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true},
		{"thought": "It is idle: the pool is empty.", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "revisesThought": 1},
	}}).define(g)

	thinking := history.NewTool(history.ToolConfig{SessionID: "order-4711"})
	t, err := adapter.New(thinking)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := genkit.Generate(ctx, g, ai.WithModel(model), ai.WithTools(t), ai.WithPrompt("Why do orders fail at noon?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
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
