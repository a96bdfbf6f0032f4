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

// results returns the tool results that the model received.
func results(s *script) (list []map[string]any) {
	for _, m := range s.asked[len(s.asked)-1].Messages {
		for _, p := range m.Content {
			if p.IsToolResponse() {
				m, _ := p.ToolResponse.Output.(map[string]any)
				list = append(list, m)
			}
		}
	}
	return list
}

// The tool works the same whether it is passed to a request or registered.
func TestAgent(t *testing.T) {
	for _, registered := range []bool{false, true} {
		ctx := t.Context()
		g := genkit.Init(ctx)
		s := &script{answer: "done", calls: []map[string]any{
			// Typical for models: a number in a string, and a missing one.
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
			t.Fatalf("got answer %v, %v", answer, err)
		}
		answers := results(s)
		if len(answers) != 2 || answers[0]["thoughtHistoryLength"] != 1.0 {
			t.Fatalf("got results %v", answers)
		}
		refusal, _ := answers[1]["error"].(map[string]any)
		if refusal["code"] != "INVALID_ARGUMENT" || refusal["field"] != "thoughtNumber" {
			t.Errorf("result of an invalid call is %v", answers[1])
		}

		// The model receives the published name, description and schema.
		offered := s.asked[0].Tools[0]
		var want any
		if err := json.Unmarshal(history.InputSchema(), &want); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*ai.ToolDefinition{offered, thinking.Definition()} {
			if d.Name != history.Name() || d.Description != history.Description() || fmt.Sprint(d.InputSchema) != fmt.Sprint(want) {
				t.Errorf("registered %v: model receives %+v", registered, d)
			}
		}
		out, err := thinking.RunRaw(ctx, map[string]any{"thought": "c", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false})
		if m, ok := out.(map[string]any); err != nil || !ok || m["summary"] == nil {
			t.Errorf("RunRaw = %v, %v", out, err)
		}
	}
}

// Concurrent conversations can share a tool or have their own.
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
		t.Errorf("got %d sessions, %v, want 20", len(page.Headers), err)
	}
}

// Any tool works.
func TestOtherTools(t *testing.T) {
	f := guided.New(guided.Config{Engine: sequent.New(sequent.Config{})}).Tools[0].Function(tool.Caller{Scope: tool.Scope{Name: "agent"}})
	out, err := newTool(t, f).RunRaw(t.Context(), map[string]any{"thought": "a"})
	if m, ok := out.(map[string]any); err != nil || !ok || m["stop_reason"] != "validation_error" {
		t.Errorf("RunRaw = %v, %v", out, err)
	}
}

// An internal failure ends the request.
func TestInternalFailure(t *testing.T) {
	ctx := t.Context()
	g := genkit.Init(ctx)
	s := &script{answer: "done", calls: []map[string]any{{}}}
	thinking := newTool(t, broken{history.NewTool(history.ToolConfig{})})
	if _, err := genkit.Generate(ctx, g, ai.WithModel(s.define(g)), ai.WithTools(thinking), ai.WithPrompt("?")); err == nil || !strings.Contains(err.Error(), "internal failure") {
		t.Errorf("got %v, want the internal failure", err)
	}
	if _, err := adapter.New(schemaless{history.NewTool(history.ToolConfig{})}); err == nil {
		t.Error("New of a function with a malformed schema = nil, want an error")
	}
}

type broken struct{ *history.Tool }

func (broken) CallJSON(context.Context, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("internal failure")
}

type schemaless struct{ *history.Tool }

func (schemaless) InputSchema() json.RawMessage { return json.RawMessage(`7`) }
