package programtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Request returns a request of protocol 2026-07-28 to an MCP endpoint. Params are members of an
// object. An empty token is left out.
func Request(t testing.TB, url, token, method, name, params string) *http.Request {
	t.Helper()
	if params != "" {
		params += ","
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := message(t, url, token, body)
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", name)
	return r
}

// Older returns a message of protocol 2025-11-25 in an MCP session.
func Older(t testing.TB, url, token, session, body string) *http.Request {
	t.Helper()
	r := message(t, url, token, body)
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	r.Header.Set("Mcp-Session-Id", session)
	return r
}

func message(t testing.TB, url, token, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// Thought returns the params of a call that records a thought in a session, or begins one.
func Thought(text, session string) string {
	args := map[string]any{"thought": text, "nextThoughtNeeded": true}
	if session != "" {
		args["sessionId"] = session
	}
	line, _ := json.Marshal(args) // strings
	return `"name":"sequentialthinking","arguments":` + string(line)
}

// A Reply is the answer to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request and reads the reply.
func Do(client *http.Client, r *http.Request) (Reply, error) {
	res, err := client.Do(r)
	if err != nil {
		return Reply{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return Reply{res.StatusCode, res.Header, string(body)}, err
}
