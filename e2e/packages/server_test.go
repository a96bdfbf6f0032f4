package packages

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// A server is a running process that speaks MCP on standard input and output.
type server struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	cancel func()

	mu  sync.Mutex
	err bytes.Buffer
}

// startServer starts a server in a home directory. It is killed after five minutes and at the
// end of the test.
func startServer(t *testing.T, h *home, name string, args ...string) *server {
	t.Helper()
	// WithoutCancel, because t.Context is done before cleanup functions run.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	t.Cleanup(cancel)
	p := &server{cancel: cancel, cmd: exec.CommandContext(ctx, h.look(name), args...)}
	p.cmd.Dir, p.cmd.Env = h.dir, h.env
	p.cmd.Stderr = writer(func(b []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err.Write(b)
	})
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	return p
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// errors returns what the server has written to standard error.
func (p *server) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.String()
}

// ask sends a request and returns the result in its reply.
func (p *server) ask(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		t.Fatalf("%v\n%s", err, p.errors())
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: no answer: %v\n%s", method, err, p.errors())
	}
	var reply struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &reply); err != nil || reply.Result == nil {
		t.Fatalf("%s: the reply is %s, %v", method, line, err)
	}
	return reply.Result
}

// handshake initializes the connection and checks that the released version answers.
func (p *server) handshake(t *testing.T) {
	t.Helper()
	p.initialize(t, version)
}

// initialize initializes the connection and checks who answers.
func (p *server) initialize(t *testing.T, version string) {
	t.Helper()
	got := p.ask(t, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "packages", "version": "1"},
	})
	var reply struct {
		ServerInfo struct{ Name, Version string }
	}
	if err := json.Unmarshal(got, &reply); err != nil || reply.ServerInfo.Name != "sequent" || reply.ServerInfo.Version != version {
		t.Fatalf("the server introduces itself as %s, %v; want sequent %s", got, err, version)
	}
	if _, err := io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
}

// think records a thought, in a session unless that is empty, and returns the session.
func (p *server) think(t *testing.T, session, thought string) string {
	t.Helper()
	args := map[string]any{"thought": thought, "nextThoughtNeeded": true}
	if session != "" {
		args["sessionId"] = session
	}
	got := p.ask(t, "tools/call", map[string]any{"name": "sequentialthinking", "arguments": args})
	var reply struct {
		IsError           bool
		StructuredContent struct{ SessionID string }
	}
	err := json.Unmarshal(got, &reply)
	session = cmp.Or(session, reply.StructuredContent.SessionID)
	if err != nil || reply.IsError || session == "" {
		t.Fatalf("the thought was answered with %s, %v", got, err)
	}
	return session
}

// recall returns what the server says about a session.
func (p *server) recall(t *testing.T, session string) string {
	t.Helper()
	return string(p.ask(t, "tools/call", map[string]any{"name": "recall_thinking", "arguments": map[string]any{"sessionId": session}}))
}

// close ends the input and checks that the server exits with code 0.
func (p *server) close(t *testing.T) {
	t.Helper()
	if err := p.in.Close(); err != nil {
		t.Error(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("after the end of its input %s exits with %d\n%s", p.cmd.Path, code, p.errors())
	}
}

// wait returns the exit code.
func (p *server) wait(t *testing.T) int {
	t.Helper()
	defer p.cancel()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p *server) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

// converse starts a server, records a thought, reads it back and ends it.
func converse(t *testing.T, h *home, name string, args ...string) {
	t.Helper()
	p := startServer(t, h, name, args...)
	p.handshake(t)
	session := p.think(t, "", "Orders fail at noon, when reports run.")
	p.think(t, session, "Reports hold the pool for a minute.")
	if got := p.recall(t, session); !strings.Contains(got, "Orders fail at noon") || !strings.Contains(got, "Reports hold the pool") {
		t.Errorf("recall answers %s", got)
	}
	p.close(t)
}
