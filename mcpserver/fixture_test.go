package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// A notebook is a small dialect: its tools write notes down, or fail in each of
// the ways in which a tool can.
type notebook struct {
	mu      sync.Mutex
	notes   []string
	callers []tool.Caller
	begun   chan string   // the text of each call of wait, when it begins
	release chan struct{} // lets one call of wait go on
	ended   chan error    // how each call of wait ended
}

func newNotebook() *notebook {
	return &notebook{begun: make(chan string, 100), release: make(chan struct{}, 100), ended: make(chan error, 100)}
}

func (n *notebook) add(c tool.Call) (string, int) {
	var in struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(c.Args, &in); err != nil {
		return "", 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notes = append(n.notes, in.Text)
	n.callers = append(n.callers, c.Caller)
	return in.Text, len(n.notes)
}

func (n *notebook) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.notes)
}

const noteSchema = `{
  "type": "object",
  "properties": {"text": {"type": "string", "description": "a <b>note</b> & more"}},
  "required": ["text"],
  "additionalProperties": false
}`

func (n *notebook) tools() []tool.Tool {
	simple := func(name string, call func(context.Context, tool.Call) (tool.Reply, error)) tool.Tool {
		return tool.Tool{
			Spec: tool.Spec{Name: name, Description: "Test tool " + name + ".", InputSchema: json.RawMessage(noteSchema)},
			Call: call,
		}
	}
	note := simple("note", func(_ context.Context, c tool.Call) (tool.Reply, error) {
		text, count := n.add(c)
		return tool.JSONReply(struct {
			Zeta  int    `json:"zeta"` // the order is not the alphabet's
			Alpha string `json:"alpha"`
		}{count, text}), nil
	})
	note.Title = "Note"
	note.OutputSchema = json.RawMessage(`{"type":"object","properties":{"zeta":{"type":"integer"},"alpha":{"type":"string"}}}`)
	return []tool.Tool{
		note,
		simple("wait", func(ctx context.Context, c tool.Call) (tool.Reply, error) {
			text, _ := n.add(c)
			n.begun <- text
			select {
			case <-n.release:
				n.ended <- nil
				return tool.Reply{Text: "done " + text}, nil
			case <-ctx.Done():
				n.ended <- ctx.Err()
				return tool.Reply{}, ctx.Err()
			}
		}),
		simple("args", func(_ context.Context, c tool.Call) (tool.Reply, error) {
			return tool.Reply{Text: string(c.Args)}, nil
		}),
		simple("refuse", func(context.Context, tool.Call) (tool.Reply, error) {
			return tool.Refusal{Code: "NO", Message: "it cannot be", Fix: "do something else"}.Reply(), nil
		}),
		simple("outside", func(context.Context, tool.Call) (tool.Reply, error) {
			return tool.Reply{}, fmt.Errorf("wrapped: %w", &tool.ProtocolError{
				Code: -32602, Message: "Invalid params", Data: json.RawMessage("\"Missing\\nfield <x>\""),
			})
		}),
		simple("fault", func(context.Context, tool.Call) (tool.Reply, error) {
			return tool.Reply{}, errors.New("open /secret/path: no such file")
		}),
		simple("coded", func(context.Context, tool.Call) (tool.Reply, error) {
			return tool.Reply{}, &sequent.Error{Code: sequent.CodeBusy, Msg: "secret"}
		}),
		simple("panic", func(context.Context, tool.Call) (tool.Reply, error) {
			var s []int
			return tool.Reply{Text: fmt.Sprint(s[len(s)])}, nil
		}),
		simple("broken", func(context.Context, tool.Call) (tool.Reply, error) {
			return tool.Reply{Text: "x", JSON: json.RawMessage(`{"half":`)}, nil
		}),
	}
}

