package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/llm/openai"
)

const secret = "sk-proj-verysecret0123456789"

// environ returns an environment with url as the base URL of every provider.
func environ(url string) func(string) string {
	return func(name string) string {
		switch {
		case strings.HasSuffix(name, "_BASE_URL"):
			return url
		case strings.HasSuffix(name, "_API_KEY"):
			return secret
		}
		return ""
	}
}

// A service is a scripted service without a network, so that time is that of synctest.
type service struct {
	llmtest.Server
	start time.Time
	at    []time.Duration // times of the requests since start
}

// serve returns a service that answers with replies, and with the last of them from then on.
func serve(replies ...llmtest.Reply) *service {
	s := &service{start: time.Now()}
	s.Answer = func(n int, _ llmtest.Request) llmtest.Reply { return replies[min(n, len(replies))-1] }
	return s
}

// A response is one that a handler is writing.
type response struct {
	*http.Response
	pipe  *io.PipeWriter
	begun chan struct{} // closed at the beginning of the body
}

func (r *response) Header() http.Header { return r.Response.Header }

func (r *response) Flush() {}

func (r *response) WriteHeader(status int) {
	if r.StatusCode == 0 {
		r.StatusCode = status
		close(r.begun)
	}
}

func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.pipe.Write(p)
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	s.at = append(s.at, time.Since(s.start))
	body, pipe := io.Pipe()
	r := &response{&http.Response{Header: http.Header{}, Body: body, Request: req}, pipe, make(chan struct{})}
	go func() {
		defer func() {
			if recover() != nil { // http.ErrAbortHandler
				_ = pipe.CloseWithError(io.ErrUnexpectedEOF)
			}
			r.WriteHeader(http.StatusOK)
			_ = pipe.CloseWithError(req.Context().Err()) // nil is the end
		}()
		s.ServeHTTP(r, req)
	}()
	context.AfterFunc(req.Context(), func() { _ = pipe.CloseWithError(req.Context().Err()) })
	select {
	case <-r.begun:
		return r.Response, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// connect returns a client of the service.
func (s *service) connect(t *testing.T, model string, alter ...func(*openai.Config)) *openai.Client {
	t.Helper()
	cfg := openai.Config{Model: model, Getenv: environ("http://model/v1"), Transport: s}
	for _, f := range alter {
		f(&cfg)
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// body returns the members of the n-th request, from 0.
func (s *service) body(t *testing.T, n int) (m map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(s.Requests()[n].Body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

// collect reads a stream to its end.
func collect(ctx context.Context, c llm.Model, r llm.Request) (text, reasoning string, last *llm.Response, err error) {
	for e, err := range c.Stream(ctx, r) {
		switch {
		case err != nil:
			return text, reasoning, last, err
		case e.Retry != nil:
			text, reasoning = "", ""
		case e.Response != nil:
			last = e.Response
		}
		text += e.Text
		reasoning += e.Reasoning
	}
	return text, reasoning, last, nil
}

// answerOf returns the complete answer.
func answerOf(ctx context.Context, c llm.Model, r llm.Request) (llm.Response, error) {
	_, _, res, err := collect(ctx, c, r)
	if err != nil {
		return llm.Response{}, err
	}
	return *res, nil
}

func TestAnswerForms(t *testing.T) {
	usual := llm.Usage{Input: 10, Output: 5}
	turns := map[string]llmtest.Turn{
		"text":      {Text: "It is the pool: ten connections, ünïcödé 🧵.", Stop: llm.StopEnd, Usage: usual},
		"reasoning": {Text: "The pool.", Reasoning: "Tuesday's release, so\nthe diff first.", Stop: llm.StopEnd, Usage: usual},
		"calls": {Text: "Let me look.", Stop: llm.StopCalls, Usage: usual, Calls: []llm.Call{
			{ID: "a", Name: "read_file", Args: `{"path":"pool.go"}`}, {ID: "b", Name: "read_file", Args: `{"path":"main.go"}`},
		}},
		"cut":     {Text: "So far", Stop: llm.StopLength, Usage: llm.Usage{Input: 3, Output: 900, Reasoning: 800}},
		"broken":  {Stop: llm.StopCalls, Usage: usual, Calls: []llm.Call{{ID: "a", Name: "read_file", Args: `{"path":`}}},
		"nothing": {Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 1}},
	}
	for name, turn := range turns {
		for _, in := range []string{"reasoning_content", "reasoning", "think"} {
			t.Run(name+" "+in, func(t *testing.T) {
				c := serve(llmtest.Reply{Turn: turn, ReasoningIn: in}).connect(t, "gpt-4o")
				text, reasoning, res, err := collect(t.Context(), c, ask("Why?"))
				if err != nil {
					t.Fatal(err)
				}
				if text != turn.Text || strings.TrimSpace(reasoning) != turn.Reasoning {
					t.Errorf("streamed text %q and reasoning %q, want %q and %q", text, reasoning, turn.Text, turn.Reasoning)
				}
				want := llm.Response{Stop: turn.Stop, Usage: turn.Usage, Model: "gpt-4o", Message: llm.Message{
					Role: llm.Assistant, Text: turn.Text, Reasoning: turn.Reasoning, Calls: turn.Calls,
				}}
				if !reflect.DeepEqual(*res, want) {
					t.Errorf("got %+v, want %+v", *res, want)
				}
			})
		}
	}
}

func TestFailures(t *testing.T) {
	yes := llmtest.Reply{Turn: llmtest.Say("yes")}
	tests := []struct {
		name   string
		script []llmtest.Reply
		want   llm.Code // empty: success
		msg    string   // a part of the error
		asked  int      // number of requests
	}{
		{"429 then 200", []llmtest.Reply{{Status: 429, Header: http.Header{"Retry-After-Ms": {"1"}}}, yes}, "", "", 2},
		{"500s", []llmtest.Reply{{Status: 500}, {Status: 503, Body: "<html>"}, {Status: 502}}, llm.CodeUnavailable, "OpenAI failed with status 502", 3},
		{"500s then 200", []llmtest.Reply{{Status: 500}, {Status: 529}, yes}, "", "", 3},
		{"429 for an hour", []llmtest.Reply{{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}}, llm.CodeRateLimited, "try again in 1h0m0s", 1},
		{"no quota", []llmtest.Reply{{Status: 429, Body: `{"error":{"message":"You exceeded it","code":"insufficient_quota"}}`}}, llm.CodeRateLimited, "quota of this OpenAI key is used up", 1},
		{"wrong key", []llmtest.Reply{{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + secret + `"}}`}}, llm.CodeBadKey, "check OPENAI_API_KEY", 1},
		{"flagged", []llmtest.Reply{{Status: 403, Body: `{"error":{"message":"a/b requires moderation on OpenAI. Your input was flagged.","code":403}}`}}, llm.CodeDeclined, "was flagged", 1},
		{"400", []llmtest.Reply{{Status: 400, Body: `{"error":{"message":"messages too weird"}}`}}, llm.CodeRefused, "messages too weird", 1},
		{"an error that is a string", []llmtest.Reply{{Status: 400, Body: `{"error":"phi does not support tools"}`}}, llm.CodeRefused, "status 400 (phi does not support tools)", 1},
		{"an error of another form", []llmtest.Reply{{Status: 422, Body: `{"error":{"message":{"why":"x"}},"detail":"no such field"}`}}, llm.CodeRefused, "status 422 (no such field)", 1},
		{"no such model", []llmtest.Reply{{Status: 404}}, llm.CodeUnknown, "does not know the model", 1},
		{"no JSON", []llmtest.Reply{{Body: "<html>welcome to the hotel</html>"}}, llm.CodeBadAnswer, "OPENAI_BASE_URL", 3},
		{"no JSON then 200", []llmtest.Reply{{Body: "<html>"}, yes}, "", "", 2},
		{"no choices then 200", []llmtest.Reply{{Body: `{"choices":[]}`}, yes}, "", "", 2},
		{"error in a 200", []llmtest.Reply{{Body: `{"error":{"message":"upstream is down","code":502}}`}, yes}, "", "", 2},
		{"cut", []llmtest.Reply{{Turn: llmtest.Say("so far so good"), Cut: true}, yes}, "", "", 2},
		{"cut three times", []llmtest.Reply{{Cut: true}}, llm.CodeInterrupted, "closed the connection", 3},
		{"refusal", []llmtest.Reply{{Body: `{"choices":[{"message":{"role":"assistant","refusal":"I can't help with that."},"finish_reason":"stop"}]}`}}, llm.CodeDeclined, "I can't help", 1},
		{"filter", []llmtest.Reply{{Body: `{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"content_filter"}]}`}}, llm.CodeDeclined, "content filter of OpenAI", 1},
		{"not streamed", []llmtest.Reply{{Body: `{"choices":[{"message":{"role":"assistant","content":"yes","reasoning":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`}}, "", "", 1},
		{"nothing", []llmtest.Reply{{Body: " "}}, llm.CodeBadAnswer, "OPENAI_BASE_URL", 3},
		{"redirect", []llmtest.Reply{{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}}, llm.CodeUnavailable, "redirects", 1},
		{"error in a stream", []llmtest.Reply{{Body: ": PROCESSING\n\n" + events(`{"choices":[{"delta":{"content":"So"}}]}`,
			`{"error":{"message":"overloaded","code":503}}`)}}, llm.CodeUnavailable, "overloaded", 3},
		{"error beside choices", []llmtest.Reply{{Body: events(`{"id":"x","error":{"message":"overloaded","code":503},"choices":[{"delta":{"content":""},` +
			`"finish_reason":"error"}]}`)}}, llm.CodeUnavailable, "overloaded", 3},
		{"streamed refusal", []llmtest.Reply{{Body: events(`{"choices":[{"delta":{"refusal":"I can't "}}]}`,
			`{"choices":[{"delta":{"refusal":"do that."},"finish_reason":"stop"}]}`, "[DONE]")}}, llm.CodeDeclined, "I can't do that.", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(tt.script...)
				text, _, res, err := collect(t.Context(), s.connect(t, "gpt-4o"), ask("?"))
				if got := llm.CodeOf(err); got != tt.want || tt.want == "" && (text != "yes" || res.Message.Text != "yes") {
					t.Fatalf("got %q and %v, want code %q", text, err, tt.want)
				}
				if err != nil && !strings.Contains(err.Error(), tt.msg) {
					t.Errorf("got error %q, want %q in it", err, tt.msg)
				}
				if n := len(s.Requests()); n != tt.asked {
					t.Errorf("got %d requests, want %d", n, tt.asked)
				}
			})
		})
	}
}

// events returns the body of a stream.
func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

func TestInterruptedStreamIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(llmtest.Reply{Turn: llmtest.Say("a text of several pieces that is cut"), Cut: true}, llmtest.Reply{Turn: llmtest.Say("yes")})
		var seen []string
		for e, err := range s.connect(t, "gpt-4o").Stream(t.Context(), ask("?")) {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case e.Retry != nil:
				seen = append(seen, "retry: "+string(llm.CodeOf(e.Retry.Err)))
			case e.Response != nil:
				seen = append(seen, "whole: "+e.Response.Message.Text)
			default:
				seen = append(seen, "piece")
			}
		}
		got := strings.Join(seen, " ")
		if !strings.HasPrefix(got, "piece ") || !strings.Contains(got, "retry: model_interrupted piece whole: yes") {
			t.Errorf("got %s", got)
		}
	})
}

