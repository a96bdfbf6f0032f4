package telemetry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// canary is in everything that a client can send, and in nothing that is exported.
const canary = "CANARY 7f3a my secret thought"

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// modernMeta is the _meta of a request of the modern era.
const modernMeta = `"_meta":{"traceparent":"` + traceparent + `","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"` + canary + `","version":"1"}}`

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + canary + `","version":"1"}}}`

// A request is one of the requests that are sent over each transport in each era.
type request struct{ id, method, name, params string }

// requests has calls that succeed and fail in different ways.
func requests() []request {
	return []request{
		{"1", "tools/call", "sequentialthinking", `"name":"sequentialthinking","arguments":{"thought":"` + canary + `","nextThoughtNeeded":true}`},
		{"2", "tools/call", "recall_thinking", `"name":"recall_thinking","arguments":{"query":"` + canary + `"}`},
		{`"` + canary + `"`, "tools/call", "sequentialthinking", `"name":"sequentialthinking","arguments":{"thought":"` + canary + `","nextThoughtNeeded":true,"sessionId":"` + canary + `"}`},
		{"4", "tools/call", canary, `"name":"` + canary + `","arguments":{"thought":"` + canary + `"}`},
		{"5", canary, "", `"thought":"` + canary + `"`},
		{"6", "resources/read", "sequent://sessions/" + canary, `"uri":"sequent://sessions/` + canary + `"`},
		{"7", "prompts/get", "think", `"name":"think","arguments":{"problem":"` + canary + `"}`},
	}
}

// line returns the request as a message of an era.
func (r request) line(modern bool) string {
	params := r.params
	if modern {
		params += "," + modernMeta
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, r.id, r.method, params)
}

// Both eras and all transports are seen by a real collector, and nothing of it has a text of a
// client.
func TestCollector(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the collector is ended by a signal")
	}
	to := newSink(t)
	url, stop := startCollector(t, to)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "500")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	program := programtest.Build(t)
	var replies bytes.Buffer
	logs, tokenID := overHTTP(t, program, &replies)
	logs += overPipe(t, program, &replies)
	stop()

	want := map[string]int{
		"pipe 2025-11-25": 2, "pipe 2026-07-28": 2, "tcp http 2025-11-25": 2, "tcp http 2026-07-28": 2,
		"tcp websocket 2025-11-25": 2, "tcp websocket 2026-07-28": 2,
	}
	if got := to.countBy("tools/call sequentialthinking"); !maps.Equal(got, want) {
		t.Errorf("spans of calls: %v, want %v", got, want)
	}
	for _, name := range []string{"tools/call recall_thinking", "tools/call", "_OTHER", "resources/read", "prompts/get think"} {
		if got := to.countBy(name); len(got) != len(want) {
			t.Errorf("spans %s: %v, want one for each transport and era", name, got)
		}
	}
	for _, name := range []string{"initialize", "commit", "load", "search"} {
		if len(to.countBy(name)) == 0 {
			t.Errorf("no span %s", name)
		}
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	for _, name := range []string{"mcp.server.operation.duration", "db.client.operation.duration", "sequent.cache.size", "sequent.limit.used", "sequent.store.size", "go.memory.used"} {
		if !slices.Contains(to.metrics, name) {
			t.Errorf("no metric %s", name)
		}
	}
	for _, text := range []string{"service.name", "sequent", "deployment.environment.name"} {
		if !bytes.Contains(to.raw.Bytes(), []byte(text)) {
			t.Errorf("what is exported does not name %q", text)
		}
	}
	secrets := []string{"CANARY", "secret thought", "owner-of-canaries", "sequent_", tokenID} // sequent_ begins a token
	ids := recorded.FindAllStringSubmatch(replies.String(), -1)
	if len(ids) < len(want) {
		t.Errorf("the replies name %d sessions, want at least %d", len(ids), len(want))
	}
	for _, id := range ids {
		secrets = append(secrets, id[1])
	}
	for _, secret := range secrets {
		if bytes.Contains(to.raw.Bytes(), []byte(secret)) || strings.Contains(logs, secret) && secret == "CANARY" {
			t.Errorf("%q was exported or logged", secret)
		}
	}
}

// recorded is the id of a session of thoughts in a reply.
var recorded = regexp.MustCompile(`"sessionId":"(\w+)"`)

// overHTTP sends all requests over HTTP and WebSockets, with a token, and returns what the
// server has logged and the id of the token.
func overHTTP(t *testing.T, program string, replies *bytes.Buffer) (logs, tokenID string) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	secret := programtest.Token(t, tokens, "owner-of-canaries")
	metrics := "127.0.0.1:" + programtest.FreePort(t)
	s := programtest.StartHTTP(t, program, "--store", filepath.Join(dir, "s.db"), "--auth", tokens, "--metrics", metrics, "--log-level", "debug")
	post := func(path, body string, headers ...string) *http.Response {
		req, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(replies, res.Body)
		res.Body.Close()
		return res
	}
	for _, r := range requests() {
		post("", r.line(true), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", r.method, "Mcp-Name", r.name)
	}
	session := post("", hello).Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Error("no session")
	}
	for _, r := range requests() {
		post("", r.line(false), "Mcp-Session-Id", session)
	}
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimSuffix(strings.TrimPrefix(s.URL, "http"), "/mcp")+"/ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + secret}}})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, r := range requests() {
		lines = append(lines, r.line(true))
	}
	lines = append(lines, hello)
	for _, r := range requests() {
		lines = append(lines, r.line(false))
	}
	for _, line := range lines {
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(line)); err != nil {
			t.Fatal(err)
		}
		_, reply, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		replies.Write(reply)
	}
	_ = ws.Close(websocket.StatusNormalClosure, "")
	checkPage(t, "http://"+metrics+"/metrics")
	s.Stop(t)
	return s.Log(), token.ID(secret)
}

// checkPage checks the page for Prometheus.
func checkPage(t *testing.T, url string) {
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"mcp_server_operation_duration_seconds_count{", `gen_ai_tool_name="sequentialthinking"`, "sequent_store_commits_waiting", "go_goroutine_count"} {
		if !bytes.Contains(page, []byte(text)) {
			t.Errorf("the page has no %s:\n%s", text, page)
		}
	}
	if bytes.Contains(page, []byte("CANARY")) || bytes.Contains(page, []byte("owner-of-canaries")) {
		t.Errorf("the page has a text of a client or an owner:\n%s", page)
	}
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	refused, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	refused.Body.Close()
	if refused.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site may read the metrics: %s", refused.Status)
	}
}

// overPipe sends all requests on standard input, and returns what the server has logged.
func overPipe(t *testing.T, program string, text *bytes.Buffer) string {
	var in, log bytes.Buffer
	fmt.Fprintln(&in, hello)
	for _, modern := range []bool{false, true} {
		for _, r := range requests() {
			fmt.Fprintln(&in, r.line(modern))
		}
	}
	cmd := exec.Command(program, "serve", "--store", filepath.Join(t.TempDir(), "s.db"), "--log-level", "debug")
	cmd.Stdin, cmd.Stderr = &in, &log
	cmd.Env = append(cmd.Environ(), "DISABLE_THOUGHT_LOGGING=true")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	text.Write(out)
	replies := json.NewDecoder(bytes.NewReader(out))
	for n := 0; ; n++ {
		var reply any
		if err := replies.Decode(&reply); err == io.EOF {
			if want := 1 + 2*len(requests()); n != want {
				t.Errorf("%d replies, want %d", n, want)
			}
			return log.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
