package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// appPolicy is the content security policy of pages that ask for nothing (MCP Apps).
const appPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'"

// A server is a program to which a test sends requests as a client that shows pages.
type server struct {
	t      *testing.T
	modern bool
	send   func(body []byte, method, name string) []byte // of a request, returns the reply

	mu sync.Mutex
	id int
}

const showsPages = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// request sends a request and returns the reply.
func (s *server) request(method string, params map[string]any, capabilities string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id++
	if s.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "host", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(capabilities),
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		s.t.Error(err)
	}
	name, _ := params["name"].(string)
	if uri, ok := params["uri"].(string); ok {
		name = uri
	}
	return s.send(body, method, name)
}

// greet does the handshake of the older era.
func (s *server) greet(capabilities string) []byte {
	return s.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "clientInfo": map[string]string{"name": "host", "version": "1"}, "capabilities": json.RawMessage(capabilities),
	}, capabilities)
}

// overStdio starts the program as a client does.
func overStdio(t *testing.T, file string) *server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	cmd := exec.CommandContext(ctx, programtest.Build(t), "serve", "--store", file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // the program ends with its input
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		cancel()
	})
	lines := bufio.NewReader(out)
	return &server{t: t, send: func(body []byte, _, _ string) []byte {
		if _, err := in.Write(append(body, '\n')); err != nil {
			t.Error(err)
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Error(err)
				return nil
			}
			if bytes.Contains(line, []byte(`"id":`)) && !bytes.Contains(line, []byte(`"method":`)) {
				return line
			}
		}
	}}
}

// overHTTP starts a server of the current era.
func overHTTP(t *testing.T, file string) *server {
	t.Helper()
	url := serveAll(t, app.Config{Store: file}) + "/mcp"
	ctx := context.WithoutCancel(t.Context()) // pages ask until they are closed, after the test
	s := &server{t: t}
	s.send = func(body []byte, method, name string) []byte {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return nil
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer res.Body.Close()
		reply, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		if i := bytes.Index(reply, []byte("data: {")); i >= 0 && !bytes.HasPrefix(reply, []byte("{")) {
			reply, _, _ = bytes.Cut(reply[i+len("data: "):], []byte("\n"))
		}
		return reply
	}
	return s
}

// TestChat shows a session in a chat: by AppBridge, through a proxy of another origin and
// under the policy of pages that ask for nothing, in both eras: the older one over standard input,
// the current one over HTTP.
func TestChat(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	esbuild := filepath.Join("node_modules", "esbuild", "bin", "esbuild")
	if _, err := os.Stat(filepath.Join("node_modules", "@modelcontextprotocol", "ext-apps")); err != nil {
		needtest.Missing(t, "the packages of the host are not installed", "run make npm")
	}
	needtest.Program(t, "node", "install Node.js 20 or newer")
	script, err := exec.Command(esbuild, "--bundle", "--format=esm", "--log-level=error", "chat/host.js").Output()
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	for modern, start := range map[bool]func(*testing.T, string) *server{false: overStdio, true: overHTTP} {
		t.Run(fmt.Sprintf("modern=%t", modern), func(t *testing.T) {
			store, file := newStore(t, t.TempDir())
			e := sequent.New(sequent.Config{Store: store})
			story(t, e)
			s := start(t, file)
			s.modern = modern
			if !modern {
				if reply := s.greet(showsPages); !bytes.Contains(reply, []byte(`"io.modelcontextprotocol/ui":{}`)) {
					t.Errorf("the handshake says %s", reply)
				}
			}
			testChat(t, b, s, e, script)
		})
	}
}

