package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/llm/openai"
)

// A page that shows a session shows a thought while a model writes it, and then the thought.
func TestWriting(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	rest := make(chan bool)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece := func(text string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", text)
			w.(http.Flusher).Flush()
		}
		piece(`{"thought":"The pool <b>is `)
		select {
		case <-rest:
		case <-r.Context().Done():
			return
		}
		piece(`empty.","confidence":0.5}`)
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer model.Close()
	url := serveAll(t, app.Config{Model: openai.Config{Model: "gpt-4o", Getenv: func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": model.URL, "OPENAI_API_KEY": "k"}[name]
	}}})
	call := func(tool string, number int) error {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"thought":"Why?","thought_number":%d,"total_thoughts":2,"next_thought_needed":true,"session_id":"live"},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, number)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp/status", strings.NewReader(body))
		if err != nil {
			return err
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err == nil && !strings.Contains(string(text), `"thought_number"`) {
			err = fmt.Errorf("%s: %s", tool, text)
		}
		return err
	}
	if err := call("sequential_thinking", 1); err != nil {
		t.Fatal(err)
	}
	p := b.open(t, url+"/ui/s/live")
	p.wait(`document.querySelectorAll('.thought').length === 1`)
	p.wait(`performance.getEntriesByName('following').length > 0`) // or nobody wants the pieces
	called := make(chan error, 1)
	go func() { called <- call("sequential_thinking_external", 2) }()
	p.wait(`document.querySelector('.thought.growing .prose')?.textContent === 'The pool <b>is'`)
	rest <- true
	if err := <-called; err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelectorAll('.thought').length === 2 && !document.querySelector('.growing')`)
	p.clean()
}
