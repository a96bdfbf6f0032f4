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

	"github.com/sashabaranov/go-openai"

	"github.com/sequent-dev/sequent/llm"
)

// chat makes one attempt to get a complete answer.
func (c *Client) chat(ctx context.Context, r llm.Request) (llm.Response, *failure) {
	ctx, timer, cancel := withWatchdog(ctx, c.timeout)
	defer cancel()
	q, extra := c.request(r)
	x := &exchange{http: c.http, extra: extra, limit: c.maxBody, timer: timer}
	_, err := x.client(c.at).CreateChatCompletion(ctx, q)
	// The library is stricter about types than some services are.
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && (!ok || x.status >= 300) {
		return llm.Response{}, c.failed(ctx, x, err)
	}
	return c.whole(ctx, x)
}

// whole returns the answer in a body that is not a stream.
func (c *Client) whole(ctx context.Context, x *exchange) (llm.Response, *failure) {
	var res chunk
	err := json.NewDecoder(&x.body).Decode(&res)
	switch {
	case err == nil && res.Error != nil:
		return llm.Response{}, c.failed(ctx, x, res.Error)
	case err == nil && len(res.Choices) == 0:
		err = errors.New("no choices")
	}
	if err != nil {
		return llm.Response{}, &failure{retryable: true, err: c.badAnswer(err)}
	}
	in := res.Choices[0]
	a := assembly{reason: in.FinishReason, refusal: in.Message.Refusal, model: res.Model, usage: res.Usage}
	reasoning, answer := split(string(in.Message.Content))
	a.reasoning.WriteString(in.Message.reasoning() + reasoning)
	a.text.WriteString(answer)
	for _, call := range in.Message.ToolCalls {
		a.add(call)
	}
	return c.finish(&a)
}

// A chunk is an answer, or a piece of a streamed one.
type chunk struct {
	Model   string           `json:"model"`
	Error   *openai.APIError `json:"error"`
	Usage   *openai.Usage    `json:"usage"`
	Choices []struct {
		Delta        message `json:"delta"`   // of a stream
		Message      message `json:"message"` // of a complete answer
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
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
	Index    *int   `json:"index"`
	ID       string `json:"id"`
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
	ctx, timer, cancel := withWatchdog(ctx, c.timeout)
	defer cancel()
	q, extra := c.request(r)
	if !c.at.noUsageFlag {
		q.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	x := &exchange{http: c.http, extra: extra, limit: c.maxBody, timer: timer, stream: true}
	s, err := x.client(c.at).CreateChatCompletionStream(ctx, q)
	if err != nil {
		return c.failed(ctx, x, err)
	}
	defer s.Close() //nolint:errcheck // read to its end or canceled
	var a assembly
	var sp splitter
	emitPiece := func(reasoning, text string) bool {
		a.reasoning.WriteString(reasoning)
		a.text.WriteString(text)
		return (reasoning == "" || emit(llm.Event{Reasoning: reasoning})) && (text == "" || emit(llm.Event{Text: text}))
	}
	for {
		raw, err := s.RecvRaw()
		switch {
		case errors.Is(err, io.EOF) && !x.gotData:
			return c.unstreamed(ctx, x, emit)
		case errors.Is(err, io.EOF) && a.reason == "":
			return c.failed(ctx, x, io.ErrUnexpectedEOF)
		case errors.Is(err, io.EOF):
			if !emitPiece(sp.end()) {
				return nil
			}
			answer, f := c.finish(&a)
			if f == nil {
				emit(llm.Event{Response: &answer})
			}
			return f
		case err != nil:
			return c.failed(ctx, x, err)
		}
		var piece chunk
		if err := json.Unmarshal(raw, &piece); err != nil {
			return c.failed(ctx, x, err)
		}
		if piece.Error != nil {
			return c.failed(ctx, x, piece.Error)
		}
		a.model = cmp.Or(piece.Model, a.model)
		if piece.Usage != nil {
			a.usage = piece.Usage
		}
		for _, in := range piece.Choices {
			reasoning, text := sp.add(string(in.Delta.Content))
			if !emitPiece(in.Delta.reasoning()+reasoning, text) {
				return nil
			}
			a.refusal += in.Delta.Refusal
			for _, call := range in.Delta.ToolCalls {
				if p := a.add(call); p.Args != "" && !emit(llm.Event{Call: &p}) {
					return nil
				}
			}
			a.reason = cmp.Or(in.FinishReason, a.reason)
		}
	}
}

// unstreamed emits a complete answer that the service sent instead of a stream.
func (c *Client) unstreamed(ctx context.Context, x *exchange, emit func(llm.Event) bool) *failure {
	answer, f := c.whole(ctx, x)
	if f != nil || answer.Message.Text != "" && !emit(llm.Event{Text: answer.Message.Text}) {
		return f
	}
	for i, call := range answer.Message.Calls {
		if call.Args != "" && !emit(llm.Event{Call: &llm.CallPiece{Index: i, Name: call.Name, Args: call.Args}}) {
			return nil
		}
	}
	emit(llm.Event{Response: &answer})
	return nil
}

// An assembly collects the pieces of an answer.
type assembly struct {
	text, reasoning strings.Builder
	refusal         string
	calls           []*partialCall
	reason          string // the protocol's finish_reason
	model           string
	usage           *openai.Usage
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
	if a.refusal != "" || a.reason == string(openai.FinishReasonContentFilter) {
		msg := "a content filter of " + c.at.Title + " blocked the answer"
		if a.refusal != "" {
			msg = "the model declined: " + c.safe(a.refusal)
		}
		return llm.Response{}, &failure{err: &llm.Error{Code: llm.CodeDeclined, Msg: msg, Fix: "rephrase the request, or choose another model"}}
	}
	res := llm.Response{
		Message: llm.Message{Role: llm.Assistant, Text: a.text.String(), Reasoning: strings.TrimSpace(a.reasoning.String())},
		Stop:    llm.StopEnd, Model: cmp.Or(a.model, c.model),
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
	case a.reason == string(openai.FinishReasonLength):
		res.Stop = llm.StopLength
	case len(a.calls) > 0:
		res.Stop = llm.StopCalls
	}
	if u := a.usage; u != nil {
		res.Usage = llm.Usage{Input: u.PromptTokens, Output: u.CompletionTokens}
		if d := u.CompletionTokensDetails; d != nil {
			res.Usage.Reasoning = d.ReasoningTokens
		}
		if d := u.PromptTokensDetails; d != nil {
			res.Usage.Cached = d.CachedTokens
		}
	}
	return res, nil
}
