package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// An inside is an HTTP without a network, for tests that play with time.
type inside struct {
	t    testing.TB
	http *HTTP
	note *notebook
}

func newInside(t testing.TB, cfg HTTPConfig) *inside {
	t.Helper()
	n := newNotebook()
	cfg.Servers = []*Server{New(Config{Dialect: n.Dialect()})}
	h, err := NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown = %v, want nil", err)
		}
	})
	return &inside{t, h, n}
}

// send makes a request from an address.
func (i *inside) send(from, method, session, token, body string) *httptest.ResponseRecorder {
	text := fmt.Sprintf("%s /mcp\n%s: %s\nAuthorization: %s\n\n%s", method, headerSession, session, token, body)
	if token != "" {
		text = strings.Replace(text, "Authorization: ", "Authorization: Bearer ", 1)
	}
	r := (&site{t: i.t, addr: "localhost"}).request(text)
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	i.http.ServeHTTP(w, r)
	return w
}

func (i *inside) begin(from, token string) (session string) {
	return i.send(from, http.MethodPost, "", token, helloLine).Header().Get(headerSession)
}

const (
	here  = "10.0.0.1:1"
	there = "10.0.0.2:1"
	ping  = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
)

// alive checks whether a session is there.
func (i *inside) alive(what, session string, want bool) {
	i.t.Helper()
	status := http.StatusOK
	if !want {
		status = http.StatusNotFound
	}
	if got := i.send(here, http.MethodPost, session, "", ping); got.Code != status {
		i.t.Errorf("%s: ping = %d %s, want %d", what, got.Code, got.Body, status)
	}
}

func TestSessionTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newInside(t, HTTPConfig{SessionTimeout: time.Minute, Rate: -1})
		session := i.begin(here, "")
		for range 3 {
			time.Sleep(time.Minute - time.Nanosecond)
			i.alive("used within the time", session, true)
		}
		// A call that takes long, and an open stream, are use.
		done := make(chan *httptest.ResponseRecorder)
		go func() { done <- i.send(here, http.MethodPost, session, "", callLine(2, "wait", "a")) }()
		await(t, "a call begins", i.note.Begun)
		time.Sleep(time.Hour)
		i.note.Release <- struct{}{}
		if got := <-done; !strings.Contains(got.Body.String(), "done a") {
			t.Errorf("the long call got %d %s", got.Code, got.Body)
		}
		time.Sleep(time.Minute + time.Nanosecond)
		synctest.Wait()
		i.alive("not used for too long", session, false)
		if n := len(i.http.sessions.sessions); n != 0 {
			t.Errorf("%d sessions are left, want none", n)
		}
	})
}

// TestSessionCap checks that a client that may have no more sessions loses its own idle
// ones, and never one of another client.
func TestSessionCap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newInside(t, HTTPConfig{Limits: Limits{Sessions: 2}, Rate: -1})
		a, b := i.begin(here, ""), i.begin(there, "")
		time.Sleep(time.Second)
		c := i.begin(here, "")
		d := i.begin(here, "") // in the place of a
		i.alive("a", a, false)
		i.alive("d", d, true)
		i.alive("c", c, true)
		i.alive("b", b, true)
		var all sync.WaitGroup
		for _, session := range []string{c, d} {
			all.Go(func() { i.send(here, http.MethodPost, session, "", callLine(2, "wait", "x")) })
			await(t, "a call begins", i.note.Begun)
		}
		got := i.send(here, http.MethodPost, "", "", helloLine)
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "60" ||
			!strings.Contains(got.Body.String(), `"code":-32010,"message":"this client has 2 MCP sessions in use, as many as it may have`) {
			t.Errorf("one too many got %d %s %v", got.Code, got.Body, got.Header())
		}
		for range 2 {
			i.note.Release <- struct{}{}
		}
		all.Wait()
		for range 50 { // each in the place of another
			if i.begin(here, "") == "" {
				t.Error("a session was refused though others of the client are idle")
			}
		}
		i.alive("b", b, true)
		if n := len(i.http.sessions.sessions); n != 3 {
			t.Errorf("%d sessions, want 3", n)
		}
	})
}

// TestSessionEndsWithItsCalls deletes a session while a call is under way.
func TestSessionEndsWithItsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newInside(t, HTTPConfig{})
		session := i.begin(here, "")
		done := make(chan *httptest.ResponseRecorder)
		go func() { done <- i.send(here, http.MethodPost, session, "", callLine(2, "wait", "a")) }()
		await(t, "a call begins", i.note.Begun)
		if got := i.send(here, http.MethodDelete, session, "", ""); got.Code != http.StatusNoContent {
			t.Errorf("DELETE = %d %s, want 204", got.Code, got.Body)
		}
		i.alive("deleted", session, false)
		i.note.Release <- struct{}{}
		if got := <-done; !strings.Contains(got.Body.String(), "done a") {
			t.Errorf("the call got %d %s, want its reply", got.Code, got.Body)
		}
	})
}

