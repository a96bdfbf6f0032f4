package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
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
	case req.Stream:
		stream(w, r, reply, newChunks(reply, turn, req.Model))
	default:
		body := mustJSON(whole(reply, turn, req.Model))
		if reply.Cut {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}
}

func stream(w http.ResponseWriter, r *http.Request, reply Reply, chunks []completion) {
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
		fmt.Fprintf(w, "data: %s\n\n", mustJSON(c))
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

// A completion is the protocol's form of an answer, or of a chunk of one.
type completion struct {
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int      `json:"index"`
	Message      *message `json:"message,omitempty"`
	Delta        *message `json:"delta,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

type message struct {
	Role             string     `json:"role,omitempty"`
	Content          string     `json:"content"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ToolCalls        []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func newUsage(t Turn) *usage {
	u := &usage{Prompt: t.Usage.Input, Completion: t.Usage.Output, Total: t.Usage.Total()}
	u.Details.Reasoning = t.Usage.Reasoning
	return u
}

func finish(s llm.Stop) *string {
	reason := "stop"
	switch s {
	case llm.StopCalls:
		reason = "tool_calls"
	case llm.StopLength:
		reason = "length"
	}
	return &reason
}

func whole(reply Reply, res llm.Response, model string) completion {
	m := &message{Role: "assistant", Content: res.Message.Text}
	m.reason(reply, res.Message.Reasoning)
	for i, c := range res.Message.Calls {
		call := toolCall{Index: i, ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.Args
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return completion{
		ID: "scripted", Model: model, Usage: newUsage(Turn{Usage: res.Usage}),
		Choices: []choice{{Message: m, FinishReason: finish(res.Stop)}},
	}
}

func (m *message) reason(reply Reply, text string) {
	switch {
	case text == "":
	case reply.ReasoningIn == "think":
		m.Content = "<think>\n" + text + "\n</think>\n\n" + m.Content
	case reply.ReasoningIn == "reasoning":
		m.Reasoning = text
	default:
		m.ReasoningContent = text
	}
}

// newChunks splits an answer into chunks of a few runes. The arguments of parallel
// calls are interleaved.
func newChunks(reply Reply, res llm.Response, model string) []completion {
	all := whole(reply, res, model)
	m, reason := all.Choices[0].Message, all.Choices[0].FinishReason
	var chunks []completion
	add := func(d message, reason *string) {
		chunks = append(chunks, completion{ID: "scripted", Model: model, Choices: []choice{{Delta: &d, FinishReason: reason}}})
	}
	add(message{Role: "assistant"}, nil)
	for _, p := range pieces(m.ReasoningContent) {
		add(message{ReasoningContent: p}, nil)
	}
	for _, p := range pieces(m.Reasoning) {
		add(message{Reasoning: p}, nil)
	}
	for _, p := range pieces(m.Content) {
		add(message{Content: p}, nil)
	}
	rest := make([][]string, len(m.ToolCalls))
	longest := 0
	for i, c := range m.ToolCalls {
		rest[i] = pieces(c.Function.Arguments)
		longest = max(longest, len(rest[i]))
		c.Function.Arguments = ""
		add(message{ToolCalls: []toolCall{c}}, nil)
	}
	for n := range longest {
		for i, r := range rest {
			if n < len(r) {
				c := toolCall{Index: i}
				c.Function.Arguments = r[n]
				add(message{ToolCalls: []toolCall{c}}, nil)
			}
		}
	}
	add(message{}, reason)
	return append(chunks, completion{ID: "scripted", Model: model, Choices: []choice{}, Usage: all.Usage})
}

// pieces splits a text into pieces of at most size runes.
func pieces(s string) []string {
	const size = 5
	var list []string
	for r := []rune(s); len(r) > 0; r = r[min(size, len(r)):] {
		list = append(list, string(r[:min(size, len(r))]))
	}
	return list
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the types of this file always marshal
	}
	return b
}
