package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/auth"
)

// A wire is a WebSocket to a site.
type wire struct {
	*testing.T
	ws *websocket.Conn
}

// connect opens a WebSocket. Headers are "Name: value".
func (w *site) connect(t *testing.T, path string, protocols []string, headers ...string) *wire {
	t.Helper()
	ws, res, err := w.tryConnect(t, path, protocols, headers...)
	if err != nil {
		t.Fatalf("%s: %v, %v", path, err, res)
	}
	return &wire{t, ws}
}

func (w *site) tryConnect(t *testing.T, path string, protocols []string, headers ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	o := &websocket.DialOptions{HTTPHeader: make(http.Header), Subprotocols: protocols}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if o.HTTPHeader.Set(name, value); name == "Host" {
			o.Host = value
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, "ws://"+w.addr+path, o)
	if err == nil {
		ws.SetReadLimit(-1)
		t.Cleanup(func() { _ = ws.CloseNow() }) // the server may have closed it
	}
	return ws, res, err
}

func (c *wire) send(text string) {
	c.Helper()
	if err := c.ws.Write(c.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.Fatal(err)
	}
}

// line returns the next frame.
func (c *wire) line() (string, error) {
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	defer cancel()
	kind, text, err := c.ws.Read(ctx)
	if err == nil && kind != websocket.MessageText {
		c.Errorf("got a frame of kind %v", kind)
	}
	return string(text), err
}

func (c *wire) want(parts ...string) string {
	c.Helper()
	text, err := c.line()
	if err != nil {
		c.Fatalf("got %v, want %q", err, parts)
	}
	for _, p := range parts {
		if !strings.Contains(text, p) {
			c.Errorf("got %s, want %q", text, p)
		}
	}
	return text
}

func (c *wire) wantClose(status websocket.StatusCode) {
	c.Helper()
	if text, err := c.line(); websocket.CloseStatus(err) != status {
		c.Errorf("got %.200s, %v; want the end with status %d", text, err, status)
	}
}

// callTool returns a call in one of the eras.
func wireCall(id int, name, args string, modern bool) string {
	meta := ""
	if modern {
		meta = "," + modernMeta
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, name, args, meta)
}

// Each frame is one message, in both eras, also on one connection.
func TestSocket(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	c := w.connect(t, "/ws", []string{"mcp"})
	if c.ws.Subprotocol() != "mcp" {
		t.Errorf("the subprotocol is %q", c.ws.Subprotocol())
	}
	c.send(wireCall(1, "note", `{"text":"modern"}`, true))
	c.want(`"id":1`, `"resultType":"complete"`, `"zeta":1`)
	c.send(wireCall(2, "note", `{"text":"too early"}`, false))
	c.want(`"id":2`, `"error"`)
	c.send(strings.ReplaceAll(helloLine, `,"`, ",\n\""))
	c.want(`"serverInfo"`)
	c.send(wireCall(3, "note", `{"text":"handshake"}`, false))
	c.want(`"id":3`, `"zeta":2`)
	c.send("not JSON")
	c.want(`"id":null`, `-32700`)
	c.send("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\n\"}")
	c.want(`-32700`)
	if err := c.ws.Ping(c.ws.CloseRead(t.Context())); err != nil {
		t.Errorf("ping: %v", err)
	}

	// Two connections are two conversations; a scope joins them.
	for path, want := range map[string]string{"/ws/caller": `scope \"~session`, "/ws/caller?scope=here": `scope \"here\"`} {
		c := w.connect(t, path, nil)
		c.send(wireCall(1, "caller", `{}`, true))
		c.want(want)
	}
	w.want("GET /ws\n", http.StatusUpgradeRequired, "ws://")
	w.want("POST /ws\n\n"+helloLine, http.StatusUpgradeRequired)
	if _, res, err := w.tryConnect(t, "/ws/none", nil); err == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown dialect: %v", err)
	}
}

