package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/tool"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// testServer returns a server of a new notebook, and what it logs.
func testServer(t testing.TB) (*Server, *notebook, *syncBuffer) {
	t.Helper()
	n, log := newNotebook(), new(syncBuffer)
	return New(Config{
		Dialect: n.Dialect(),
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

// A peer is a client with a server on pipes, which reads and writes slowly.
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
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n")
		wrote <- err
	}()
	if err := await(p.t, "the server reads", wrote); err != nil {
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
	l := await(p.t, "a line of the server", p.lines)
	if l == "" {
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

// open makes the handshake.
func (p *peer) open() {
	p.t.Helper()
	p.send(helloLine, openedLine)
	p.line()
}

// ended waits until the server has answered everything.
func (p *peer) ended() {
	p.t.Helper()
	if err := await(p.t, "serving ends", p.done); err != nil {
		p.t.Errorf("ServeStdio = %v, want nil", err)
	}
}

// begin sends a call of wait and returns when it has begun.
func (p *peer) begin(n *notebook, more ...string) {
	p.t.Helper()
	p.open()
	p.send(append([]string{callLine(1, "wait", "a")}, more...)...)
	await(p.t, "a call begins", n.Begun)
}
