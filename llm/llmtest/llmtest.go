// Package llmtest provides scripted language models for tests: a [Model] in the
// process, and a [Server] that speaks the Chat Completions protocol over HTTP.
package llmtest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/llm"
)

// A Model answers the n-th request with the n-th turn of its script. It implements
// [llm.Model].
type Model struct {
	mu       sync.Mutex
	script   []Turn
	requests []llm.Request
}

// A Turn is one answer.
type Turn struct {
	Text      string
	Reasoning string
	Calls     []llm.Call // a missing ID is generated
	Stop      llm.Stop   // empty means StopCalls if there are calls, otherwise StopEnd
	Usage     llm.Usage  // zero means 10 input and 5 output tokens
	Err       error      // returned instead of an answer
	// Answer, if not nil, returns the turn to use instead. It may block until ctx is done.
	Answer func(ctx context.Context, r llm.Request) Turn
}

// Say returns a turn that answers with a text.
func Say(text string) Turn { return Turn{Text: text} }

// CallOf returns a turn that calls a tool.
func CallOf(name, args string) Turn { return Turn{Calls: []llm.Call{{Name: name, Args: args}}} }

// New returns a model that follows a script. A request beyond the script fails
// with the code [llm.CodeUnavailable].
func New(script ...Turn) *Model { return &Model{script: script} }

// Name returns "scripted".
func (m *Model) Name() string { return "scripted" }

// Requests returns all requests so far.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

// answer returns the next turn.
func (m *Model) answer(ctx context.Context, r llm.Request) (llm.Response, error) {
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
		t.Err = &llm.Error{Code: llm.CodeCanceled, Msg: "the request was canceled", Err: ctx.Err()}
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

// Stream answers with the next turn, word by word.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		res, err := m.answer(ctx, r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		var events []llm.Event
		for _, word := range words(res.Message.Reasoning) {
			events = append(events, llm.Event{Reasoning: word})
		}
		for _, word := range words(res.Message.Text) {
			events = append(events, llm.Event{Text: word})
		}
		for i, call := range res.Message.Calls {
			for _, word := range words(call.Args) {
				events = append(events, llm.Event{Call: &llm.CallPiece{Index: i, Name: call.Name, Args: word}})
			}
		}
		for _, e := range append(events, llm.Event{Response: &res}) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// words splits a text after each space.
func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}
