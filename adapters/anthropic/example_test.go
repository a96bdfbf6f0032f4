package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	adapter "github.com/sequent-dev/sequent/adapters/anthropic"
	"github.com/sequent-dev/sequent/dialect/history"
)

// A script is a server that answers the n-th request with the n-th answer.
type script struct {
	answers []string

	mu    sync.Mutex
	asked []json.RawMessage
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, body)
	w.Header().Set("Content-Type", "application/json")
	if n := len(s.asked); n <= len(s.answers) {
		io.WriteString(w, s.answers[n-1])
	} else {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"the script has no more answers"}}`, http.StatusBadRequest)
	}
}

const message = `{"id":"m","type":"message","role":"assistant","model":"claude","usage":{"input_tokens":1,"output_tokens":1},`

// called returns an answer that calls the tool.
func called(id, args string) string {
	return message + fmt.Sprintf(`"stop_reason":"tool_use","content":[{"type":"tool_use","id":%q,"name":"sequentialthinking","input":%s}]}`, id, args)
}

// said returns a final answer.
func said(text string) string {
	return message + fmt.Sprintf(`"stop_reason":"end_turn","content":[{"type":"text","text":%q}]}`, text)
}

// A turn of an agent whose thoughts go to the session order-4711.
func Example() {
	ctx := context.Background()
	provider := httptest.NewServer(&script{answers: []string{
		called("call-1", `{"thought": "The database is slow.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true}`),
		called("call-2", `{"thought": "It is idle: the pool is empty.", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "revisesThought": 1}`),
		said("The report takes the connections."),
	}})
	defer provider.Close()
	client := anthropic.NewClient(option.WithBaseURL(provider.URL), option.WithAPIKey("none"))

	thinking := history.NewTool(history.ToolConfig{SessionID: "order-4711"})
	t, err := adapter.New(thinking)
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{t}, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model: "claude", MaxTokens: 1000,
			Messages: []anthropic.BetaMessageParam{
				anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Why do orders fail at noon?")),
			},
		},
		MaxIterations: 20,
	})
	answer, err := runner.RunToCompletion(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Content[0].Text)
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
