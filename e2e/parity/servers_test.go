package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// processTimeout is generous, for busy machines.
const processTimeout = 5 * time.Minute

// A server answers a sequence of calls, beginning with an empty history. A call is
// the arguments of sequentialthinking.
type server func(t testing.TB, calls []string) []answer

// An answer is the reply to a call.
type answer struct {
	Failed bool   // isError or a protocol error
	Text   string // text of the reply or the error
	Fields fields
	// Structured means that the fields are in the structured content as well.
	Structured bool
}

// fields are the compared fields of a reply.
type fields struct {
	Number   *int      `json:"thoughtNumber"`
	Total    *int      `json:"totalThoughts"`
	Next     *bool     `json:"nextThoughtNeeded"`
	Branches *[]string `json:"branches"`
	Length   *int      `json:"thoughtHistoryLength"`
}

func (f fields) String() string {
	b, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"parity","version":"1"}}}`

// lines returns the messages that a client sends for calls.
func lines(calls []string) []string {
	list := []string{handshake, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
	for i, args := range calls {
		list = append(list, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sequentialthinking","arguments":%s}}`, i+1, args))
	}
	return list
}

// answers converts a server's replies: one to the handshake and one to each call.
func answers(t testing.TB, calls, replies []string) []answer {
	t.Helper()
	if len(replies) != len(calls)+1 {
		t.Fatalf("%d replies to %d calls: %q", len(replies), len(calls), replies)
	}
	list := make([]answer, len(calls))
	for i, line := range replies[1:] {
		var r struct {
			ID     int
			Result struct {
				IsError           bool
				StructuredContent json.RawMessage
				Content           []struct{ Text string }
			}
			Error *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID != i+1 {
			t.Fatalf("call %d, %s: got %s (%v)", i+1, calls[i], line, err)
		}
		switch {
		case r.Error != nil:
			list[i] = answer{Failed: true, Text: r.Error.Message}
		case len(r.Result.Content) != 1:
			t.Fatalf("call %s: got %s", calls[i], line)
		case r.Result.IsError:
			list[i] = answer{Failed: true, Text: r.Result.Content[0].Text}
		default:
			list[i].Text = r.Result.Content[0].Text
			err := json.Unmarshal([]byte(list[i].Text), &list[i].Fields)
			if list[i].Structured = r.Result.StructuredContent != nil; list[i].Structured && err == nil {
				var structured fields
				err = json.Unmarshal(r.Result.StructuredContent, &structured)
				if structured.String() != list[i].Fields.String() {
					t.Fatalf("call %s: text and structured content differ: %s", calls[i], line)
				}
			}
			if err != nil {
				t.Fatalf("call %s: got %s (%v)", calls[i], line, err)
			}
		}
	}
	return list
}

// inProcess runs the dialect classic with the stdio transport in this process.
func inProcess(t testing.TB, calls []string) []answer {
	t.Helper()
	return serve(t, classic.New(classic.Config{Engine: sequent.New(sequent.Config{}), Archive: archive.Dir(t.TempDir())}), calls)
}

// serve answers calls in this process.
func serve(t testing.TB, d dialect.Dialect, calls []string) []answer {
	t.Helper()
	s := mcpserver.New(mcpserver.Config{Dialect: d, Caller: tool.Caller{Scope: tool.Scope{Name: "stdio", Exclusive: true}}})
	var out bytes.Buffer
	in := strings.NewReader(strings.Join(lines(calls), "\n") + "\n")
	if err := s.ServeStdio(t.Context(), in, &out); err != nil {
		t.Fatalf("calls %q: %v", calls, err)
	}
	return answers(t, calls, strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"))
}

// entry returns the paths of Node.js and of the reference server's program.
func entry(t testing.TB) (node, file string) {
	t.Helper()
	const get = "install Node.js 20 or newer and run: npm ci --prefix e2e"
	node = needtest.Program(t, "node", get)
	file, err := filepath.Abs(filepath.Join("..", "node_modules", "@modelcontextprotocol", "server-sequential-thinking", "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		needtest.Missing(t, "the reference server is not installed", get)
	}
	return node, file
}

// processes returns a server that starts a new process for each sequence.
func processes(name string, args ...string) server {
	return func(t testing.TB, calls []string) []answer {
		t.Helper()
		p := programtest.Start(t, processTimeout, name, args...)
		defer p.Close(t)
		var replies []string
		for _, line := range lines(calls) {
			if strings.Contains(line, `"method":"notifications/`) {
				p.Send(t, line)
			} else {
				replies = append(replies, p.Ask(t, line))
			}
		}
		return answers(t, calls, replies)
	}
}

// reference returns the reference server, which driver.mjs restarts for each
// sequence inside one process. The process is closed at the end of the test.
func reference(t testing.TB) server {
	t.Helper()
	node, file := entry(t)
	p := programtest.Start(t, processTimeout, node, "driver.mjs", file)
	t.Cleanup(func() { p.Close(t) })
	return func(t testing.TB, calls []string) []answer {
		t.Helper()
		request, err := json.Marshal(lines(calls))
		if err != nil {
			t.Fatal(err)
		}
		var replies []string
		if err := json.Unmarshal([]byte(p.Ask(t, string(request))), &replies); err != nil {
			t.Fatal(err)
		}
		return answers(t, calls, replies)
	}
}
