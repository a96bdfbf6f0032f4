//go:build linux

package recipes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// testProxy checks everything that a client needs from a proxy.
func testProxy(t *testing.T, start starter) {
	program := programtest.Build(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	var bearer [8]string
	for i := range bearer {
		bearer[i] = newToken(t, program, tokens, fmt.Sprint("user", i))
	}
	s := newSetup(t, program, start, "--auth", tokens, "--oidc-issuer", "https://login.example.com", "--rate", "0")
	client := s.client("127.0.0.1")
	t.Run("TLS", func(t *testing.T) {
		stranger := s.client("127.0.0.1")
		stranger.Transport.(*http.Transport).TLSClientConfig = new(tls.Config)
		if _, err := stranger.Get(public + "/ui/"); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("a client without the authority: got %v, want a refusal of the certificate", err)
		}
	})
	t.Run("internal", func(t *testing.T) {
		for _, path := range []string{"/metrics", "/healthz", "/readyz", "/metrics/"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if status, _, body, err := do(client, req); err != nil || status != http.StatusNotFound {
				t.Errorf("%s: got %d %s, %v; want 404", path, status, body, err)
			}
		}
	})
	t.Run("metadata", func(t *testing.T) {
		status, header, _, err := do(client, s.request(t, "", "tools/list", "", `"cursor":null`))
		if want := `resource_metadata="` + public + `/.well-known/oauth-protected-resource/mcp"`; err != nil || status != http.StatusUnauthorized ||
			!strings.Contains(header.Get("WWW-Authenticate"), want) {
			t.Errorf("without a token: got %d %q, %v; want 401 with %s", status, header, err, want)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+"/.well-known/oauth-protected-resource/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, body, err := do(client, req); err != nil || status != http.StatusOK || !strings.Contains(body, `"resource":"`+public+`/mcp"`) {
			t.Errorf("metadata: got %d %s, %v", status, body, err)
		}
	})
	t.Run("origin", func(t *testing.T) {
		for origin, want := range map[string]int{public: http.StatusOK, "https://elsewhere.example": http.StatusForbidden} {
			req := s.request(t, bearer[0], "tools/call", "sequentialthinking", thinking("from "+origin, ""))
			req.Header.Set("Origin", origin)
			if status, _, body, err := do(client, req); err != nil || status != want {
				t.Errorf("origin %s: got %d %.200s, %v; want %d", origin, status, body, err, want)
			}
		}
	})
	t.Run("bodies", func(t *testing.T) {
		// What arrives whole is refused by the server, as a thought.
		const limit = 4 << 20
		for size, want := range map[int]string{60_000: "thoughtNumber", limit - 1000: "the limit is 65536"} {
			status, _, body, err := do(client, s.request(t, bearer[0], "tools/call", "sequentialthinking", thinking(strings.Repeat("a", size), "")))
			if err != nil || status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("a thought of %d bytes: got %d %.300s, %v; want %s", size, status, body, err, want)
			}
		}
		// More than the server reads is refused by it, or before it.
		status, _, body, err := do(client, s.request(t, bearer[0], "tools/call", "sequentialthinking", thinking(strings.Repeat("a", limit), "")))
		if err == nil && status < 400 {
			t.Errorf("a message over the limit: got %d %.300s", status, body)
		}
	})
	t.Run("streams", func(t *testing.T) { s.testStreams(t, client, bearer[1]) })
	t.Run("legacy", func(t *testing.T) {
		for _, token := range bearer {
			status, header, body := s.legacy(t, client, token, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
			id := header.Get("Mcp-Session-Id")
			if status != http.StatusOK || id == "" {
				t.Fatalf("initialize: got %d %s", status, body)
			}
			s.legacy(t, client, token, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for n := range 20 {
				status, _, body := s.legacy(t, client, token, id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+thinking(fmt.Sprint("old ", n), "")+`}}`)
				if status != http.StatusOK {
					t.Fatalf("call %d of an MCP session: got %d %s", n, status, body)
				}
			}
		}
	})
	t.Run("socket", func(t *testing.T) {
		h1 := s.client("127.0.0.1") // a WebSocket begins as HTTP/1.1
		h1.Timeout = 0
		h1.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ws, res, err := websocket.Dial(ctx, "wss://"+site+"/ws", &websocket.DialOptions{
			HTTPClient: h1, HTTPHeader: http.Header{"Authorization": {"Bearer " + bearer[2]}}, Subprotocols: []string{"mcp"},
		})
		if err != nil {
			t.Fatalf("%v, %v", err, res)
		}
		defer ws.CloseNow() //nolint:errcheck // the test is over
		if err := ws.Write(ctx, websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+thinking("by socket", "")+`,`+modernMeta+`}}`)); err != nil {
			t.Fatal(err)
		}
		if _, reply, err := ws.Read(ctx); err != nil || !bytes.Contains(reply, []byte(`"id":7`)) || !bytes.Contains(reply, []byte("thoughtNumber")) {
			t.Errorf("got %s, %v", reply, err)
		}
	})
	t.Run("restart", func(t *testing.T) { s.testRestart(t, bearer[:]) })
}

