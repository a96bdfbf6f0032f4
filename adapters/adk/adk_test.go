package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/adapters/adk"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/standard"
	sequenttool "github.com/sequent-dev/sequent/tool"
)

// run runs an agent with the tool and returns its answer.
func run(t *testing.T, llm model.LLM, f adk.Function) string {
	t.Helper()
	thinking, err := adk.New(f)
	if err != nil {
		t.Fatal(err)
	}
	a, err := llmagent.New(llmagent.Config{Name: "a", Model: llm, Tools: []tool.Tool{thinking}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.NewInMemory("a", a)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for event, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("?", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err.Error()
		}
		if event.IsFinalResponse() {
			said = append(said, event.Content.Parts[0].Text)
		}
	}
	return strings.Join(said, "\n")
}

// results returns the tool results that the model received.
func results(s *script) (list []map[string]any) {
	for _, c := range s.asked[len(s.asked)-1].Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				list = append(list, p.FunctionResponse.Response)
			}
		}
	}
	return list
}

func TestAgent(t *testing.T) {
	thinking := history.NewTool(history.ToolConfig{})
	llm := &script{answer: "done", calls: []map[string]any{
		// Typical for models: a number in a string, and a missing one.
		{"thought": "a", "thoughtNumber": "1", "totalThoughts": 2.0, "nextThoughtNeeded": "true"},
		{"thought": "b", "totalThoughts": 2, "nextThoughtNeeded": false},
	}}
	if said := run(t, llm, thinking); said != "done" {
		t.Errorf("got answer %q", said)
	}
	answers := results(llm)
	if len(answers) != 2 || answers[0]["thoughtHistoryLength"] != 1.0 {
		t.Fatalf("got results %v", answers)
	}
	refusal, _ := answers[1]["error"].(map[string]any)
	if refusal["code"] != "INVALID_ARGUMENT" || refusal["field"] != "thoughtNumber" {
		t.Errorf("result of an invalid call is %v", answers[1])
	}

	// The model receives the published name, description and schema.
	offered := llm.asked[0].Config.Tools[0].FunctionDeclarations[0]
	schema, err := json.Marshal(offered.ParametersJsonSchema)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(schema, &got), json.Unmarshal(thinking.InputSchema(), &want)); err != nil {
		t.Fatal(err)
	}
	if offered.Name != thinking.Name() || offered.Description != thinking.Description() || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("model receives %s: %s", offered.Name, schema)
	}
}

// Any tool works.
func TestOtherTools(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	d := standard.New(standard.Config{Engine: engine})
	llm := &script{answer: "done", calls: []map[string]any{{"thought": "a", "nextThoughtNeeded": false}}}
	run(t, llm, d.Tools[0].Function(sequenttool.Caller{Owner: "alice"}))
	page, err := engine.Owned("alice").Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Errorf("got %d sessions, %v", len(page.Headers), err)
	}
}

// An internal failure is a tool error of ADK.
func TestInternalFailure(t *testing.T) {
	llm := &script{answer: "done", calls: []map[string]any{{}}}
	run(t, llm, broken{history.NewTool(history.ToolConfig{})})
	if answers := results(llm); len(answers) != 1 || !strings.Contains(fmt.Sprint(answers[0]["error"]), "internal failure") {
		t.Errorf("got results %v", answers)
	}
	if _, err := adk.New(schemaless{history.NewTool(history.ToolConfig{})}); err == nil {
		t.Error("New of a function with a malformed schema = nil, want an error")
	}
}

type broken struct{ *history.Tool }

func (broken) CallJSON(context.Context, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("internal failure")
}

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }
