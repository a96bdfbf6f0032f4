package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// A notebook is a small dialect. Its tools record notes, or fail in each way in which a
// tool can fail.
type notebook struct {
	mu      sync.Mutex
	notes   []string
	callers []tool.Caller // of each note
	Begun   chan string   // the text of each call of wait, when it begins
	Release chan struct{} // releases one call of wait
	Ended   chan error    // error of each call of wait
}

// newNotebook returns an empty notebook.
func newNotebook() *notebook {
	return &notebook{Begun: make(chan string, 100), Release: make(chan struct{}, 100), Ended: make(chan error, 100)}
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

// All returns the notes in their order.
func (n *notebook) All() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.notes)
}

// noteSchema is the input schema of each tool.
const noteSchema = `{
  "type": "object",
  "properties": {"text": {"type": "string", "description": "a <b>note</b> & more"}},
  "required": ["text"],
  "additionalProperties": false
}`

// Tools returns the tools.
func (n *notebook) Tools() []tool.Tool {
	simple := func(name string, call func(context.Context, tool.Call) (tool.Reply, error)) tool.Tool {
		return tool.Tool{
			Spec: tool.Spec{Name: name, Description: "Test tool " + name + ".", InputSchema: json.RawMessage(noteSchema)},
			Call: call,
		}
	}
	note := simple("note", func(_ context.Context, c tool.Call) (tool.Reply, error) {
		text, count := n.add(c)
		return tool.JSONReply(struct {
			Zeta  int    `json:"zeta"` // not in alphabetical order
			Alpha string `json:"alpha"`
		}{count, text}), nil
	})
	note.Title = "Note"
	note.OutputSchema = json.RawMessage(`{"type":"object","properties":{"zeta":{"type":"integer"},"alpha":{"type":"string"}}}`)
	return []tool.Tool{
		note,
		simple("wait", func(ctx context.Context, c tool.Call) (tool.Reply, error) {
			text, _ := n.add(c)
			n.Begun <- text
			select {
			case <-n.Release:
				n.Ended <- nil
				return tool.Reply{Text: "done " + text}, nil
			case <-ctx.Done():
				n.Ended <- ctx.Err()
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

// Dialect returns the dialect.
func (n *notebook) Dialect() dialect.Dialect {
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
		Tools:        n.Tools(),
		Resources: []dialect.Resource{
			{URI: "notes://zz", Name: "zz", MIME: "text/plain", Read: func(context.Context, tool.Caller) (string, error) {
				return strings.Join(n.All(), "\n") + "\n", nil
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

// A syncBuffer is a bytes.Buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns the content.
func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// The handshake: a request, and the notification after it.
const (
	helloLine  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	openedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// callLine returns a request that calls a tool.
func callLine(id any, name, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q}}}`, id, name, text)
}

// saidLine returns the reply to a call with a plain text.
func saidLine(id any, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

// modernMeta is the _meta of a request of 2026-07-28.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// callWith returns a request that calls a tool, from the raw parts of its params.
func callWith(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + params + `}}`
}

// waitLimit limits how long a test waits for an event that should happen at once, on a
// busy machine.
const waitLimit = time.Minute

// await receives from a channel. It fails the test after waitLimit.
func await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(waitLimit)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatalf("waited for %v: %s", waitLimit, what)
		panic("unreachable")
	}
}

// FirstCaller returns the caller of the first note.
func (n *notebook) FirstCaller() tool.Caller {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.callers[0]
}
