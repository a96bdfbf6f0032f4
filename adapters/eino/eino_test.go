package eino_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/adapters/eino"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/status"
	sequenttool "github.com/sequent-dev/sequent/tool"
)

// run runs an agent with the tool. It returns the answer and the tool results that
// the model received.
func run(t *testing.T, s *script, f eino.Function) (said string, results []string, err error) {
	t.Helper()
	thinking, err := eino.New(f)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := react.NewAgent(t.Context(), &react.AgentConfig{
		ToolCallingModel: s, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{thinking}},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := agent.Generate(t.Context(), []*schema.Message{schema.UserMessage("?")})
	if err != nil {
		return "", nil, err
	}
	for _, m := range s.asked[len(s.asked)-1] {
		if m.Role == schema.Tool {
			results = append(results, m.Content)
		}
	}
	return answer.Content, results, nil
}

func TestAgent(t *testing.T) {
	thinking := history.NewTool(history.ToolConfig{})
	llm := &script{answer: "done", calls: []string{
		`{"thought":"a","thoughtNumber":"1","totalThoughts":2,"nextThoughtNeeded":"true"}`,
		`{"thought":"b","totalThoughts":2,"nextThoughtNeeded":false}`,
		`not JSON`,
	}}
	said, results, err := run(t, llm, thinking)
	if err != nil || said != "done" || len(results) != 3 {
		t.Fatalf("got answer %q, %v and results %q", said, err, results)
	}
	for i, want := range []string{`"thoughtHistoryLength":1`, "INVALID_ARGUMENT: thoughtNumber is missing", "INVALID_ARGUMENT: the arguments are not valid JSON"} {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d is %s, want %s", i+1, results[i], want)
		}
	}

	// The model receives the published name, description and schema.
	offered := llm.offered[0]
	params, err := offered.ToJSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(raw, &got), json.Unmarshal(thinking.InputSchema(), &want)); err != nil {
		t.Fatal(err)
	}
	if offered.Name != thinking.Name() || offered.Desc != thinking.Description() || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("model receives %s: %s", offered.Name, raw)
	}
}

// Any tool works, also one whose refusals are JSON-RPC errors.
func TestOtherTools(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	f := status.New(status.Config{Engine: engine}).Tools[0].Function(sequenttool.Caller{Scope: sequenttool.Scope{Name: "agent"}})
	thinking, err := eino.New(f)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"thought":"a","thought_number":1,"total_thoughts":1,"next_thought_needed":false}`: `"status":"complete"`,
		`{"thought":"a"}`: `Missing required field: thought_number`,
	} {
		if got, err := thinking.InvokableRun(t.Context(), args); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, %v", args, got, err)
		}
	}
}

// An internal failure ends the run.
func TestInternalFailure(t *testing.T) {
	llm := &script{answer: "done", calls: []string{`{}`}}
	if _, _, err := run(t, llm, broken{history.NewTool(history.ToolConfig{})}); err == nil || !strings.Contains(err.Error(), "internal failure") {
		t.Errorf("got %v, want the internal failure", err)
	}
	if _, err := eino.New(schemaless{history.NewTool(history.ToolConfig{})}); err == nil {
		t.Error("New of a function with a malformed schema = nil, want an error")
	}
}

type broken struct{ *history.Tool }

func (broken) Call(context.Context, string) (string, error) {
	return "", errors.New("internal failure")
}

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }
