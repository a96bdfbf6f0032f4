package genkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/sequent-dev/sequent"
	adapter "github.com/sequent-dev/sequent/adapters/genkit"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

func newTool(t *testing.T, f adapter.Function) *adapter.Tool {
	t.Helper()
	thinking, err := adapter.New(f)
	if err != nil {
		t.Fatal(err)
	}
	return thinking
}

// told returns what the model was answered at each of its calls.
func told(s *script) (answers []map[string]any) {
	for _, m := range s.asked[len(s.asked)-1].Messages {
		for _, p := range m.Content {
			if p.IsToolResponse() {
				m, _ := p.ToolResponse.Output.(map[string]any)
				answers = append(answers, m)
			}
		}
	}
	return answers
}

// Given to a request or registered, the tool is the same.
func TestAgent(t *testing.T) {
	for _, registered := range []bool{false, true} {
		ctx := t.Context()
		g := genkit.Init(ctx)
		s := &script{answer: "done", calls: []map[string]any{
			// As models write: a number in a string, and one that is missing.
			{"thought": "a", "thoughtNumber": "1", "totalThoughts": 2.0, "nextThoughtNeeded": "true"},
			{"thought": "b", "totalThoughts": 2, "nextThoughtNeeded": false},
		}}
		history := history.NewTool(history.ToolConfig{})
		thinking := newTool(t, history)
		var ref ai.ToolRef = thinking
		if registered {
			genkit.RegisterAction(g, thinking)
			ref = ai.ToolName(thinking.Name())
		}
		answer, err := genkit.Generate(ctx, g, ai.WithModel(s.define(g)), ai.WithTools(ref), ai.WithPrompt("?"))
		if err != nil || answer.Text() != "done" {
			t.Fatalf("the agent says %v, %v", answer, err)
		}
		answers := told(s)
		if len(answers) != 2 || answers[0]["thoughtHistoryLength"] != 1.0 {
			t.Fatalf("the model is answered %v", answers)
		}
		refusal, _ := answers[1]["error"].(map[string]any)
		if refusal["code"] != "INVALID_ARGUMENT" || refusal["field"] != "thoughtNumber" {
			t.Errorf("a call that is wrong is answered with %v", answers[1])
		}

		// What the model is offered is what is published.
		offered := s.asked[0].Tools[0]
		var want any
		if err := json.Unmarshal(history.InputSchema(), &want); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*ai.ToolDefinition{offered, thinking.Definition()} {
			if d.Name != history.Name() || d.Description != history.Description() || fmt.Sprint(d.InputSchema) != fmt.Sprint(want) {
				t.Errorf("registered %v: the model is offered %+v", registered, d)
			}
		}
		out, err := thinking.RunRaw(ctx, map[string]any{"thought": "c", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false})
		if m, ok := out.(map[string]any); err != nil || !ok || m["summary"] == nil {
			t.Errorf("run by hand the tool answers %v, %v", out, err)
		}
	}
}

// Conversations at the same time have a tool each, or share one.
func TestConcurrent(t *testing.T) {
	ctx := t.Context()
	g := genkit.Init(ctx)
	s := &script{answer: "done", calls: []map[string]any{{"thought": "a", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}}}
	model := s.define(g)
	engine := sequent.New(sequent.Config{})
	shared := newTool(t, history.NewTool(history.ToolConfig{Engine: engine}))
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			thinking := shared
			if n%2 == 0 {
				thinking = newTool(t, history.NewTool(history.ToolConfig{Engine: engine, SessionID: sequent.ID(fmt.Sprint("agent-", n))}))
			}
			if _, err := genkit.Generate(ctx, g, ai.WithModel(model), ai.WithTools(thinking), ai.WithPrompt("?")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	page, err := engine.Sessions(ctx, sequent.Query{})
	if err != nil || len(page.Headers) != 20 {
		t.Errorf("there are %d sessions, %v, want 20", len(page.Headers), err)
	}
}

// Any tool of the module will do.
func TestOtherTools(t *testing.T) {
	f := guided.New(guided.Config{Engine: sequent.New(sequent.Config{})}).Tools[0].Function(tool.Caller{Scope: tool.Scope{Name: "agent"}})
	out, err := newTool(t, f).RunRaw(t.Context(), map[string]any{"thought": "a"})
	if m, ok := out.(map[string]any); err != nil || !ok || m["stop_reason"] != "validation_error" {
		t.Errorf("the tool answers %v, %v", out, err)
	}
}

// A fault ends the request.
func TestFault(t *testing.T) {
	ctx := t.Context()
	g := genkit.Init(ctx)
	s := &script{answer: "done", calls: []map[string]any{{}}}
	thinking := newTool(t, broken{history.NewTool(history.ToolConfig{})})
	if _, err := genkit.Generate(ctx, g, ai.WithModel(s.define(g)), ai.WithTools(thinking), ai.WithPrompt("?")); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("the request ends with %v", err)
	}
	if _, err := adapter.New(schemaless{history.NewTool(history.ToolConfig{})}); err == nil {
		t.Error("a function without a schema becomes a tool")
	}
}

type broken struct{ *history.Tool }

func (broken) CallJSON(context.Context, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("out of order")
}

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }
