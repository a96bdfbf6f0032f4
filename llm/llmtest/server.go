package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/llm"
)

// A Server answers the n-th Chat Completions request with the n-th reply of its
// script.
type Server struct {
	URL string // base URL of the service
	// Answer, if not nil, returns the replies instead of the script; n counts requests from 1.
	Answer func(n int, r Request) Reply

	mu       sync.Mutex
	script   []Reply
	requests []Request
}

// A Request is a request as the server received it.
type Request struct {
	Path          string
	Authorization string // value of the header
	Body          json.RawMessage
	Model         string
	Stream        bool
	Messages      []struct {
		Role       string
		Content    string
		ToolCallID string `json:"tool_call_id"`
	}
	Tools []struct{ Function struct{ Name string } }
}

// A Reply is one response of a Server: a turn by default, or a failure or raw body.
type Reply struct {
	Turn
	Status int         // HTTP status of a failure; 0 means success
	Header http.Header // additional headers
	Body   string      // raw body, sent instead of the turn or of the default error
	// Cut closes the connection halfway through the response.
	Cut bool
	// Stall stops a streamed response halfway, until the client closes the connection.
	Stall bool
	// ReasoningIn selects where the reasoning is sent: "reasoning_content" (the
	// default), "reasoning", or "think" for tags inside the text.
	ReasoningIn string
	// Hold, if not nil, is called before the response is sent, and may block. The
	// context of r is done when the client closes the connection.
	Hold func(r *http.Request)
}

// Serve starts a server with a script and closes it when the test ends. It
// answers a request beyond the script with status 404.
func Serve(t testing.TB, script ...Reply) *Server { return serve(t, &Server{script: script}) }

// ServeFunc starts a server that calls answer for each request; n counts requests
// from 1. It closes the server when the test ends.
func ServeFunc(t testing.TB, answer func(n int, r Request) Reply) *Server {
	return serve(t, &Server{Answer: answer})
}

func serve(t testing.TB, s *Server) *Server {
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s.URL = web.URL + "/v1"
	return s
}

// Requests returns all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")}
	req.Body, _ = io.ReadAll(r.Body)
	_ = json.Unmarshal(req.Body, &req) // the test sees the raw body
	s.mu.Lock()
	s.requests = append(s.requests, req)
	n := len(s.requests)
	reply := Reply{Status: http.StatusNotFound, Body: fmt.Sprintf(`{"error":{"message":"the script has %d replies, and this is request %d"}}`, len(s.script), n)}
	if n <= len(s.script) {
		reply = s.script[n-1]
	}
	s.mu.Unlock()
	if s.Answer != nil {
		reply = s.Answer(n, req)
	}
	if reply.Hold != nil {
		reply.Hold(r)
	}
	maps.Copy(w.Header(), reply.Header)
	turn := reply.response(n)
	switch {
	case reply.Status != 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		if reply.Body == "" {
			reply.Body = fmt.Sprintf(`{"error":{"message":"status %d","type":"scripted"}}`, reply.Status)
		}
		io.WriteString(w, reply.Body)
	case reply.Body != "":
		if reply.Body[0] == '{' {
			w.Header().Set("Content-Type", "application/json")
		}
		io.WriteString(w, reply.Body)
	default:
		stream(w, r, reply, chunks(reply, turn, req.Model))
	}
}

func stream(w http.ResponseWriter, r *http.Request, reply Reply, chunks []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, ": clients must ignore comments\n\n")
	for i, c := range chunks {
		if reply.Cut && i >= len(chunks)/2 {
			panic(http.ErrAbortHandler)
		}
		if reply.Stall && i == len(chunks)/2 {
			<-r.Context().Done()
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", c)
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

type object = map[string]any

// chunks returns an answer as the data of events of a few runes. The arguments of parallel calls are
// interleaved.
func chunks(reply Reply, res llm.Response, model string) (list []string) {
	add := func(member string, value any) {
		list = append(list, mustJSON(object{"id": "scripted", "model": model, "choices": []any{object{"index": 0, "delta": object{member: value}}}}))
	}
	add("role", "assistant")
	reasoning, text := res.Message.Reasoning, res.Message.Text
	if reply.ReasoningIn == "think" && reasoning != "" {
		reasoning, text = "", "<think>\n"+reasoning+"\n</think>\n\n"+text
	}
	for _, p := range pieces(reasoning) {
		add(cmp.Or(reply.ReasoningIn, "reasoning_content"), p)
	}
	for _, p := range pieces(text) {
		add("content", p)
	}
	var rest [][]string
	for i, c := range res.Message.Calls {
		rest = append(rest, pieces(c.Args))
		add("tool_calls", []any{object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}})
	}
	for n, more := 0, true; more; n++ {
		more = false
		for i, r := range rest {
			if n < len(r) {
				more = true
				add("tool_calls", []any{object{"index": i, "function": object{"arguments": r[n]}}})
			}
		}
	}
	reason := map[llm.Stop]string{llm.StopEnd: "stop", llm.StopCalls: "tool_calls", llm.StopLength: "length"}[res.Stop]
	u := res.Usage
	return append(list, mustJSON(object{"choices": []any{object{"delta": object{}, "finish_reason": reason}}}), mustJSON(object{
		"model": model, "choices": []any{}, "usage": object{
			"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Total(),
			"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
		},
	}))
}

// pieces splits a text into pieces of at most size runes.
func pieces(s string) (list []string) {
	const size = 5
	for chunk := range slices.Chunk([]rune(s), size) {
		list = append(list, string(chunk))
	}
	return list
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of this file always marshal
	}
	return string(b)
}
