package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/audit"
)

// An auditFile collects lines.
type auditFile struct {
	mu   sync.Mutex
	text []byte
}

func (f *auditFile) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text = append(f.text, b...)
	return len(b), nil
}

// entries waits for a number of lines and returns them in short, sorted.
func (f *auditFile) entries(t *testing.T, n int) []string {
	t.Helper()
	var text []byte
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		f.mu.Lock()
		text = slices.Clone(f.text)
		f.mu.Unlock()
		if bytes.Count(text, []byte("\n")) >= n {
			break
		}
	}
	var list []string
	for line := range bytes.Lines(text) {
		var e audit.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Time.IsZero() || e.Transport != "stdio" && e.Address != "127.0.0.1" || (e.Token == "") != (e.Subject == "") {
			t.Errorf("incomplete: %s", line)
		}
		short := []string{fmt.Sprint(e.Who, " ", e.Subject, " ", e.Transport, " ", e.Action, " ", e.Tool, " ", e.Outcome, " ", e.Code, " ", e.Status, " ", e.Client)}
		for _, s := range e.Sessions {
			short = append(short, fmt.Sprint(s.ID, " ", s.Owner, " ", s.Changes))
		}
		list = append(list, strings.Join(strings.Fields(strings.Join(short, " ")), " "))
	}
	slices.Sort(list)
	return list
}

// serving runs a server until stop is called, and returns its URL without a path.
func serving(t *testing.T, cfg Config) (a *App, url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, done := make(chan string, 1), make(chan error, 1)
	cfg.HTTP.Addr, cfg.HTTP.Ready = "127.0.0.1:0", func(url string) { ready <- url }
	a, err := Open(ctx, cfg)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() { done <- a.ServeHTTP(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return a, strings.TrimSuffix(<-ready, "/mcp"), stop
}

// Every request that reads or changes data has a line, in both eras and over every transport,
// and so has each one that is refused. No line has a text of a client but names.
func TestAuditOverHTTP(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	var tokens []string
	for _, grant := range []token.Info{{Subject: "alice"}, {Subject: "bob", Scope: auth.Read}, {Subject: "eve"}} {
		secret, _, err := token.Add(file, grant)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, secret)
	}
	var log auditFile
	_, url, stop := serving(t, Config{
		Store: "memory", Dialect: "status", Audit: AuditConfig{Out: &log}, HTTP: HTTPConfig{Tokens: file, Burst: 2, Rate: 0.001},
	})
	send := func(method, path, secret, body string, want int, headers ...string) http.Header {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if text, _ := io.ReadAll(res.Body); res.StatusCode != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, res.StatusCode, text, want)
		}
		return res.Header
	}
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"}}`
	call := func(id, meta, member string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"sequential_thinking","arguments":{"session_id":"plan","thought":"CANARY","thought_number":1,"total_thoughts":1,"next_thought_needed":true` + member + `}` + meta + `}}`
	}
	modern := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "sequential_thinking"}
	alice, bob, eve := tokens[0], tokens[1], tokens[2]
	send("POST", "/mcp", alice, call("1", meta, ""), 200, modern...)
	send("POST", "/mcp", alice, call("2", meta, `,"CANARY":1`), 400, modern...)
	send("POST", "/mcp", alice, call("3", meta, ""), 429, modern...) // before its message is read
	id := send("POST", "/mcp", eve, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old\n{","version":"1"}}}`, 200).Get("Mcp-Session-Id")
	send("POST", "/mcp", eve, call("4", "", ""), 200, "Mcp-Session-Id", id)
	send("DELETE", "/mcp", eve, "", 204, "Mcp-Session-Id", id)
	send("POST", "/mcp", bob, call("5", meta, ""), 403, modern...)
	send("GET", "/api/v1/search?q=CANARY", bob, "", 200)
	send("GET", "/api/v1/session?id=plan", bob, "", 429)
	send("GET", "/api/v1/session?id=plan", "CANARY", "", 401)
	send("POST", "/mcp", "CANARY", "CANARY", 401)
	send("POST", "/mcp", alice, "CANARY", 403, "Origin", "https://CANARY.example")
	send("GET", "/api/v1/sessions", alice, "", 403, "Origin", "https://CANARY.example")
	send("GET", "/api/v1/", "", "", 200)
	send("GET", "/ui/", "", "", 200)
	send("GET", "/healthz", "", "", 200)
	send("GET", "/CANARY", alice, "", 404)
	want := []string{
		"token alice http tools/call sequential_thinking allowed 200 new plan alice true",
		"token alice http tools/call sequential_thinking refused -32602 400 new",
		"token alice http POST refused too_many_requests 429",
		`token eve http initialize allowed 200 old {`,
		`token eve http tools/call sequential_thinking allowed 200 old { plan eve true`,
		"token eve http DELETE allowed 204",
		"token bob http tools/call sequential_thinking refused insufficient_scope 403 new",
		"token bob http GET /api/v1/search allowed 200",
		"token bob http GET /api/v1/session refused too_many_requests 429",
		"unknown http GET /api/v1/session refused token_invalid 401",
		"unknown http POST refused invalid_token 401",
		"unknown http POST refused foreign_origin 403",
		"unknown http unknown refused foreign_origin 403",
	}
	slices.Sort(want)
	if got := log.entries(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	stop()
	for _, secret := range append(tokens, "CANARY") {
		if bytes.Contains(log.text, []byte(secret)) {
			t.Errorf("the log has %s", secret)
		}
	}
}

// Over a WebSocket each frame has a line, and over standard input each request of the local
// user.
func TestAuditOverConnections(t *testing.T) {
	t.Parallel()
	var log auditFile
	ctx := t.Context()
	_, url, stop := serving(t, Config{Store: "memory", Audit: AuditConfig{Out: &log}})
	c, _, err := websocket.Dial(ctx, url+"/ws?agent=frames", nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"CANARY","thoughtNumber":1,"nextThoughtNeeded":true,"sessionId":"nope"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"CANARY"}`,
		`CANARY`,
	}
	for _, line := range lines {
		if err := c.Write(ctx, websocket.MessageText, []byte(line)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Read(ctx); err != nil {
			t.Fatal(err)
		}
	}
	requests := func(who string) []string {
		return []string{
			who + " initialize allowed 0 c", who + " tools/call sequentialthinking refused SESSION_NOT_FOUND 0 c nope true",
			who + " tools/call refused -32602 0 c", who + " unknown refused -32601 0 c", who + " unknown refused -32700 0",
		}
	}
	want := append(requests("local websocket"), "local websocket websocket allowed 101")
	slices.Sort(want)
	if got := log.entries(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	_ = c.CloseNow()
	stop()

	var pipe auditFile
	a, err := Open(t.Context(), Config{Store: "memory", Audit: AuditConfig{Out: &pipe}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), io.Discard); err != nil {
		t.Fatal(err)
	}
	want = requests("local stdio")
	slices.Sort(want)
	if got := pipe.entries(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if text := string(log.text) + string(pipe.text); strings.Contains(text, "CANARY") {
		t.Errorf("the log has the canary:\n%s", text)
	}
}
