package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/adapters/langchaingo"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

var (
	_ langchaingo.Tool = (*history.Tool)(nil)
	_ langchaingo.Tool = (*tool.Function)(nil)
)

// run lets an agent answer a question. It returns the answer and the requests to the
// model.
func run(t *testing.T, s *script, list ...tools.Tool) (said string, told []string, err error) {
	t.Helper()
	agent, err := langchaingo.NewAgent(s, list)
	if err != nil {
		t.Fatal(err)
	}
	said, err = chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithMaxIterations(10)), "?")
	if err != nil {
		return "", nil, err
	}
	for _, m := range s.asked[len(s.asked)-1] {
		for _, part := range m.Parts {
			if r, ok := part.(llms.ToolCallResponse); ok {
				told = append(told, r.Content)
			}
		}
	}
	return said, told, nil
}

func TestAgent(t *testing.T) {
	llm := &script{answer: "done", calls: []string{
		`{"thought":"a","thoughtNumber":"1","totalThoughts":2,"nextThoughtNeeded":"true"}`,
		`{"thought":"b","totalThoughts":2,"nextThoughtNeeded":false}`,
		`not JSON`,
	}}
	said, told, err := run(t, llm, history.NewTool(history.ToolConfig{}), upper{})
	if err != nil || said != "done" || len(told) != 3 {
		t.Fatalf("the agent says %q, %v, and the model is answered %q", said, err, told)
	}
	for i, want := range []string{`"thoughtHistoryLength":1`, "INVALID_ARGUMENT: thoughtNumber is missing", "INVALID_ARGUMENT: the arguments are not valid JSON"} {
		if !strings.Contains(told[i], want) {
			t.Errorf("call %d is answered with %s, want %s", i+1, told[i], want)
		}
	}
	// Tools without a schema are offered as the framework does it.
	if len(llm.offered) != 2 || llm.offered[1].Function.Name != "upper" || !strings.Contains(fmt.Sprint(llm.offered[1].Function.Parameters), "__arg1") {
		t.Errorf("the model is offered %+v", llm.offered)
	}
}

// The requests have the published schema, once per tool.
func TestOverTheWire(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "application/json")
		message := `{"role":"assistant","content":"done"}`
		if len(bodies) == 1 {
			message = `{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"sequentialthinking",
				"arguments":"{\"thought\":\"a\",\"thoughtNumber\":1,\"totalThoughts\":1,\"nextThoughtNeeded\":false}"}}]}`
		}
		fmt.Fprintf(w, `{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":%s}]}`, message)
	}))
	defer provider.Close()
	llm, err := openai.New(openai.WithBaseURL(provider.URL), openai.WithToken("none"), openai.WithModel("m"))
	if err != nil {
		t.Fatal(err)
	}
	thinking := history.NewTool(history.ToolConfig{SessionID: "s"})
	agent, err := langchaingo.NewAgent(llm, []tools.Tool{thinking})
	if err != nil {
		t.Fatal(err)
	}
	if said, err := chains.Run(t.Context(), agents.NewExecutor(agent), "?"); err != nil || said != "done" {
		t.Fatalf("the agent says %q, %v", said, err)
	}
	if s, err := thinking.Session(t.Context(), "s"); err != nil || s.Len() != 1 || s.State() != sequent.Completed {
		t.Errorf("the session is %+v, %v", s, err)
	}
	if len(bodies) != 2 || !strings.Contains(bodies[1], `thoughtHistoryLength`) {
		t.Errorf("the requests are %q", bodies)
	}
	for _, body := range bodies {
		var sent struct {
			Tools []struct {
				Function struct {
					Name, Description string
					Parameters        any
				}
			}
		}
		var want any
		if err := errors.Join(json.Unmarshal([]byte(body), &sent), json.Unmarshal(thinking.InputSchema(), &want)); err != nil {
			t.Fatal(err)
		}
		if len(sent.Tools) != 1 || sent.Tools[0].Function.Name != thinking.Name() ||
			sent.Tools[0].Function.Description != thinking.Description() || !reflect.DeepEqual(sent.Tools[0].Function.Parameters, want) {
			t.Errorf("the model is offered %+v", sent.Tools)
		}
	}
}

// Any tool of the module will do.
func TestOtherTools(t *testing.T) {
	d := status.New(status.Config{Engine: sequent.New(sequent.Config{})})
	f := d.Tools[0].Function(tool.Caller{Scope: tool.Scope{Name: "agent"}})
	llm := &script{answer: "done"}
	if _, _, err := run(t, llm, f); err != nil {
		t.Error(err)
	}
	if len(llm.offered) != 1 || !strings.Contains(fmt.Sprint(llm.offered[0].Function.Parameters), "thought_number") {
		t.Errorf("the model is offered %+v", llm.offered)
	}
}

// A fault ends the run.
func TestFault(t *testing.T) {
	llm := &script{answer: "done", calls: []string{`{}`}}
	if _, _, err := run(t, llm, broken{history.NewTool(history.ToolConfig{})}); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("the run ends with %v", err)
	}
	if _, err := langchaingo.NewAgent(llm, []tools.Tool{schemaless{history.NewTool(history.ToolConfig{})}}); err == nil {
		t.Error("a schema that is no object is accepted")
	}
}

type broken struct{ *history.Tool }

func (broken) Call(context.Context, string) (string, error) { return "", errors.New("out of order") }

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }

type upper struct{}

func (upper) Name() string                                        { return "upper" }
func (upper) Description() string                                 { return "upper case" }
func (upper) Call(_ context.Context, text string) (string, error) { return strings.ToUpper(text), nil }
