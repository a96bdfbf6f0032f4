package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// An authTable is an Authenticator of a few tokens.
type authTable map[string]string

func (a authTable) Identify(_ context.Context, token string) (auth.Identity, error) {
	switch {
	case token == "broken":
		return auth.Identity{}, errors.New("the list is at /secret/path")
	case a[token] == "":
		return auth.Identity{}, auth.ErrUnknown
	}
	who := auth.Identity{Subject: a[token], Scope: auth.Write}
	if strings.HasPrefix(token, "read-") {
		who.Scope = auth.Read
	}
	return who, nil
}

var testAuth = authTable{"token-a": "alice", "token-a2": "alice", "token-b": "bob", "read-a": "alice"}

// callerDialect answers every request with its caller.
func callerDialect() dialect.Dialect {
	say := func(c tool.Caller) string {
		scope := c.Scope.Name
		if strings.HasPrefix(scope, "~session ") {
			scope = "~session"
		}
		return fmt.Sprintf("owner %q scope %q", c.Owner, scope)
	}
	return dialect.Dialect{
		Name: "caller",
		Tools: []tool.Tool{{
			Spec: tool.Spec{Name: "caller", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Call: func(_ context.Context, c tool.Call) (tool.Reply, error) { return tool.Reply{Text: say(c.Caller)}, nil },
		}},
		Resources: []dialect.Resource{{URI: "caller://me", Name: "me", MIME: "text/plain",
			Read: func(_ context.Context, c tool.Caller) (string, error) { return say(c), nil }}},
		Templates: []dialect.Template{{URI: "caller://{id}", Name: "it", MIME: "text/plain",
			Read: func(_ context.Context, c tool.Caller, v string) (string, error) { return v + ": " + say(c), nil },
			Complete: func(_ context.Context, c tool.Caller, _ string) ([]string, error) {
				return []string{say(c)}, nil
			}}},
		Prompts: []dialect.Prompt{{Name: "me",
			Get: func(_ context.Context, c tool.Caller, _ map[string]string) (string, error) { return say(c), nil }}},
	}
}

// A site is an HTTP on a loopback address.
type site struct {
	t      testing.TB
	http   *HTTP
	note   *notebook
	log    *syncBuffer
	dialer func(ctx context.Context, network, addr string) (net.Conn, error) // nil for the network
	addr   string
	url    string             // of the default endpoint: a notebook
	stop   context.CancelFunc // ends Serve
	done   chan error         // how that ended
}

// serveHTTP serves a notebook at /mcp and callerDialect at /mcp/caller.
func serveHTTP(t testing.TB, cfg HTTPConfig) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, cfg, l)
}

// A pipes is a listener without a network, for tests that play with time.
type pipes struct {
	net.Listener // nil
	conns        chan net.Conn
	closed       chan struct{}
}

// Accept implements [net.Listener].
func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p pipes) Close() error { close(p.closed); return nil }

// Addr implements [net.Listener].
func (pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// A localPipe is a connection to a loopback address.
type localPipe struct{ net.Conn }

// LocalAddr implements [net.Conn].
func (localPipe) LocalAddr() net.Addr { return pipes{}.Addr() }

// serveInside is serveHTTP without a network. Its clients must be in the same bubble of time.
func serveInside(t testing.TB, cfg HTTPConfig) *site {
	t.Helper()
	l := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	w := serveOn(t, cfg, l)
	w.dialer = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case l.conns <- localPipe{there}:
			return here, nil
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	return w
}

func serveOn(t testing.TB, cfg HTTPConfig, l net.Listener) *site {
	t.Helper()
	s, n, log := testServer(t)
	cfg.Servers = append([]*Server{s, New(Config{Dialect: callerDialect()})}, cfg.Servers...)
	cfg.Logger = slog.New(slog.NewJSONHandler(log, nil))
	h, err := NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &site{t: t, http: h, note: n, log: log, addr: l.Addr().String(), url: "http://" + l.Addr().String() + "/mcp", stop: stop, done: make(chan error, 1)}
	go func() { w.done <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		close(n.Release) // for calls that a failed test has left behind
		if t.Failed() {
			t.Logf("the server logged:\n%s", log)
		}
	})
	return w
}

// ended waits for Serve to end.
func (w *site) ended() {
	w.t.Helper()
	if err := await(w.t, "serving ends", w.done); err != nil {
		w.t.Errorf("Serve = %v, want nil", err)
	}
}

// end ends the server.
func (w *site) end() {
	w.t.Helper()
	w.stop()
	w.ended()
}

// An answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends one request. The text is its method and path, header lines, an empty
// line, and a body. What clients send by default is added; a header line without
// a value takes it away.
func (w *site) ask(text string) answer {
	w.t.Helper()
	res := w.open(text)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s: read: %v", text, err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

// open sends one request, and leaves its body to the caller.
func (w *site) open(text string) *http.Response {
	w.t.Helper()
	req := w.request(text)
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: w.dialer, DisableKeepAlives: true, DisableCompression: true,
	}}
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatalf("%.200s: %v", text, err)
	}
	return res
}

func (w *site) request(text string) *http.Request {
	head, body, _ := strings.Cut(text, "\n\n")
	first, headers, _ := strings.Cut(head, "\n")
	method, path, _ := strings.Cut(first, " ")
	req, err := http.NewRequest(method, "http://"+w.addr+path, strings.NewReader(strings.TrimSuffix(body, "\n")))
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for line := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); {
		case value == "":
			req.Header.Del(name)
		case strings.EqualFold(name, "Host"):
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
	}
	return req
}

// handshake opens a session and returns its id.
func (w *site) handshake(path string, headers ...string) string {
	w.t.Helper()
	a := w.ask("POST " + path + "\n" + strings.Join(headers, "\n") + "\n\n" + helloLine)
	id := a.header.Get(headerSession)
	if a.status != http.StatusOK || id == "" {
		w.t.Fatalf("initialize: %d %s, session %q; want 200 and one", a.status, a.body, id)
	}
	return id
}

// modernCall returns a request of 2026-07-28 that calls a tool.
func modernCall(path, name, text string, headers ...string) string {
	return modernPost(path, methodCall, name, fmt.Sprintf(`"name":%q,"arguments":{"text":%q}`, name, text), headers...)
}

func modernPost(path, method, name, params string, headers ...string) string {
	if params != "" {
		params += ","
	}
	lines := append([]string{"POST " + path, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: " + method, "Mcp-Name: " + name}, headers...)
	return strings.Join(lines, "\n") + fmt.Sprintf("\n\n"+`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, modernMeta)
}

// want checks an answer's status, and that its body has some texts.
func (w *site) want(text string, status int, parts ...string) answer {
	w.t.Helper()
	a := w.ask(text)
	if a.status != status || slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(a.body, p) }) {
		w.t.Errorf("%d %s\nwant %d and %q in it, for\n%.500s", a.status, a.body, status, parts, text)
	}
	return a
}

// events reads events of a stream; comments are skipped.
func events(r io.Reader) func() (string, error) {
	in := bufio.NewReader(r)
	return func() (string, error) {
		var data bytes.Buffer
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return data.String(), err
			}
			switch {
			case strings.HasPrefix(line, "data: "):
				data.WriteString(strings.TrimSuffix(strings.TrimPrefix(line, "data: "), "\n"))
			case line == "\n" && data.Len() > 0:
				return data.String(), nil
			}
		}
	}
}
