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
	res, err := x.client(c.at).CreateChatCompletion(ctx, q)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && x.status < 300 {
		res, err = decode(x.body.Bytes())
	}
	if err != nil {
		return llm.Response{}, c.failed(ctx, x, err)
	}
	return c.whole(ctx, x, res)
}

// whole converts an answer that was not streamed.
func (c *Client) whole(ctx context.Context, x *exchange, res openai.ChatCompletionResponse) (llm.Response, *failure) {
	// The members that the library does not decode.
	var more struct {
		Error   *openai.APIError `json:"error"`
		Choices []struct {
			Message struct {
				Reasoning json.RawMessage `json:"reasoning"`
			} `json:"message"`
		} `json:"choices"`
	}
	// The library has decoded the JSON; members of other types are ignored.
	_ = json.NewDecoder(&x.body).Decode(&more)
	switch {
	case more.Error != nil:
		return llm.Response{}, c.failed(ctx, x, more.Error)
	case len(res.Choices) == 0:
		return llm.Response{}, &failure{retryable: true, err: c.badAnswer(errors.New("no choices"))}
	}
	in := res.Choices[0]
	var text strings.Builder
	text.WriteString(in.Message.Content)
	for _, part := range in.Message.MultiContent {
		text.WriteString(part.Text)
	}
	a := assembly{reason: string(in.FinishReason), refusal: in.Message.Refusal, model: res.Model, usage: &res.Usage}
	reasoning, answer := split(text.String())
	if a.reasoning.WriteString(in.Message.ReasoningContent); len(more.Choices) > 0 && a.reasoning.Len() == 0 {
		a.reasoning.WriteString(textOf(more.Choices[0].Message.Reasoning))
	}
	a.reasoning.WriteString(reasoning)
	a.text.WriteString(answer)
	for _, call := range toolCalls(in.Message.ToolCalls) {
		a.add(call)
	}
	return c.finish(&a)
}

// textOf returns the text of a JSON string, and "" for any other value.
func textOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// A chunk is a piece of a streamed answer.
type chunk struct {
	Model   string           `json:"model"`
	Error   *openai.APIError `json:"error"`
	Usage   *openai.Usage    `json:"usage"`
	Choices []struct {
		Delta struct {
			Content          string          `json:"content"`
			Refusal          string          `json:"refusal"`
			ReasoningContent string          `json:"reasoning_content"`
			Reasoning        json.RawMessage `json:"reasoning"`
			ToolCalls        []toolCall      `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
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
			reasoning, text := sp.add(in.Delta.Content)
			reasoning = cmp.Or(in.Delta.ReasoningContent, textOf(in.Delta.Reasoning)) + reasoning
			if !emitPiece(reasoning, text) {
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
	res, err := decode(x.body.Bytes())
	if err != nil {
		return &failure{retryable: true, err: c.badAnswer(err)}
	}
	answer, f := c.whole(ctx, x, res)
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