func (n *notebook) dialect() dialect.Dialect {
	read := func(_ context.Context, _ tool.Caller, value string) (string, error) {
		switch value {
		case "none":
			return "", fmt.Errorf("read: %w", sequent.ErrNotFound)
		case "long":
			return "", &sequent.Error{Code: sequent.CodeInvalidSession, Msg: "the id is too long", Fix: "use a shorter one"}
		case "fault":
			return "", errors.New("disk on fire")
		case "panic":
			panic("no more paper")
		}
		return "# Note <" + value + ">\n", nil
	}
	complete := func(_ context.Context, _ tool.Caller, prefix string) ([]string, error) {
		var out []string
		for i := range 150 {
			if v := fmt.Sprintf("n%d", i); strings.HasPrefix(v, prefix) {
				out = append(out, v)
			}
		}
		return out, nil
	}
	return dialect.Dialect{
		Name:         "notebook",
		Instructions: "Write notes & keep them.",
		Tools:        n.tools(),
		Resources: []dialect.Resource{
			{URI: "notes://zz", Name: "zz", MIME: "text/plain", Read: func(context.Context, tool.Caller) (string, error) {
				return strings.Join(n.all(), "\n") + "\n", nil
			}},
			{URI: "notes://about", Name: "about", Title: "About", Description: "What this is.", MIME: "text/markdown",
				Read: func(context.Context, tool.Caller) (string, error) { return "About.", nil }},
		},
		Templates: []dialect.Template{
			{URI: "notes://note/{id}", Name: "note", MIME: "text/markdown", Read: read, Complete: complete},
			{URI: "notes://note/{id}/json", Name: "note-json", MIME: "application/json", Read: func(_ context.Context, _ tool.Caller, v string) (string, error) {
				return `{"id":"` + v + `"}`, nil
			}},
			{URI: "files://{+path}", Name: "file", MIME: "text/markdown", Read: read, Complete: complete},
		},
		Prompts: []dialect.Prompt{
			{Name: "write", Description: "Write about something.", Arguments: []dialect.Argument{
				{Name: "topic", Required: true}, {Name: "note", Complete: complete},
			}, Get: func(_ context.Context, _ tool.Caller, args map[string]string) (string, error) {
				if args["note"] == "none" {
					return "", &sequent.Error{Code: sequent.CodeSessionNotFound, Msg: "there is no such note", Fix: "leave it out"}
				}
				return fmt.Sprintf("Write about %s (%d arguments).", args["topic"], len(args)), nil
			}},
			{Name: "again", Get: func(context.Context, tool.Caller, map[string]string) (string, error) { return "Again.", nil }},
		},
	}
}

// testServer returns a server of a new notebook, and what it logs.
func testServer(t testing.TB) (*Server, *notebook, *syncBuffer) {
	t.Helper()
	n, log := newNotebook(), new(syncBuffer)
	return New(Config{
		Dialect: n.dialect(),
		Version: "v1.2.3",
		Logger:  slog.New(slog.NewJSONHandler(log, nil)),
		Caller:  tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true}},
	}), n, log
}

// converse gives the server some input to its end and returns the output.
func converse(t testing.TB, s *Server, input string) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(context.Background(), strings.NewReader(input), &out); err != nil {
		t.Errorf("ServeStdio = %v, want nil; input %.200q", err, input)
	}
	return out.String()
}

// A syncBuffer is a bytes.Buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A peer is a client that has a server on pipes and takes its time.
type peer struct {
	t      testing.TB
	in     *io.PipeWriter
	out    *io.PipeReader
	lines  chan string // what the server wrote
	done   chan error  // how ServeStdio ended
	cancel context.CancelFunc
}

// dial serves a peer. Reading begins with the first call of line.
func dial(t testing.TB, s *Server) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{t: t, in: inW, out: outR, done: make(chan error, 1), cancel: cancel}
	go func() { p.done <- s.ServeStdio(ctx, inR, outW) }()
	t.Cleanup(func() { // what the test did not end itself
		cancel()
		_ = inW.Close()
		_ = outR.Close()
	})
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatalf("send %q: %v", lines, err)
	}
}

func (p *peer) line() string {
	p.t.Helper()
	if p.lines == nil {
		p.lines = make(chan string)
		go func() {
			defer close(p.lines)
			dec := json.NewDecoder(p.out)
			for {
				var m json.RawMessage
				if dec.Decode(&m) != nil {
					return
				}
				p.lines <- string(m)
			}
		}()
	}
	l, ok := <-p.lines
	if !ok {
		p.t.Fatal("the server wrote nothing more")
	}
	return l
}

// want checks the next line that the server writes.
func (p *peer) want(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Fatalf("server wrote\n%s\nwant\n%s", got, want)
	}
}

const (
	hello  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	opened = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// call returns a request that calls a tool.
func call(id any, name, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q}}}`, id, name, text)
}

// said returns the reply to a call with a plain text.
func said(id any, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

// open makes the handshake.
func (p *peer) open() {
	p.t.Helper()
	p.send(hello, opened)
	p.line()
}