// The rules for who may connect are those of the other transport.
func TestSocketAdmission(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Auth: testAuth, Origins: []string{"https://think.example.com"}})
	own := "http://" + w.addr
	for _, tt := range []struct {
		name      string
		protocols []string
		headers   []string
		status    int
	}{
		{"no token", nil, nil, http.StatusUnauthorized},
		{"a wrong token", nil, []string{"Authorization: Bearer x"}, http.StatusUnauthorized},
		{"a token", nil, []string{"Authorization: Bearer token-a"}, 0},
		{"a token as a subprotocol", []string{"mcp", "bearer.token-a"}, []string{"Origin: " + own}, 0},
		{"a wrong one", []string{"mcp", "bearer.x"}, nil, http.StatusUnauthorized},
		{"the header counts", []string{"mcp", "bearer.token-a"}, []string{"Authorization: Bearer x"}, http.StatusUnauthorized},
		{"a trusted page", nil, []string{"Authorization: Bearer token-a", "Origin: https://think.example.com"}, 0},
		{"another page", nil, []string{"Authorization: Bearer token-a", "Origin: https://evil.example.com"}, http.StatusForbidden},
		{"a page of nowhere", nil, []string{"Authorization: Bearer token-a", "Origin: null"}, http.StatusForbidden},
		{"another host", nil, []string{"Authorization: Bearer token-a", "Host: evil.example.com"}, http.StatusForbidden},
	} {
		ws, res, err := w.tryConnect(t, "/ws/caller", tt.protocols, tt.headers...)
		if tt.status != 0 {
			if err == nil || res.StatusCode != tt.status {
				t.Errorf("%s: got %v, want status %d", tt.name, err, tt.status)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		c := &wire{t, ws}
		c.send(wireCall(1, "caller", `{}`, true))
		c.want(`owner \"alice\"`)
	}
}

// A revocable is an Authenticator whose tokens can be revoked together.
type revocable struct {
	authTable
	revoked atomic.Bool
}

func (a *revocable) Identify(ctx context.Context, token string) (auth.Identity, error) {
	if a.revoked.Load() {
		return auth.Identity{}, auth.ErrUnknown
	}
	return a.authTable.Identify(ctx, token)
}

// Each message needs what its token allows at that moment.
func TestSocketScopes(t *testing.T) {
	t.Parallel()
	table := &revocable{authTable: testAuth}
	w := serveHTTP(t, HTTPConfig{Auth: table})
	reader := w.connect(t, "/ws", []string{"mcp", "bearer.read-a"})
	reader.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`)
	reader.want(`"id":1`, `"result"`)
	reader.send(wireCall(2, "note", `{"text":"no"}`, true))
	reader.want(`"id":2`, "needs the scope sequent:write")
	writer := w.connect(t, "/ws", []string{"mcp", "bearer.token-a"})
	writer.send(wireCall(3, "note", `{"text":"yes"}`, true))
	writer.want(`"id":3`, `"result"`)
	table.revoked.Store(true)
	writer.send(wireCall(4, "note", `{"text":"late"}`, true))
	writer.want(`"id":4`, "the token is not valid")
	if got := w.note.All(); len(got) != 1 || got[0] != "yes" {
		t.Errorf("the notes are %q", got)
	}
}

// Messages count towards the limits of the client.
func TestSocketLimits(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Limits: Limits{Streams: 2}, Rate: 0.001, Burst: 6})
	c := w.connect(t, "/ws", nil)
	for i := range 5 {
		c.send(wireCall(i, "note", `{"text":"n"}`, true))
		c.want(fmt.Sprintf(`"id":%d`, i), `"result"`)
	}
	c.send(wireCall(9, "note", `{"text":"too many"}`, true))
	c.want(`"id":9`, `"error"`, `retryAfterMs`)
	if _, res, err := w.tryConnect(t, "/ws", nil); err == nil || res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one connection more: %v", err)
	}
	if n := len(w.note.All()); n != 5 {
		t.Errorf("%d notes, want 5", n)
	}
}

// A client that does not read its replies is disconnected, and delays no other client.
func TestSocketSlowReader(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Timeout: 2 * time.Second})
	slow, other := w.connect(t, "/ws", nil), w.connect(t, "/ws/caller", nil)
	replies := make(chan string)
	go func() { // reading answers pings
		defer close(replies)
		for {
			_, text, err := other.ws.Read(t.Context())
			if err != nil {
				return
			}
			replies <- string(text)
		}
	}()
	ask := func(id int) {
		other.send(wireCall(id, "caller", `{}`, true))
		if got, want := await(t, "the other client gets a reply", replies), fmt.Sprintf(`"id":%d`, id); !strings.Contains(got, want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
	ended := make(chan error, 1)
	go func() {
		note := []byte(wireCall(1, "note", `{"text":"`+strings.Repeat("x", 1<<18)+`"}`, true)) // the reply repeats it twice
		for {
			if err := slow.ws.Write(t.Context(), websocket.MessageText, note); err != nil {
				ended <- err
				return
			}
		}
	}()
	for i := range 20 {
		ask(i)
	}
	await(t, "the slow client is disconnected", ended)
	ask(99)
}

// When the server ends, calls that run are answered and connections end with 1001.
func TestSocketShutdown(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	idle, busy := w.connect(t, "/ws", nil), w.connect(t, "/ws", nil)
	busy.send(wireCall(1, "wait", `{"text":"w"}`, true))
	await(t, "a call begins", w.note.Begun)
	w.stop()
	idle.wantClose(websocket.StatusGoingAway)
	w.note.Release <- struct{}{}
	busy.want(`"id":1`, `"result"`)
	busy.wantClose(websocket.StatusGoingAway)
	w.ended()
}

// A client that disconnects cancels its calls.
func TestSocketGone(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	c := w.connect(t, "/ws", nil)
	c.send(wireCall(1, "wait", `{"text":"w"}`, true))
	await(t, "a call begins", w.note.Begun)
	_ = c.ws.CloseNow() // that is the test
	if err := await(t, "the call ends", w.note.Ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	w.end()
}
