package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/sequent-dev/sequent"
	adapter "github.com/sequent-dev/sequent/adapters/openai"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

func newTools(t *testing.T, f ...adapter.Function) *adapter.Tools {
	t.Helper()
	tools, err := adapter.New(f...)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func serve(t *testing.T, answers ...string) (*script, openai.Client) {
	s := &script{answers: answers}
	provider := httptest.NewServer(s)
	t.Cleanup(provider.Close)
	return s, openai.NewClient(option.WithBaseURL(provider.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

// same reports whether two JSON texts are equal.
func same(t *testing.T, got, want []byte) bool {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(got, &a), json.Unmarshal(want, &b)); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func TestChat(t *testing.T) {
	thinking := history.NewTool(history.ToolConfig{})
	tools := newTools(t, thinking)
	calls := []string{
		called("c1", "sequentialthinking", `{"thought":"a","thoughtNumber":"1","totalThoughts":2,"nextThoughtNeeded":"true"}`),
		called("c2", "sequentialthinking", `{"thought":"b","totalThoughts":2,"nextThoughtNeeded":false}`),
		called("c3", "think", `{}`),
		called("c4", "sequentialthinking", ``),
		said("done"),
	}
	want := []string{`"thoughtHistoryLength":1`, "INVALID_ARGUMENT: thoughtNumber is missing", `there is no tool "think"; call one of sequentialthinking`, "INVALID_ARGUMENT: thought is missing"}
	s, client := serve(t, calls...)
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage("?")}
	for i := range calls {
		r, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: messages, Tools: tools.Chat()})
		if err != nil {
			t.Fatal(err)
		}
		answers, err := tools.AnswerChat(t.Context(), r.Choices[0].Message)
		if err != nil || len(answers) != min(1, len(want)-i) {
			t.Fatalf("call %d: got %d answers, %v", i, len(answers), err)
		}
		if len(answers) == 0 {
			break
		}
		answer := answers[0].OfTool
		if answer.ToolCallID != fmt.Sprint("c", i+1) || !strings.Contains(answer.Content.OfString.Value, want[i]) {
			t.Errorf("result %d is %+v, want %s", i+1, answer, want[i])
		}
		messages = append(append(messages, r.Choices[0].Message.ToParam()), answers...)
	}

	// The model receives the published name, description and schema.
	var sent struct {
		Tools []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(s.asked[0], &sent); err != nil || len(sent.Tools) != 1 {
		t.Fatalf("%v: %s", err, s.asked[0])
	}
	f := sent.Tools[0].Function
	if f.Name != thinking.Name() || f.Description != thinking.Description() || !same(t, f.Parameters, thinking.InputSchema()) {
		t.Errorf("model receives %+v", f)
	}
}

func TestResponses(t *testing.T) {
	thinking := history.NewTool(history.ToolConfig{SessionID: "s"})
	tools := newTools(t, thinking)
	s, client := serve(t,
		`{"id":"r1","object":"response","output":[
			{"type":"function_call","id":"f1","call_id":"c1","name":"sequentialthinking","arguments":"{\"thought\":\"a\",\"thoughtNumber\":1,\"totalThoughts\":2,\"nextThoughtNeeded\":true}"},
			{"type":"function_call","id":"f2","call_id":"c2","name":"sequentialthinking","arguments":"{\"thought\":\"b\",\"thoughtNumber\":2,\"totalThoughts\":2,\"nextThoughtNeeded\":false}"}]}`,
		`{"id":"r2","object":"response","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done","annotations":[]}]}]}`)
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("?", "user")}
	previous := param.Opt[string]{}
	for {
		r, err := client.Responses.New(t.Context(), responses.ResponseNewParams{
			Model: "m", Tools: tools.Responses(), PreviousResponseID: previous,
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input},
		})
		if err != nil {
			t.Fatal(err)
		}
		if input, err = tools.AnswerResponses(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if len(input) == 0 {
			if r.OutputText() != "done" {
				t.Errorf("got answer %q", r.OutputText())
			}
			break
		}
		previous = param.NewOpt(r.ID)
	}
	session, err := thinking.Session(t.Context(), "s")
	if err != nil || session.Len() != 2 || session.State() != sequent.Completed {
		t.Errorf("got session %+v, %v", session, err)
	}
	for _, body := range s.asked {
		var one struct {
			Input []struct {
				Type, Output string
				CallID       string `json:"call_id"`
			}
			Previous string `json:"previous_response_id"`
			Tools    []struct {
				Type, Name, Description string
				Strict                  *bool
				Parameters              json.RawMessage
			}
		}
		if err := json.Unmarshal(body, &one); err != nil || len(one.Tools) != 1 {
			t.Fatalf("%v: %s", err, body)
		}
		f := one.Tools[0]
		if f.Type != "function" || f.Name != thinking.Name() || f.Description != thinking.Description() ||
			f.Strict == nil || *f.Strict || !same(t, f.Parameters, thinking.InputSchema()) {
			t.Errorf("model receives %s", body)
		}
		if one.Previous == "" {
			continue
		}
		if one.Previous != "r1" || len(one.Input) != 2 || one.Input[0].CallID != "c1" || one.Input[1].CallID != "c2" ||
			!strings.Contains(one.Input[1].Output, `"thoughtHistoryLength":2`) {
			t.Errorf("got results %s", body)
		}
	}
}

// Any tools work together, unless two have the same name.
func TestOtherTools(t *testing.T) {
	d := status.New(status.Config{Engine: sequent.New(sequent.Config{})})
	var functions []adapter.Function
	for _, tl := range d.Tools {
		functions = append(functions, tl.Function(tool.Caller{Scope: tool.Scope{Name: "agent"}}))
	}
	if n := len(newTools(t, functions...).Chat()); n < 2 || n != len(functions) {
		t.Errorf("got %d tools, want %d", n, len(functions))
	}
	if _, err := adapter.New(functions[0], functions[0]); err == nil {
		t.Error("New of two functions with the same name = nil, want an error")
	}
}

// An internal failure is an error for the program.
func TestInternalFailure(t *testing.T) {
	tools := newTools(t, broken{history.NewTool(history.ToolConfig{})})
	_, client := serve(t, called("c1", "sequentialthinking", `{}`))
	r, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("?")}})
	if err != nil {
		t.Fatal(err)
	}
	if answers, err := tools.AnswerChat(t.Context(), r.Choices[0].Message); err == nil || answers != nil {
		t.Errorf("got %v, %v", answers, err)
	}
	if _, err := adapter.New(schemaless{history.NewTool(history.ToolConfig{})}); err == nil {
		t.Error("New of a function with a malformed schema = nil, want an error")
	}
}

type broken struct{ *history.Tool }

func (broken) Call(context.Context, string) (string, error) {
	return "", errors.New("internal failure")
}

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }
