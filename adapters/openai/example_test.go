package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	adapter "github.com/sequent-dev/sequent/adapters/openai"
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
		http.Error(w, `{"error":{"message":"the script has no more answers"}}`, http.StatusBadRequest)
	}
}

// called returns an answer that calls the tool.
func called(id, name, args string) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":
		{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, id, name, args)
}

// said returns a final answer.
func said(text string) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}]}`, text)
}

// A turn of an agent whose thoughts go to the session order-4711.
func Example() {
	ctx := context.Background()
	provider := httptest.NewServer(&script{answers: []string{
		called("call-1", "sequentialthinking", `{"thought": "The database is slow.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true}`),
		called("call-2", "sequentialthinking", `{"thought": "It is idle: the pool is empty.", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "revisesThought": 1}`),
		said("The report takes the connections."),
	}})
	defer provider.Close()
	client := openai.NewClient(option.WithBaseURL(provider.URL), option.WithAPIKey("none"))

	thinking := history.NewTool(history.ToolConfig{SessionID: "order-4711"})
	tools, err := adapter.New(thinking)
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Why do orders fail at noon?")}
	const maxSteps = 20
	for range maxSteps {
		r, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "gpt-5.4", Messages: messages, Tools: tools.Chat(),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		message := r.Choices[0].Message
		answers, err := tools.AnswerChat(ctx, message)
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(answers) == 0 {
			fmt.Println(message.Content)
			break
		}
		messages = append(append(messages, message.ToParam()), answers...)
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
