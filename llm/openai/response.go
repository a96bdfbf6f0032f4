package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/llm"
)

// A chunk is an answer, or a piece of a streamed one.
type chunk struct {
	Model   string  `json:"model"`
	Error   *report `json:"error"`
	Usage   usage   `json:"usage"`
	Choices []struct {
		Delta        message  `json:"delta"`   // of a stream
		Message      *message `json:"message"` // of a complete answer
		FinishReason string   `json:"finish_reason"`
	} `json:"choices"`
}

// A usage counts tokens.
type usage struct {
	Input  int `json:"prompt_tokens"`
	Output int `json:"completion_tokens"`
	Of     struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	From struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// A message is what a model says, or a piece of it.
type message struct {
	Content          content         `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []toolCall      `json:"tool_calls"`
}

// reasoning returns the reasoning in the member that the service uses.
func (m message) reasoning() string { return cmp.Or(m.ReasoningContent, textOf(m.Reasoning)) }

// content is a text: a string, or a list of parts with texts.
type content string

// UnmarshalJSON reads both forms.
func (c *content) UnmarshalJSON(raw []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return json.Unmarshal(raw, (*string)(c))
	}
	for _, part := range parts {
		*c += content(part.Text)
	}
	return nil
}

// textOf returns the text of a JSON string, and "" for any other value.
func textOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// A toolCall is a call, or a piece of one.
type toolCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string       `json:"name"`
		Arguments argumentText `json:"arguments"`
	} `json:"function"`
}

// An argumentText is the arguments of a call, or a piece of them. In the protocol they are a
// string that contains an object; some services send the object itself.
type argumentText string

// UnmarshalJSON reads a string. It keeps any other value as it is written.
func (a *argumentText) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil { // also null
		*a = argumentText(s)
	} else {
		*a = argumentText(raw)
	}
	return nil
}

// stream makes one attempt to get an answer in pieces. It passes them to emit
// until emit returns false.
func (c *Client) stream(ctx context.Context, r llm.Request, emit func(llm.Event) bool) *failure {
	a := assembly{emit: emit}
	f := c.post(ctx, "/chat/completions", c.request(r), true, func(data []byte) error { return c.piece(&a, data) })
	switch {
	case a.stopped:
		return nil
	case f != nil:
		return f
	case !a.begun:
		return c.badAnswer(errors.New("no choices"))
	case !a.whole && a.reason == "":
		return c.interrupted(io.ErrUnexpectedEOF)
	}
	a.say(a.split.end())
	answer, f := c.finish(&a)
	if f == nil {
		a.pass(llm.Event{Response: &answer})
	}
	return f
}

// piece adds a piece of an answer, and passes it on.
func (c *Client) piece(a *assembly, data []byte) error {
	var piece chunk
	if err := json.Unmarshal(data, &piece); err != nil {
		return err
	}
	if piece.Error != nil {
		return c.rejected(0, nil, *piece.Error)
	}
	a.model = cmp.Or(piece.Model, a.model)
	a.usage = cmp.Or(piece.Usage, a.usage)
	for _, in := range piece.Choices {
		m := in.Delta
		if a.begun = true; in.Message != nil {
			m, a.whole = *in.Message, true
		}
		reasoning, text := a.split.add(string(m.Content))
		a.say(m.reasoning()+reasoning, text)
		a.refusal += m.Refusal
		for _, call := range m.ToolCalls {
			if p := a.add(call); p.Args != "" {
				a.pass(llm.Event{Call: &p})
			}
		}
		a.reason = cmp.Or(in.FinishReason, a.reason)
	}
	if a.stopped {
		return errStopped
	}
	return nil
}

// An assembly collects the pieces of an answer.
type assembly struct {
	text, reasoning strings.Builder
	refusal         string
	calls           []*partialCall
	reason          string // the protocol's finish_reason
	model           string
	usage           usage
	split           splitter
	emit            func(llm.Event) bool
	begun           bool // there is an answer
	whole           bool // it is not a stream
	stopped         bool // emit has returned false
}

// pass emits an event, unless the reader has stopped.
func (a *assembly) pass(e llm.Event) { a.stopped = a.stopped || !a.emit(e) }

// say adds text, and passes it on.
func (a *assembly) say(reasoning, text string) {
	a.reasoning.WriteString(reasoning)
	a.text.WriteString(text)
	if reasoning != "" {
		a.pass(llm.Event{Reasoning: reasoning})
	}
	if text != "" {
		a.pass(llm.Event{Text: text})
	}
}

// A partialCall is a call whose arguments arrive in pieces.
type partialCall struct {
	llm.Call
	args  bytes.Buffer
	index int // the provider's index; -1 if it sends none
}

// add adds a call, or a piece of one, and returns what it added.
func (a *assembly) add(p toolCall) llm.CallPiece {
	i := a.callOf(p)
	call := a.calls[i]
	call.ID, call.Name = cmp.Or(call.ID, p.ID), cmp.Or(call.Name, p.Function.Name)
	call.args.WriteString(string(p.Function.Arguments))
	return llm.CallPiece{Index: i, Name: call.Name, Args: string(p.Function.Arguments)}
}

// callOf returns the position of the call that a piece belongs to, a new one if necessary.
func (a *assembly) callOf(p toolCall) int {
	index := -1
	if p.Index != nil {
		index = *p.Index
	}
	for i, call := range slices.Backward(a.calls) {
		// Some services send index 0 for every call. Then only a new id together
		// with a name starts another call.
		if index >= 0 && call.index == index && (p.ID == "" || p.ID == call.ID || p.Function.Name == "") {
			return i
		}
	}
	if index < 0 && p.ID == "" && p.Function.Name == "" && len(a.calls) > 0 {
		return len(a.calls) - 1
	}
	a.calls = append(a.calls, &partialCall{index: index})
	return len(a.calls) - 1
}

// finish returns the complete answer. It fails if the model or a filter declined.
func (c *Client) finish(a *assembly) (llm.Response, *failure) {
	if a.refusal != "" || a.reason == "content_filter" {
		msg := "a content filter of " + c.at.Title + " blocked the answer"
		if a.refusal != "" {
			msg = "the model declined: " + c.safe(a.refusal)
		}
		return llm.Response{}, fail(llm.CodeDeclined, nil, msg, "rephrase the request, or choose another model")
	}
	res := llm.Response{
		Message: llm.Message{Role: llm.Assistant, Text: a.text.String(), Reasoning: strings.TrimSpace(a.reasoning.String())},
		Stop:    llm.StopEnd, Model: cmp.Or(a.model, c.model),
		Usage: llm.Usage{Input: a.usage.Input, Output: a.usage.Output, Reasoning: a.usage.Of.Reasoning, Cached: a.usage.From.Cached},
	}
	seen := make(map[string]bool)
	for i, call := range a.calls {
		call.Args = call.args.String()
		if call.ID == "" || seen[call.ID] { // some servers omit or repeat ids
			call.ID = fmt.Sprintf("call_%d", i+1)
		}
		seen[call.ID] = true
		res.Message.Calls = append(res.Message.Calls, call.Call)
	}
	switch {
	case a.reason == "length":
		res.Stop = llm.StopLength
	case len(a.calls) > 0:
		res.Stop = llm.StopCalls
	}
	return res, nil
}
