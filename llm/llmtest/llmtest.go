// Package llmtest plays language models for tests: a [Model] in the process, and a
// [Server] over HTTP that real clients are pointed at. Both follow a script.
package llmtest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/llm"
)

// A Model answers with the turns of a script, one after the other. It implements
// [llm.Model].
type Model struct {
	mu       sync.Mutex
	script   []Turn
	requests []llm.Request
}

// A Turn is one answer. Without anything else it is the text.
type Turn struct {
	Text      string
	Reasoning string
	Calls     []llm.Call // an ID that is missing is made up
	Stop      llm.Stop   // empty means as the calls have it
	Usage     llm.Usage  // zero means 10 and 5
	Err       error      // instead of an answer
	// Answer, if not nil, is asked what to answer, and may wait for ctx.
	Answer func(ctx context.Context, r llm.Request) Turn
}

// Say is a turn that says something.
func Say(text string) Turn { return Turn{Text: text} }

// CallOf is a turn that calls a tool.
func CallOf(name, args string) Turn { return Turn{Calls: []llm.Call{{Name: name, Args: args}}} }

// New returns a model with a script.
func New(script ...Turn) *Model { return &Model{script: script} }

// Name returns "scripted".
func (m *Model) Name() string { return "scripted" }

// Requests returns what the model has been asked.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

// Chat returns the next turn.
func (m *Model) Chat(ctx context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	n := len(m.requests)
	var t Turn
	if n <= len(m.script) {
		t = m.script[n-1]
	} else {
		t.Err = &llm.Error{Code: llm.CodeUnavailable, Msg: fmt.Sprintf("the script has %d turns, and this is request %d", len(m.script), n)}
	}
	m.mu.Unlock()
	if t.Answer != nil {
		t = t.Answer(ctx, r)
	}
	if t.Err == nil && ctx.Err() != nil {
		t.Err = &llm.Error{Code: llm.CodeCanceled, Msg: "taken back", Err: ctx.Err()}
	}
	if t.Err != nil {
		return llm.Response{}, t.Err
	}
	return t.response(n), nil
}

func (t Turn) response(n int) llm.Response {
	res := llm.Response{
		Message: llm.Message{Role: llm.Assistant, Text: t.Text, Reasoning: t.Reasoning},
		Stop:    t.Stop, Usage: t.Usage, Model: "scripted",
	}
	for i, call := range t.Calls {
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d_%d", n, i+1)
		}
		res.Message.Calls = append(res.Message.Calls, call)
	}
	if res.Stop == "" {
		res.Stop = llm.StopEnd
		if len(t.Calls) > 0 {
			res.Stop = llm.StopCalls
		}
	}
	if res.Usage == (llm.Usage{}) {
		res.Usage = llm.Usage{Input: 10, Output: 5}
	}
	return res
}

// Stream yields the next turn word by word.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		res, err := m.Chat(ctx, r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		for _, word := range words(res.Message.Reasoning) {
			if !yield(llm.Event{Reasoning: word}, nil) {
				return
			}
		}
		for _, word := range words(res.Message.Text) {
			if !yield(llm.Event{Text: word}, nil) {
				return
			}
		}
		yield(llm.Event{Response: &res}, nil)
	}
}

// words returns a text in pieces.
func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}
