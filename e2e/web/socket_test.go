package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A page of the server talks MCP over a WebSocket; a page of another site cannot.
func TestSocket(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	b := newBrowser(t)
	url := serveAll(t, app.Config{})
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>foreign</title>")) // the browser may have gone
	}))
	defer foreign.Close()
	// talk sends messages and returns the replies, or "refused".
	talk := `(async () => {
		const ws = new WebSocket('` + strings.Replace(url, "http:", "ws:", 1) + `/ws/standard?scope=page', ['mcp']), replies = [];
		const messages = [
			{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sequentialthinking',
				arguments: { thought: 'From a page.', nextThoughtNeeded: true },
				_meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } },
			{ jsonrpc: '2.0', id: 2, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1' } } },
			{ jsonrpc: '2.0', id: 3, method: 'tools/list', params: {} },
		];
		return await new Promise((resolve) => {
			ws.onerror = () => resolve('refused');
			ws.onopen = () => ws.send(JSON.stringify(messages[0]));
			ws.onmessage = (e) => {
				replies.push(e.data);
				if (replies.length < messages.length) ws.send(JSON.stringify(messages[replies.length]));
				else { ws.close(); resolve(replies.join('\n')); }
			};
		});
	})()`
	p := b.open(t, url+"/ui/")
	got := eval[string](p, talk)
	for _, want := range []string{`"id":1`, `"thoughtNumber":1`, `"id":2`, `"serverInfo"`, `"id":3`, `recall_thinking`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page got %s, want %s", got, want)
		}
	}
	if got := eval[string](b.open(t, foreign.URL), talk); got != "refused" {
		t.Errorf("a page of another site got %s", got)
	}
}
