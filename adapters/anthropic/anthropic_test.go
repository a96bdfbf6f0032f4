package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/sequent-dev/sequent"
	adapter "github.com/sequent-dev/sequent/adapters/anthropic"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A sent is a decoded request.
type sent struct {
	Tools []struct {
		Name, Description string
		Schema            json.RawMessage `json:"input_schema"`
	}
	Messages []struct {
		Content []struct {
			Type    string
			ID      string `json:"tool_use_id"`
			IsError bool   `json:"is_error"`
			Content []struct{ Text string }
		}
	}
}

// run runs the tool runner. It returns the answer and the requests that it sent.
func run(t *testing.T, f adapter.Function, answers ...string) (said string, asked []sent) {
	t.Helper()
	thinking, err := adapter.New(f)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{answers: answers}
	provider := httptest.NewServer(s)
	defer provider.Close()
	client := anthropic.NewClient(option.WithBaseURL(provider.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	answer, err := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{thinking}, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model: "claude", MaxTokens: 1000,
			Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("?"))},
		},
	}).RunToCompletion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range s.asked {
		var one sent
		if err := json.Unmarshal(body, &one); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		asked = append(asked, one)
	}
	return answer.Content[0].Text, asked
}

func TestAgent(t *testing.T) {
	thinking := history.NewTool(history.ToolConfig{})
	text, asked := run(t, thinking,
		called("c1", `{"thought":"a","thoughtNumber":"1","totalThoughts":2,"nextThoughtNeeded":"true"}`),
		called("c2", `{"thought":"b","totalThoughts":2,"nextThoughtNeeded":false}`),
		said("done"))
	if text != "done" || len(asked) != 3 {
		t.Fatalf("got answer %q after %d requests", text, len(asked))
	}
	for i, want := range []string{`"thoughtHistoryLength":1`, "INVALID_ARGUMENT: thoughtNumber is missing"} {
		m := asked[i+1].Messages
		result := m[len(m)-1].Content[0]
		if result.Type != "tool_result" || result.ID != fmt.Sprint("c", i+1) || result.IsError != (i == 1) || !strings.Contains(result.Content[0].Text, want) {
			t.Errorf("result %d is %+v, want %s", i+1, result, want)
		}
	}

	// The model receives the published name, description and schema.
	offered := asked[0].Tools[0]
	var got, want any
	if err := errors.Join(json.Unmarshal(offered.Schema, &got), json.Unmarshal(thinking.InputSchema(), &want)); err != nil {
		t.Fatal(err)
	}
	if offered.Name != thinking.Name() || offered.Description != thinking.Description() || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("model receives %+v", offered)
	}
}

// Any tool works, also one whose schema forbids additional properties.
func TestOtherTools(t *testing.T) {
	f := status.New(status.Config{Engine: sequent.New(sequent.Config{})}).Tools[0].Function(tool.Caller{Scope: tool.Scope{Name: "agent"}})
	thinking, err := adapter.New(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(thinking.InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(raw, &got), json.Unmarshal(f.InputSchema(), &want)); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got schema %s, %v, want %s", raw, err, f.InputSchema())
	}
	out, err := thinking.Execute(t.Context(), json.RawMessage(`{"thought":"a"}`))
	if err == nil || len(out) != 0 || !strings.Contains(err.Error(), "Missing required field: thought_number") {
		t.Errorf("Execute = %+v, %v, want the refusal", out, err)
	}
}

// The model receives an internal failure as an error result.
func TestInternalFailure(t *testing.T) {
	_, asked := run(t, broken{history.NewTool(history.ToolConfig{})}, called("c1", `{}`), said("done"))
	m := asked[1].Messages
	if result := m[len(m)-1].Content[0]; !result.IsError || !strings.Contains(result.Content[0].Text, "internal failure") {
		t.Errorf("got result %+v, want the internal failure", result)
	}
	if _, err := adapter.New(schemaless{history.NewTool(history.ToolConfig{})}); err == nil {
		t.Error("New of a function with a malformed schema = nil, want an error")
	}
}

type broken struct{ *history.Tool }

func (broken) CallText(context.Context, json.RawMessage) (string, bool, error) {
	return "", false, errors.New("internal failure")
}

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }
