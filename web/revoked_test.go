package web_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/web"
)

// oneToken is an Authenticator whose only token can be revoked.
type oneToken struct{ revoked atomic.Bool }

func (o *oneToken) Identify(_ context.Context, token string) (auth.Identity, error) {
	if token != "alice-token" || o.revoked.Load() {
		return auth.Identity{}, auth.ErrUnknown
	}
	return auth.Identity{Subject: "alice", Scope: auth.Read}, nil
}

func (o *oneToken) Until(context.Context, string, time.Time) (time.Time, error) {
	return time.Time{}, nil
}

// A stream ends when its token is revoked, before it tells of what comes after that. And a
// token that only reads writes no note.
func TestRevokedStream(t *testing.T) {
	t.Parallel()
	e, tokens := sequent.New(sequent.Config{}), new(oneToken)
	url := serve(t, web.Config{Engine: e, Auth: tokens})
	think(t, e.Owned("alice"), "plan", "before")
	ask := func(method, path, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer alice-token")
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	if res := ask("POST", "/api/v1/notes", `{"id":"plan","seq":1,"kind":"approve"}`); res.StatusCode != http.StatusForbidden {
		t.Errorf("a note with a token that reads: %s", res.Status)
	}
	stream := ask("GET", "/api/v1/events?id=plan", "")
	buffer := make([]byte, 64<<10)
	for seen := ""; !strings.Contains(seen, "before"); {
		n, err := stream.Body.Read(buffer)
		if seen += string(buffer[:n]); err != nil {
			t.Fatalf("%s, %v", seen, err)
		}
	}
	tokens.revoked.Store(true)
	think(t, e.Owned("alice"), "plan", "after the token was revoked")
	rest, err := io.ReadAll(stream.Body)
	if err != nil || strings.Contains(string(rest), "after") {
		t.Errorf("got %s, %v", rest, err)
	}
	if res := ask("GET", "/api/v1/events?id=plan", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after that: %s", res.Status)
	}
}
