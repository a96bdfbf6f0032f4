package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/web"
)

// A link ends with the token that made it: its documents are refused and its stream ends.
func TestLinkEndsWithItsToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	var secrets [2]string
	for i := range secrets {
		var err error
		if secrets[i], _, err = token.Add(path, token.Info{Subject: "alice", Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	file, err := token.Open(token.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store, Auth: file})
	think(t, e.Owned("alice"), "plan", "One.")
	link, secret, cookie := made(t, url, secrets[0], `{"id":"plan"}`)
	other, _, otherCookie := made(t, url, secrets[1], `{"id":"plan"}`)
	if link.Token != token.ID(secrets[0]) || link.Expires.After(time.Now().Add(time.Hour)) {
		t.Errorf("the link of a token that expires in an hour is %+v", link)
	}
	next := events(t, url+"/api/v1/linked/"+link.ID+"/events", "", "Cookie", cookie)
	next()
	if _, err := token.Revoke(path, secrets[0]); err != nil {
		t.Fatal(err)
	}
	event, _, data := next()
	for event == "session" {
		event, _, data = next()
	}
	if event != "revoked" {
		t.Errorf("after the revocation: %s %s", event, data)
	}
	for _, name := range []string{"session", "events"} {
		if status, body, _ := ask(t, "GET", url+"/api/v1/linked/"+link.ID+"/"+name, "", "Cookie", cookie); status != http.StatusUnauthorized {
			t.Errorf("%s after the revocation: %d %s", name, status, body)
		}
	}
	if status, body, _ := ask(t, "POST", url+"/api/v1/linked", `{"secret":"`+secret+`"}`, "Content-Type", "application/json"); status != http.StatusUnauthorized || strings.Contains(body, "expires") {
		t.Errorf("opened after the revocation: %d %s", status, body)
	}
	if _, body, _ := ask(t, "GET", url+"/api/v1/links", "", bearer(secrets[1])...); strings.Count(body, `"ended":true`) != 1 || strings.Count(body, `"id"`) != 2 {
		t.Errorf("the list does not say which link has ended: %s", body)
	}
	if status, body, _ := ask(t, "GET", url+"/api/v1/linked/"+other.ID+"/session", "", "Cookie", otherCookie); status != http.StatusOK {
		t.Errorf("the link of the other token: %d %s", status, body)
	}
	// A server without tokens does not know who has made it.
	if status, body, _ := ask(t, "GET", serve(t, web.Config{Engine: e, Store: store})+"/api/v1/linked/"+other.ID+"/session", "", "Cookie", otherCookie); status != http.StatusUnauthorized {
		t.Errorf("at a server without tokens: %d %s", status, body)
	}
}

// daily is a Guarantor as a provider is: what its tokens make counts for a day, until it is away.
type daily struct {
	scoped
	away *bool
}

func (d daily) Until(_ context.Context, _ string, made time.Time) (time.Time, error) {
	if *d.away {
		return time.Time{}, errors.New("the provider is away")
	}
	return made.Add(24 * time.Hour), nil
}

// A link counts no longer than the one that knows the token says.
func TestLinkOfAProvider(t *testing.T) {
	t.Parallel()
	store, away := sequent.NewMemoryStore(), false
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store, Auth: daily{scoped{"alice": auth.Write}, &away}})
	think(t, e.Owned("alice"), "plan", "One.")
	for _, body := range []string{`{"id":"plan"}`, `{"id":"plan","seconds":2592000}`, `{"id":"plan","seconds":3600}`} {
		link, _, cookie := made(t, url, "alice", body)
		if d := link.Expires.Sub(link.Created); d > 24*time.Hour || d < time.Hour {
			t.Errorf("%s lasts for %s", body, d)
		}
		away = true
		if status, text, _ := ask(t, "GET", url+"/api/v1/linked/"+link.ID+"/session", "", "Cookie", cookie); status != http.StatusServiceUnavailable {
			t.Errorf("%s, which cannot be checked: %d %s", body, status, text)
		}
		away = false
	}
}

// A buffer is a log.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// What a client causes by leaving is not an error of the server.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	log := new(buffer)
	g := limits.New(limits.Config{Caps: limits.Caps{Heavy: 1}})
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e, Limiter: g, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	think(t, e, "plan", "One.")
	busy := g.Client("address 127.0.0.1") // the same client: others have calls of their own
	if err := busy.Wait(t.Context(), limits.Heavy); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/export?id=plan", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(r); err == nil {
		res.Body.Close()
		t.Fatalf("it was answered: %s", res.Status)
	}
	for range 1000 { // until the server has noticed
		if strings.Contains(log.String(), "context canceled") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if text := log.String(); strings.Contains(text, "level=ERROR") || !strings.Contains(text, "level=DEBUG") {
		t.Errorf("the log is %s", text)
	}
}

// A client that sends all of a body over the limit before it reads gets the answer.
func TestBodyTooLong(t *testing.T) {
	t.Parallel()
	url := serve(t, web.Config{})
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	body := `{"token":"` + strings.Repeat("x", 8<<20) + `"}`
	if _, err := fmt.Fprintf(c, "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatalf("the server stopped reading: %v", err)
	}
	time.Sleep(10 * time.Millisecond) // a reset that was on its way has come
	if reply, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(reply), "HTTP/1.1 413 ") {
		t.Errorf("%q, %v", reply, err)
	}
}