// testStreams checks that events arrive while a stream is open, of both eras and of the
// viewer.
func (s *setup) testStreams(t *testing.T, client *http.Client, token string) {
	client = &http.Client{Transport: client.Transport} // streams last
	id := s.think(t, client, token, "watched", "")
	uri := "sequent://sessions/" + id
	listening := s.request(t, token, "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`)
	subscription := open(t, client, listening)
	subscription.expect("notifications/subscriptions/acknowledged")

	_, header, _ := s.legacy(t, client, token, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	old := header.Get("Mcp-Session-Id")
	s.legacy(t, client, token, old, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	following, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	following.Header = http.Header{
		"Accept": {"text/event-stream"}, "Authorization": {"Bearer " + token}, "Mcp-Session-Id": {old}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	stream := open(t, client, following)
	stream.expect(": still here")
	if status, _, body := s.legacy(t, client, token, old, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`); status != http.StatusOK {
		t.Fatalf("resources/subscribe: got %d %s", status, body)
	}

	watching, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+"/api/v1/events?id="+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	watching.Header.Set("Authorization", "Bearer "+token)
	viewer := open(t, client, watching)
	viewer.expect("event: ")

	s.think(t, client, token, "second", id)
	subscription.expect("notifications/resources/updated")
	stream.expect("notifications/resources/updated")
	viewer.expect("second")
}

// testRestart restarts one server and then the other while clients call. None of the calls
// fails.
func (s *setup) testRestart(t *testing.T, tokens []string) {
	var calls, moved atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			client := s.client("127.0.0.1")
			session := ""
			for n := 0; ctx.Err() == nil; n++ {
				req := s.request(t, tokens[i%len(tokens)], "tools/call", "sequentialthinking", thinking(fmt.Sprintf("client %d, call %d: %s", i, n, rand.Text()), session))
				status, _, body, err := do(client, req)
				m := replyOf.FindStringSubmatch(body)
				if err != nil || status != http.StatusOK || m == nil {
					t.Errorf("client %d, call %d: got %d %.300s, %v", i, n, status, body, err)
					return
				}
				session = cmp.Or(session, m[1])
				calls.Add(1)
			}
		})
	}
	pause := func() {
		was := calls.Load()
		await(t, "calls are answered", func() bool { return calls.Load() >= was+100 || t.Failed() })
	}
	begun := time.Now()
	for i, r := range s.replicas {
		pause()
		at := address(r)
		if s.avoid != nil {
			s.avoid(at)
		}
		if took := r.Terminate(t, 30*time.Second); took < 5*time.Second {
			t.Errorf("the server ended after %v, before its --drain", took)
		}
		pause()
		s.replicas[i] = programtest.StartHTTP(t, s.program, append([]string{"--http", at}, s.flags...)...)
		moved.Add(1)
		if s.avoid != nil {
			s.avoid("")
		} else {
			time.Sleep(3 * time.Second) // until a health check has seen that the server is back
		}
	}
	pause()
	stop()
	wg.Wait()
	t.Logf("%d calls in %.1f s while %d servers restarted, none failed", calls.Load(), time.Since(begun).Seconds(), moved.Load())
}

// testAddresses checks that clients without tokens are limited one by one, also one that
// claims to be another.
func testAddresses(t *testing.T, start starter) {
	s := newSetup(t, programtest.Build(t), start, "--rate", "0.001", "--burst", "3")
	var got []string
	const first, second = "127.0.0.5", "127.0.0.6"
	for _, from := range append(slices.Repeat([]string{first}, 8), second) { // two servers let the first one through 6 times
		req := s.request(t, "", "tools/list", "", `"cursor":null`)
		req.Header.Set("X-Forwarded-For", rand.Text())
		req.Header.Set("Forwarded", "for=192.0.2."+fmt.Sprint(len(got)))
		client := s.client(from)
		status, _, _, err := do(client, req)
		if err != nil {
			t.Fatal(err)
		}
		client.CloseIdleConnections()
		got = append(got, fmt.Sprint(status))
	}
	if !slices.Contains(got[:8], "429") || got[8] != "200" {
		t.Errorf("eight calls of one client and one of another: got %s, want a 429 among the first eight and 200 at last", got)
	}
}
