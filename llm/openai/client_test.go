package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
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

func connect(t *testing.T, model, url string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{Model: model, Getenv: environ(url), Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
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
	turns := map[string]llmtest.Turn{
		"text":      llmtest.Say("It is the pool: ten connections, ünïcödé 🧵."),
		"reasoning": {Text: "The pool.", Reasoning: "Tuesday's release, so\nthe diff first."},
		"calls": {Text: "Let me look.", Calls: []llm.Call{
			{ID: "a", Name: "read_file", Args: `{"path":"pool.go"}`}, {ID: "b", Name: "read_file", Args: `{"path":"main.go"}`},
		}},
		"cut":     {Text: "So far", Stop: llm.StopLength, Usage: llm.Usage{Input: 3, Output: 900, Reasoning: 800}},
		"broken":  llmtest.CallOf("read_file", `{"path":`),
		"nothing": {Usage: llm.Usage{Input: 1, Output: 1}},
	}
	for name, turn := range turns {
		for _, in := range []string{"reasoning_content", "reasoning", "think"} {
			t.Run(name+" "+in, func(t *testing.T) {
				s := llmtest.Serve(t, llmtest.Reply{Turn: turn, ReasoningIn: in})
				text, reasoning, res, err := collect(t.Context(), connect(t, "gpt-4o", s.URL), ask("Why?"))
				if err != nil || res == nil {
					t.Fatal(res, err)
				}
				if text != turn.Text || strings.TrimSpace(reasoning) != turn.Reasoning {
					t.Errorf("streamed text %q and reasoning %q, want %q and %q", text, reasoning, turn.Text, turn.Reasoning)
				}
				m := res.Message
				if m.Role != llm.Assistant || m.Text != turn.Text || m.Reasoning != turn.Reasoning || len(m.Calls) != len(turn.Calls) {
					t.Fatalf("got %+v, want %+v", m, turn)
				}
				for i, call := range m.Calls {
					want := turn.Calls[i]
					if call.Name != want.Name || call.Args != want.Args || call.ID == "" || want.ID != "" && call.ID != want.ID {
						t.Errorf("got call %+v, want %+v", call, want)
					}
				}
				wantStop := turn.Stop
				if wantStop == "" {
					wantStop = llm.StopEnd
					if len(turn.Calls) > 0 {
						wantStop = llm.StopCalls
					}
				}
				wantUsage := turn.Usage
				if wantUsage == (llm.Usage{}) {
					wantUsage = llm.Usage{Input: 10, Output: 5}
				}
				if res.Stop != wantStop || res.Usage != wantUsage || res.Model != "gpt-4o" {
					t.Errorf("got stop %q, usage %+v, model %q; want %q and %+v", res.Stop, res.Usage, res.Model, wantStop, wantUsage)
				}
			})
		}
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name   string
		script []llmtest.Reply
		want   llm.Code // empty: success
		msg    string   // a part of the error
		asked  int      // number of requests
	}{
		{"429 then 200", []llmtest.Reply{{Status: 429, Header: http.Header{"Retry-After-Ms": {"1"}}}, {Turn: llmtest.Say("yes")}}, "", "", 2},
		{"500s", []llmtest.Reply{{Status: 500}, {Status: 503, Body: "<html>"}, {Status: 502}}, llm.CodeUnavailable, "OpenAI failed with status 502", 3},
		{"500s then 200", []llmtest.Reply{{Status: 500}, {Status: 529}, {Turn: llmtest.Say("yes")}}, "", "", 3},
		{"429 for an hour", []llmtest.Reply{{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}}, llm.CodeRateLimited, "try again in 1h0m0s", 1},
		{"no quota", []llmtest.Reply{{Status: 429, Body: `{"error":{"message":"You exceeded it","code":"insufficient_quota"}}`}}, llm.CodeRateLimited, "quota of this OpenAI key is used up", 1},
		{"wrong key", []llmtest.Reply{{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + secret + `"}}`}}, llm.CodeBadKey, "check OPENAI_API_KEY", 1},
		{"flagged", []llmtest.Reply{{Status: 403, Body: `{"error":{"message":"a/b requires moderation on OpenAI. Your input was flagged.","code":403}}`}}, llm.CodeDeclined, "was flagged", 1},
		{"400", []llmtest.Reply{{Status: 400, Body: `{"error":{"message":"messages too weird"}}`}}, llm.CodeRefused, "messages too weird", 1},
		{"an error that is a string", []llmtest.Reply{{Status: 400, Body: `{"error":"phi does not support tools"}`}}, llm.CodeRefused, "status 400 (phi does not support tools)", 1},
		{"an error of another form", []llmtest.Reply{{Status: 422, Body: `{"error":{"message":{"why":"x"}},"detail":"no such field"}`}}, llm.CodeRefused, "status 422 (no such field)", 1},
		{"no such model", []llmtest.Reply{{Status: 404}}, llm.CodeUnknown, "does not know the model", 1},
		{"no JSON", []llmtest.Reply{{Body: "<html>welcome to the hotel</html>"}, {Body: "<html>"}, {Body: "<html>"}}, llm.CodeBadAnswer, "OPENAI_BASE_URL", 3},
		{"no JSON then 200", []llmtest.Reply{{Body: "<html>"}, {Turn: llmtest.Say("yes")}}, "", "", 2},
		{"no choices then 200", []llmtest.Reply{{Body: `{"choices":[]}`}, {Turn: llmtest.Say("yes")}}, "", "", 2},
		{"error in a 200", []llmtest.Reply{{Body: `{"error":{"message":"upstream is down","code":502}}`}, {Turn: llmtest.Say("yes")}}, "", "", 2},
		{"cut", []llmtest.Reply{{Turn: llmtest.Say("so far so good"), Cut: true}, {Turn: llmtest.Say("yes")}}, "", "", 2},
		{"cut three times", []llmtest.Reply{{Cut: true}, {Cut: true}, {Cut: true}}, llm.CodeInterrupted, "closed the connection", 3},
		{"refusal", []llmtest.Reply{{Body: `{"choices":[{"message":{"role":"assistant","refusal":"I can't help with that."},"finish_reason":"stop"}]}`}}, llm.CodeDeclined, "I can't help", 1},
		{"filter", []llmtest.Reply{{Body: `{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"content_filter"}]}`}}, llm.CodeDeclined, "content filter of OpenAI", 1},
		{"not streamed", []llmtest.Reply{{Body: `{"choices":[{"message":{"role":"assistant","content":"yes","reasoning":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`}}, "", "", 1},
		{"nothing", []llmtest.Reply{{Body: " "}, {Body: " "}, {Body: " "}}, llm.CodeBadAnswer, "OPENAI_BASE_URL", 3},
		{"redirect", []llmtest.Reply{{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}}, llm.CodeUnavailable, "redirects", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Serve(t, tt.script...)
			text, _, res, err := collect(t.Context(), connect(t, "gpt-4o", s.URL), ask("?"))
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
	}
}

func TestInterruptedStreamIsRetried(t *testing.T) {
	s := llmtest.Serve(t,
		llmtest.Reply{Turn: llmtest.Say("a text of several pieces that is cut"), Cut: true},
		llmtest.Reply{Turn: llmtest.Say("yes")},
	)
	var seen []string
	for e, err := range connect(t, "gpt-4o", s.URL).Stream(t.Context(), ask("?")) {
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
}

// The arguments of calls are streamed too, also if the calls alternate, or the service does
// not stream.
func TestCallPieces(t *testing.T) {
	calls := []llm.Call{
		{ID: "a", Name: "think", Args: `{"thought":"It is the pool: ten connections."}`},
		{ID: "b", Name: "read_file", Args: `{"path":"ünïcödé.go"}`}, {ID: "c", Name: "list", Args: ""},
	}
	whole := `{"id":"x","choices":[{"message":{"role":"assistant","tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"think","arguments":"{\"thought\":\"It is the pool: ten connections.\"}"}},` +
		`{"id":"b","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"ünïcödé.go\"}"}},` +
		`{"id":"c","type":"function","function":{"name":"list","arguments":""}}]},"finish_reason":"tool_calls"}]}`
	for name, test := range map[string]struct {
		reply llmtest.Reply
		least int // pieces
	}{
		"pieces": {llmtest.Reply{Turn: llmtest.Turn{Text: "Let me look.", Calls: calls}}, 10},
		"whole":  {llmtest.Reply{Body: whole}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Serve(t, test.reply)
			got := make([]llm.Call, len(calls))
			pieces := 0
			for e, err := range connect(t, "gpt-4o", s.URL).Stream(t.Context(), ask("?")) {
				switch {
				case err != nil:
					t.Fatal(err)
				case e.Response != nil:
					if !reflect.DeepEqual(e.Response.Message.Calls, calls) {
						t.Errorf("got calls %+v", e.Response.Message.Calls)
					}
				case e.Call != nil:
					pieces++
					if e.Call.Name != calls[e.Call.Index].Name || e.Call.Args == "" {
						t.Errorf("got piece %+v", *e.Call)
					}
					got[e.Call.Index].Args += e.Call.Args
				}
			}
			for i, c := range calls {
				if got[i].Args != c.Args {
					t.Errorf("the pieces of call %d add up to %q, want %q", i, got[i].Args, c.Args)
				}
			}
			if pieces < test.least {
				t.Errorf("got %d pieces, want at least %d", pieces, test.least)
			}
		})
	}
	t.Run("break", func(t *testing.T) {
		s := llmtest.Serve(t, llmtest.Reply{Turn: llmtest.Turn{Calls: calls}})
		for e, err := range connect(t, "gpt-4o", s.URL).Stream(t.Context(), ask("?")) {
			if err != nil || e.Call == nil {
				t.Errorf("got %+v, %v", e, err)
			}
			break
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("got %d requests, want 1", n)
		}
	})
}

func TestErrorInsideStream(t *testing.T) {
	for _, event := range []string{
		`data: {"error":{"message":"overloaded","code":503}}`,
		`data: {"id":"x","error":{"message":"overloaded","code":503},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`,
	} {
		broken := llmtest.Reply{Body: ": PROCESSING\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"So\"}}]}\n\n" + event + "\n\n"}
		s := llmtest.Serve(t, broken, broken, broken)
		_, _, _, err := collect(t.Context(), connect(t, "gpt-4o", s.URL), ask("?"))
		if llm.CodeOf(err) != llm.CodeUnavailable || !strings.Contains(err.Error(), "overloaded") || len(s.Requests()) != 3 {
			t.Errorf("%s\ngot %v after %d requests", event, err, len(s.Requests()))
		}
	}
}

func TestCallsThatAllHaveIndex0(t *testing.T) {
	const (
		first  = `{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":"}}`
		rest   = `{"index":0,"function":{"arguments":"1}"}}`
		second = `{"index":0,"id":"b","function":{"name":"read","arguments":"{\"n\":2}"}}`
		other  = `{"index":0,"id":"x","function":{"arguments":"1}"}}` // a new id for every piece
	)
	for _, pieces := range [][]string{{first, rest, second}, {first, other, second}} {
		var body strings.Builder
		for _, p := range pieces {
			body.WriteString(`data: {"choices":[{"delta":{"tool_calls":[` + p + `]}}]}` + "\n\n")
		}
		s := llmtest.Serve(t, llmtest.Reply{Body: body.String() + `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"})
		_, _, res, err := collect(t.Context(), connect(t, "gpt-4o", s.URL), ask("?"))
		if err != nil {
			t.Fatal(err)
		}
		want := []llm.Call{{ID: "a", Name: "read", Args: `{"n":1}`}, {ID: "b", Name: "read", Args: `{"n":2}`}}
		if got := res.Message.Calls; !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestStreamedRefusal(t *testing.T) {
	s := llmtest.Serve(t, llmtest.Reply{Body: `data: {"choices":[{"delta":{"refusal":"I can't "}}]}` + "\n\n" +
		`data: {"choices":[{"delta":{"refusal":"do that."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"})
	_, _, _, err := collect(t.Context(), connect(t, "gpt-4o", s.URL), ask("?"))
	if llm.CodeOf(err) != llm.CodeDeclined || !strings.Contains(err.Error(), "I can't do that.") || len(s.Requests()) != 1 {
		t.Errorf("got %v after %d requests", err, len(s.Requests()))
	}
}

func TestTimeout(t *testing.T) {
	hold := func(r *http.Request) { <-r.Context().Done() }
	s := llmtest.Serve(t, llmtest.Reply{Hold: hold}, llmtest.Reply{Hold: hold})
	c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ(s.URL), Timeout: 500 * time.Millisecond, MaxAttempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = answerOf(t.Context(), c, ask("?")); llm.CodeOf(err) != llm.CodeTimeout || len(s.Requests()) != 2 {
		t.Errorf("got %v after %d requests, want a timeout after 2", err, len(s.Requests()))
	}
}

func TestCancellationCancelsTheRequest(t *testing.T) {
	closed := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s := llmtest.Serve(t, llmtest.Reply{Hold: func(r *http.Request) {
		cancel()
		<-r.Context().Done()
		close(closed)
	}})
	_, err := answerOf(ctx, connect(t, "gpt-4o", s.URL), ask("?"))
	if llm.CodeOf(err) != llm.CodeCanceled || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-closed
}

func TestBreakFromStream(t *testing.T) {
	s := llmtest.Serve(t, llmtest.Reply{Turn: llmtest.Say("one two three four five six seven eight nine ten")})
	for e, err := range connect(t, "gpt-4o", s.URL).Stream(t.Context(), ask("?")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Text != "" {
			break
		}
		t.Errorf("got %+v before the text", e)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("got %d requests, want 1", n)
	}
}

func TestLargeAnswer(t *testing.T) {
	text := strings.Repeat("x", 16<<20)
	for _, big := range []llmtest.Reply{{Body: "data: " + text}, {Body: `{"choices":[{"message":{"content":"` + text + `"}}]}`}} {
		s := llmtest.Serve(t, big)
		c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ(s.URL)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = answerOf(t.Context(), c, ask("?")); llm.CodeOf(err) != llm.CodeTooLarge || len(s.Requests()) != 1 {
			t.Errorf("got %v after %d requests", err, len(s.Requests()))
		}
	}
}

// A temperature that the model rejects is omitted in the retry and in later requests.
func TestRejectedTemperature(t *testing.T) {
	no := llmtest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported value: 'temperature' does not support 0.7","param":"temperature","code":"unsupported_value"}}`}
	s := llmtest.Serve(t, no, llmtest.Reply{Turn: llmtest.Say("yes")}, llmtest.Reply{Turn: llmtest.Say("yes")}, no)
	c := connect(t, "some-new-model", s.URL)
	r := ask("?")
	r.Temperature = new(0.7)
	for range 2 {
		if res, err := answerOf(t.Context(), c, r); err != nil || res.Message.Text != "yes" {
			t.Fatal(res, err)
		}
	}
	var sent []bool
	for _, req := range s.Requests() {
		sent = append(sent, strings.Contains(string(req.Body), `"temperature"`))
	}
	if len(sent) != 3 || !sent[0] || sent[1] || sent[2] {
		t.Errorf("requests with a temperature: %v, want only the first", sent)
	}
	if _, err := answerOf(t.Context(), c, r); llm.CodeOf(err) != llm.CodeRefused || len(s.Requests()) != 4 {
		t.Errorf("second rejection: got %v after %d requests", err, len(s.Requests()))
	}
}

// Some services send the arguments of a call as an object instead of a string.
func TestArgumentsAsAnObject(t *testing.T) {
	const calls = `"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":{"n":9007199254740993,"path":"x"}}},{"index":1,"id":"b","type":"function","function":{"name":"see","arguments":"{}"}}]`
	for _, stream := range []bool{false, true} {
		reply := `{"choices":[{"message":{"role":"assistant",` + calls + `},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
		if stream {
			reply = `data: {"choices":[{"delta":{` + calls + `},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
		}
		s := llmtest.Serve(t, llmtest.Reply{Body: reply})
		c := connect(t, "some-model", s.URL)
		res, err := answerOf(t.Context(), c, ask("?"))
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Message.Calls; len(got) != 2 || got[0].Args != `{"n":9007199254740993,"path":"x"}` || got[1].Args != "{}" || len(s.Requests()) != 1 {
			t.Errorf("stream %v: %+v, %v after %d requests", stream, got, err, len(s.Requests()))
		}
	}
}

// Images of results follow the results, in a message of their own. A model that cannot
// see is told that there are some.
func TestImages(t *testing.T) {
	s := llmtest.Serve(t,
		llmtest.Reply{Turn: llmtest.Say("A cat.")},
		llmtest.Reply{Status: 404, Body: `{"error":{"message":"No endpoints found that support image input"}}`},
		llmtest.Reply{Turn: llmtest.Say("I cannot see.")},
	)
	c := connect(t, "some-model", s.URL)
	r := ask("?")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "camera", Args: "{}"}, {ID: "b", Name: "look", Args: "{}"}}},
		llm.Message{Role: llm.Result, CallID: "a", Text: "Here.", Images: []llm.Image{{MediaType: "image/png", Data: []byte("png")}}},
		llm.Message{Role: llm.Result, CallID: "b", Text: "Nothing."},
	)
	for range 2 {
		if _, err := answerOf(t.Context(), c, r); err != nil {
			t.Fatal(err)
		}
	}
	const shown = `{"role":"tool","content":"Nothing.","tool_call_id":"b"},{"role":"user","content":[{"text":"The images of the message before, in order:","type":"text"},{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"}]}]`
	if got := string(body(t, s, 0)["messages"]); !strings.HasSuffix(got, shown) {
		t.Errorf("sent %s", got)
	}
	if got := string(body(t, s, 2)["messages"]); strings.Contains(got, "base64") || !strings.Contains(got, "You cannot see") {
		t.Errorf("sent a model that cannot see %s", got)
	}
}

func body(t *testing.T, s *llmtest.Server, n int) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(s.Requests()[n].Body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