func testChat(t *testing.T, b *browser, s *server, e *sequent.Engine, script []byte) {
	t.Helper()
	sandbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", appPolicy)
		page, _ := os.ReadFile("chat/sandbox.html")
		_, _ = w.Write(page)
	}))
	defer sandbox.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/host.html", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "chat/host.html") })
	mux.HandleFunc("/host.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
	})
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/rpc", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
			return
		}
		_, _ = w.Write(s.request(in.Method, in.Params, showsPages))
	})
	host := httptest.NewServer(mux)
	defer host.Close()

	p := b.open(t, host.URL+"/host.html?sandbox="+sandbox.URL)
	p.size(800, 900)
	p.wait(`window.loaded`)
	text := eval[string](p, fmt.Sprintf(`show({ sessionId: 'story', view: 'overview' }, { wrapped: %t })`, s.modern))
	if !strings.Contains(text, "session story") || !strings.Contains(text, "9 thoughts") {
		t.Errorf("the model is told %q", text)
	}
	p.waitInside(`document.querySelectorAll('.row').length === 9`)
	p.waitInside(`matchMedia('(prefers-color-scheme: light)') && getComputedStyle(document.body).backgroundColor === 'rgb(254, 254, 253)'`)
	p.evalInside(`document.querySelectorAll('[role=tab]')[0].click()`)
	p.waitInside(`document.querySelectorAll('.thought').length === 3 && document.querySelector('.abstract h2')?.textContent === 'Conclusion #5'`)
	if height := eval[string](p, `document.querySelector('iframe').style.height`); height != "512px" {
		t.Errorf("the page asks for a height of %s", height)
	}

	// A thought and a note appear by themselves.
	record(t, e, "story", sequent.Draft{Number: 6, Text: "A late thought."})
	p.waitInside(`[...document.querySelectorAll('.thought')].some((r) => r.textContent.includes('A late thought'))`)
	_, err := e.Update(t.Context(), "story", func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 2, Kind: sequent.Wrong, Text: "No."})
	})
	if err != nil {
		t.Fatal(err)
	}
	p.evalInside(`document.querySelector('button.whole').click()`)
	p.waitInside(`document.querySelectorAll('.thought').length === 10 && document.querySelector('#t2 .note')?.textContent.includes('No.')`)

	// What a person asks goes to the model.
	p.evalInside(`document.querySelector('#t4 .n a').click()`)
	p.waitInside(`document.querySelector('.pane h2')?.textContent === 'fix-a#4' && document.querySelector('.pane .actions button').textContent === 'Revise…'`)
	p.evalInside(`document.querySelector('.pane .actions button').click(), document.querySelector('.pane textarea').value = 'Say how long it takes.', document.querySelector('.writer button').click()`)
	p.wait(`document.getElementById('messages').textContent === 'Revise thought fix-a#4 of session story: Say how long it takes.\n'`)

	// The theme follows the host.
	eval[bool](p, `bridge.sendHostContextChange({ theme: 'dark' }), true`)
	p.waitInside(`getComputedStyle(document.body).backgroundColor === 'rgb(21, 23, 26)'`)
	eval[bool](p, `bridge.sendHostContextChange({ theme: 'light' }), true`)

	// After its end the page asks for nothing more.
	eval[bool](p, `bridge.teardownResource({}).then(() => { window.ended = calls.length; return true; })`)
	record(t, e, "story", sequent.Draft{Number: 7, Text: "Too late."})
	p.run(chromedp.Sleep(2500 * time.Millisecond))
	if n := eval[int](p, `calls.length - ended`); n != 0 {
		t.Errorf("%d calls after the end", n)
	}

	// A session that does not exist is said.
	eval[string](p, `show({ sessionId: 'nothing' })`)
	p.waitInside(`document.querySelector('.message')?.textContent.startsWith('There is no session to show.')`)
	var exceptions []string
	if s.modern {
		// The policy of a page that is put into the body of another one does not count there.
		exceptions = append(exceptions, "outside the document's <head>")
	}
	p.clean(exceptions...)
	p.mu.Lock()
	for _, url := range p.requests {
		if !strings.HasPrefix(url, host.URL) && !strings.HasPrefix(url, sandbox.URL) && !strings.HasPrefix(url, "about:srcdoc") {
			t.Errorf("the page asked for %s", url)
		}
	}
	p.mu.Unlock()

	// Others are offered nothing of this.
	if s.modern {
		for _, method := range []string{"tools/list", "resources/list", "server/discover"} {
			if reply := s.request(method, map[string]any{}, `{}`); bytes.Contains(reply, []byte("thinking\"")) && bytes.Contains(reply, []byte("show_")) || bytes.Contains(reply, []byte("ui://")) || bytes.Contains(reply, []byte("/ui\"")) {
				t.Errorf("%s tells a client without pages of them: %s", method, reply)
			}
		}
		if reply := s.request("tools/call", map[string]any{"name": "read_thinking", "arguments": map[string]any{"document": "session", "query": "id=story"}}, `{}`); !bytes.Contains(reply, []byte("unknown tool")) {
			t.Errorf("a client without pages can read: %s", reply)
		}
	}
}

// inside evaluates an expression in the page of the session, which is in a frame of a frame.
func (p *tab) inside(expression string) (value string, err error) {
	p.mu.Lock()
	id := p.frame
	p.mu.Unlock()
	if id == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	_, err = chromedp.Run(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		r, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "JSON.stringify(!!(" + expression + "))", ContextID: id, AwaitPromise: new(true), ReturnByValue: new(true)})
		if err != nil {
			return err
		}
		value = string(r.Result.Value)
		return nil
	}))
	return value, err
}

// evalInside evaluates an expression in the page of the session.
func (p *tab) evalInside(expression string) {
	p.t.Helper()
	if _, err := p.inside(expression); err != nil {
		p.fatal(err)
	}
}

// waitInside waits until an expression is true in the page of the session.
func (p *tab) waitInside(expression string) {
	p.t.Helper()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if value, _ := p.inside(expression); strings.Contains(value, "true") { // the frame may be a new one
			return
		}
	}
	value, err := p.inside(`(() => { throw new Error(document.body.innerText.slice(0, 1000)) })()`)
	p.fatal(fmt.Sprintf("not within 30 s: %s: %s %v", expression, value, err))
}