// TestHeartbeat checks that a stream is never silent for long.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newInside(t, HTTPConfig{SessionTimeout: time.Minute})
		session := i.begin(here, "")
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/mcp", nil)
		r.Header.Set(headerSession, session)
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() { i.http.ServeHTTP(w, r); close(done) }()
		time.Sleep(5*time.Minute + time.Second)
		cancel()
		<-done
		if got, want := strings.Count(w.Body.String(), ":"), 1+int(5*time.Minute/heartbeat); got != want {
			t.Errorf("%d comments in five minutes, want %d: %q", got, want, w.Body)
		}
		i.alive("with an open stream", session, true)
	})
}

func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newInside(t, HTTPConfig{Rate: 10, Burst: 20, Auth: testAuth})
		visit := func(from, token string) int {
			return i.send(from, http.MethodPost, "none", token, ping).Code
		}
		count := func(from, token string) (let int) {
			for range 100 {
				switch got := visit(from, token); got {
				case http.StatusTooManyRequests:
				case http.StatusNotFound, http.StatusUnauthorized:
					let++
				default:
					t.Errorf("status %d, want it let in or not", got)
				}
			}
			return let
		}
		if got := count(here, "token-a"); got != 20 {
			t.Errorf("alice made %d requests at once, want 20", got)
		}
		if got := count(there, "token-a2"); got != 0 {
			t.Errorf("alice made %d more from elsewhere with another token, want none", got)
		}
		if got := count(here, "token-b"); got != 20 {
			t.Errorf("bob made %d requests from the same address, want 20", got)
		}
		if got := count(here, "guess"); got != 20 {
			t.Errorf("nobody made %d requests from the same address, want 20", got)
		}
		if got := count("[2001:db8::1]:1", "guess") + count("[2001:db8::ffff:2]:9", "guess"); got != 20 {
			t.Errorf("one network made %d requests, want 20", got)
		}
		time.Sleep(time.Second)
		if got := count(here, "token-a"); got != 10 {
			t.Errorf("alice made %d requests a second later, want 10", got)
		}
	})
}

// FuzzHTTP has the server take any request.
func FuzzHTTP(f *testing.F) {
	n := newNotebook()
	s := New(Config{Dialect: n.Dialect()})
	for range 100 {
		n.Release <- struct{}{}
	}
	h, err := NewHTTP(HTTPConfig{Servers: []*Server{s}, Rate: -1, Limits: Limits{Sessions: 10}, SessionTimeout: time.Second})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("POST", "scope=x", "", "", "", "", helloLine)
	f.Add("POST", "", "2026-07-28", "tools/call", "args", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"args",`+modernMeta+`}}`)
	f.Add("POST", "", "2026-07-28", "server/discover", "=?base64?eA==?=", "*/*", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modernMeta+`}}`)
	f.Add("DELETE", "", "", "", "", "text/event-stream", "")
	f.Fuzz(func(t *testing.T, method, query, version, name, subject, accept, body string) {
		if strings.Contains(body, `wait`) || strings.Contains(body, `u00`) { // a tool that waits for the test
			t.Skip()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", io.NopCloser(strings.NewReader(body)))
		r.Method, r.URL.RawQuery = method, query
		r.Header = http.Header{"Content-Type": {"application/json"}, headerVersion: {version}, headerMethod: {name}, headerName: {subject}, "Accept": {accept}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if ctx.Err() != nil {
			t.Errorf("no reply to %q", body)
		}
		if id := w.Header().Get(headerSession); id != "" {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
			r.Header = http.Header{"Content-Type": {"application/json"}, headerSession: {id}}
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	})
}

// What cannot be published is found at once.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	s := New(Config{Dialect: newNotebook().Dialect()})
	if _, err := NewHTTP(HTTPConfig{Servers: []*Server{s}, Origins: []string{"example.com"}}); err == nil {
		t.Error("an origin without scheme is accepted")
	}
	refused := func(what string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s is taken, want a panic", what)
			}
		}()
		f()
	}
	for _, servers := range [][]*Server{nil, {s, s}} {
		refused(fmt.Sprint(len(servers), " servers"), func() { _, _ = NewHTTP(HTTPConfig{Servers: servers}) })
	}
	for _, uri := range []string{"notes://all", "notes://{a}/{b}", "notes://{}", "notes://{a"} {
		d := newNotebook().Dialect()
		d.Templates[0].URI = uri
		refused(uri, func() { New(Config{Dialect: d}) })
	}
}
