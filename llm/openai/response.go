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

// chat makes one request for a whole answer.
func (c *Client) chat(ctx context.Context, r llm.Request) (llm.Response, *failure) {
	ctx, dog, release := watched(ctx, c.timeout)
	defer release()
	q, extra := c.request(r)
	x := &exchange{http: c.http, extra: extra, limit: c.maxBody, dog: dog}
	res, err := x.client(c.at).CreateChatCompletion(ctx, q)
	if err != nil {
		return llm.Response{}, c.failed(ctx, x, err)
	}
	return c.whole(ctx, x, res)
}

// whole puts together an answer that came as a whole.
func (c *Client) whole(ctx context.Context, x *exchange, res openai.ChatCompletionResponse) (llm.Response, *failure) {
	// What the library does not read of an answer.
	var more struct {
		Error   *openai.APIError `json:"error"`
		Choices []struct {
			Message struct {
				Reasoning json.RawMessage `json:"reasoning"`
			} `json:"message"`
		} `json:"choices"`
	}
	// The library has read it, so it is JSON; other types are not ours to judge.
	_ = json.NewDecoder(&x.kept).Decode(&more)
	switch {
	case more.Error != nil:
		return llm.Response{}, c.failed(ctx, x, more.Error)
	case len(res.Choices) == 0:
		return llm.Response{}, &failure{err: c.badAnswer(errors.New("no choices"))}
	}
	in := res.Choices[0]
	var text strings.Builder
	text.WriteString(in.Message.Content)
	for _, part := range in.Message.MultiContent {
		text.WriteString(part.Text)
	}
	a := assembly{reason: string(in.FinishReason), refusal: in.Message.Refusal, model: res.Model, usage: &res.Usage}
	thought, said := split(text.String())
	if a.reasoning.WriteString(in.Message.ReasoningContent); len(more.Choices) > 0 && a.reasoning.Len() == 0 {
		a.reasoning.WriteString(textOf(more.Choices[0].Message.Reasoning))
	}
	a.reasoning.WriteString(thought)
	a.text.WriteString(said)
	a.add(in.Message.ToolCalls)
	return c.finish(&a)
}

// textOf returns a JSON string's text, and nothing for anything else.
func textOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // null, or an object in some later version
	return s
}

// A chunk is a piece of a streamed answer.
type chunk struct {
	Model   string           `json:"model"`
	Error   *openai.APIError `json:"error"`
	Usage   *openai.Usage    `json:"usage"`
	Choices []struct {
		Delta struct {
			Content          string            `json:"content"`
			Refusal          string            `json:"refusal"`
			ReasoningContent string            `json:"reasoning_content"`
			Reasoning        json.RawMessage   `json:"reasoning"`
			ToolCalls        []openai.ToolCall `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
}

// stream makes one request for an answer in pieces, and hands them on until tell
// reports false.
func (c *Client) stream(ctx context.Context, r llm.Request, tell func(llm.Event) bool) *failure {
	ctx, dog, release := watched(ctx, c.timeout)
	defer release()
	q, extra := c.request(r)
	if !c.at.noUsageFlag {
		q.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	x := &exchange{http: c.http, extra: extra, limit: c.maxBody, dog: dog, pieces: true}
	s, err := x.client(c.at).CreateChatCompletionStream(ctx, q)
	if err != nil {
		return c.failed(ctx, x, err)
	}
	defer s.Close() //nolint:errcheck // it is read, or given up
	var a assembly
	var sp splitter
	hand := func(reasoning, text string) bool {
		a.reasoning.WriteString(reasoning)
		a.text.WriteString(text)
		return (reasoning == "" || tell(llm.Event{Reasoning: reasoning})) && (text == "" || tell(llm.Event{Text: text}))
	}
	for {
		raw, err := s.RecvRaw()
		switch {
		case errors.Is(err, io.EOF) && !x.data:
			return c.unstreamed(ctx, x, tell)
		case errors.Is(err, io.EOF) && a.reason == "":
			return c.failed(ctx, x, io.ErrUnexpectedEOF)
		case errors.Is(err, io.EOF):
			if !hand(sp.end()) {
				return nil
			}
			answer, f := c.finish(&a)
			if f == nil {
				tell(llm.Event{Response: &answer})
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
			if !hand(reasoning, text) {
				return nil
			}
			a.refusal += in.Delta.Refusal
			a.add(in.Delta.ToolCalls)
			a.reason = cmp.Or(in.FinishReason, a.reason)
		}
	}
}

// unstreamed reads an answer as a whole, where a stream was asked for.
func (c *Client) unstreamed(ctx context.Context, x *exchange, tell func(llm.Event) bool) *failure {
	var res openai.ChatCompletionResponse
	if err := json.Unmarshal(x.kept.Bytes(), &res); err != nil {
		return &failure{err: c.badAnswer(err)}
	}
	answer, f := c.whole(ctx, x, res)
	if f == nil && (answer.Message.Text == "" || tell(llm.Event{Text: answer.Message.Text})) {
		tell(llm.Event{Response: &answer})
	}
	return f
}

// An assembly is an answer as it is put together.
type assembly struct {
	text, reasoning strings.Builder
	refusal         string
	calls           []*building
	reason          string // the protocol's finish_reason
	model           string
	usage           *openai.Usage
}

// A building is a call whose arguments come in pieces.
type building struct {
	llm.Call
	args  bytes.Buffer
	index int // as the provider counts; -1 if it does not
}

// add takes calls, or pieces of them.
func (a *assembly) add(pieces []openai.ToolCall) {
	for _, p := range pieces {
		b := a.building(p)
		b.ID, b.Name = cmp.Or(b.ID, p.ID), cmp.Or(b.Name, p.Function.Name)
		b.args.WriteString(p.Function.Arguments)
	}
}

// building returns the call that a piece belongs to.
func (a *assembly) building(p openai.ToolCall) *building {
	index := -1
	if p.Index != nil {
		index = *p.Index
	}
	for _, b := range slices.Backward(a.calls) {
		// Some services count every call as the first: then only its id and name
		// tell that another one begins.
		if index >= 0 && b.index == index && (p.ID == "" || p.ID == b.ID || p.Function.Name == "") {
			return b
		}
	}
	if index < 0 && p.ID == "" && p.Function.Name == "" && len(a.calls) > 0 {
		return a.calls[len(a.calls)-1]
	}
	b := &building{index: index}
	a.calls = append(a.calls, b)
	return b
}

// finish returns the whole answer, or why it is none.
func (c *Client) finish(a *assembly) (llm.Response, *failure) {
	if a.refusal != "" || a.reason == string(openai.FinishReasonContentFilter) {
		what := "a filter of " + c.at.Title + " stopped the answer"
		if a.refusal != "" {
			what = "the model declined: " + c.safe(a.refusal)
		}
		return llm.Response{}, &failure{err: &llm.Error{Code: llm.CodeDeclined, Msg: what, Fix: "ask for something else, or another model"}}
	}
	res := llm.Response{
		Message: llm.Message{Role: llm.Assistant, Text: a.text.String(), Reasoning: strings.TrimSpace(a.reasoning.String())},
		Stop:    llm.StopEnd, Model: cmp.Or(a.model, c.model),
	}
	taken := make(map[string]bool)
	for i, b := range a.calls {
		b.Args = b.args.String()
		if b.ID == "" || taken[b.ID] { // as some servers have it
			b.ID = fmt.Sprintf("call_%d", i+1)
		}
		taken[b.ID] = true
		res.Message.Calls = append(res.Message.Calls, b.Call)
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