// Calls arrive whole or in pieces, which may alternate, and services differ in how they send them.
func TestCalls(t *testing.T) {
	call := func(id, args string) llm.Call { return llm.Call{ID: id, Name: "think", Args: args} }
	whole := func(calls string) string {
		return `{"choices":[{"message":{"role":"assistant","tool_calls":[` + calls + `]},"finish_reason":"tool_calls"}]}`
	}
	stream := func(pieces ...string) string {
		for i, p := range pieces {
			pieces[i] = `{"choices":[{"delta":{"tool_calls":[` + p + `]}}]}`
		}
		return events(append(pieces, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")...)
	}
	const (
		first  = `{"index":0,"id":"a","function":{"name":"think","arguments":"{\"n\":"}}`
		rest   = `{"index":0,"function":{"arguments":"1}"}}`
		second = `{"index":0,"id":"b","function":{"name":"think","arguments":"{\"n\":2}"}}`
		other  = `{"index":0,"id":"x","function":{"arguments":"1}"}}` // a new id for every piece
		object = `{"index":0,"id":"a","type":"function","function":{"name":"think","arguments":{"n":9007199254740993,"path":"x"}}},` +
			`{"index":1,"id":"b","function":{"name":"think","arguments":"{}"}}`
	)
	two := []llm.Call{call("a", `{"n":1}`), call("b", `{"n":2}`)}
	mixed := []llm.Call{call("a", `{"thought":"It is the pool: ten connections."}`), call("b", `{"path":"ünïcödé.go"}`), call("c", "")}
	objects := []llm.Call{call("a", `{"n":9007199254740993,"path":"x"}`), call("b", "{}")}
	for _, tt := range []struct {
		name  string
		reply llmtest.Reply
		want  []llm.Call
		least int // pieces
	}{
		{"alternating", llmtest.Reply{Turn: llmtest.Turn{Text: "Let me look.", Calls: mixed}}, mixed, 10},
		{"not streamed", llmtest.Reply{Body: whole(strings.Replace(first, `n\":`, `n\":1}`, 1) + "," + second)}, two, 2},
		{"all with index 0", llmtest.Reply{Body: stream(first, rest, second)}, two, 3},
		{"index 0 and many ids", llmtest.Reply{Body: stream(first, other, second)}, two, 3},
		{"objects as arguments", llmtest.Reply{Body: whole(object)}, objects, 2},
		{"objects in a stream", llmtest.Reply{Body: stream(object)}, objects, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, pieces := make([]llm.Call, len(tt.want)), 0
			for e, err := range serve(tt.reply).connect(t, "gpt-4o", once).Stream(t.Context(), ask("?")) {
				switch {
				case err != nil:
					t.Fatal(err)
				case e.Response != nil && !slices.Equal(e.Response.Message.Calls, tt.want):
					t.Errorf("got calls %+v, want %+v", e.Response.Message.Calls, tt.want)
				case e.Call != nil:
					if pieces++; e.Call.Name != "think" || e.Call.Args == "" {
						t.Errorf("got piece %+v", *e.Call)
					}
					got[e.Call.Index].Args += e.Call.Args
				}
			}
			for i, c := range tt.want {
				if got[i].Args != c.Args {
					t.Errorf("the pieces of call %d add up to %q, want %q", i, got[i].Args, c.Args)
				}
			}
			if pieces < tt.least {
				t.Errorf("got %d pieces, want at least %d", pieces, tt.least)
			}
		})
	}
}

// once makes a client try once.
func once(cfg *openai.Config) { cfg.MaxAttempts = 1 }

func TestBreakFromStream(t *testing.T) {
	for _, turn := range []llmtest.Turn{llmtest.Say("one two three four five six"), llmtest.CallOf("think", `{"thought":"It is the pool."}`)} {
		s := serve(llmtest.Reply{Turn: turn})
		for e, err := range s.connect(t, "gpt-4o").Stream(t.Context(), ask("?")) {
			if err != nil || e.Text == "" && e.Call == nil {
				t.Errorf("got %+v, %v", e, err)
			}
			break
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("got %d requests, want 1", n)
		}
	}
}

// The timeout is that of the wait for an answer and for each of its pieces.
func TestTimeout(t *testing.T) {
	for _, reply := range []llmtest.Reply{
		{Hold: func(r *http.Request) { <-r.Context().Done() }}, {Turn: llmtest.Say("one two three four"), Stall: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(reply)
			_, err := answerOf(t.Context(), s.connect(t, "gpt-4o", func(cfg *openai.Config) { cfg.MaxAttempts = 2 }), ask("?"))
			if took := time.Since(s.start); llm.CodeOf(err) != llm.CodeTimeout || len(s.at) != 2 || took < 2*time.Minute || took > 2*time.Minute+time.Second {
				t.Errorf("got %v after %v and requests at %v, want two timeouts of a minute", err, took, s.at)
			}
		})
	}
}

func TestCancellationCancelsTheRequest(t *testing.T) {
	closed := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(llmtest.Reply{Hold: func(r *http.Request) {
		cancel()
		<-r.Context().Done()
		close(closed)
	}})
	_, err := answerOf(ctx, s.connect(t, "gpt-4o"), ask("?"))
	if llm.CodeOf(err) != llm.CodeCanceled || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-closed
}

func TestLargeAnswer(t *testing.T) {
	text := strings.Repeat("x", 16<<20)
	for _, big := range []llmtest.Reply{{Body: "data: " + text}, {Body: `{"choices":[{"message":{"content":"` + text + `"}}]}`}} {
		s := serve(big)
		if _, err := answerOf(t.Context(), s.connect(t, "gpt-4o"), ask("?")); llm.CodeOf(err) != llm.CodeTooLarge || len(s.Requests()) != 1 {
			t.Errorf("got %v after %d requests", err, len(s.Requests()))
		}
	}
}
