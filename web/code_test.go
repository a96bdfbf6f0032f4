package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/web"
)

// scoped is an Authenticator whose tokens are subjects with a scope.
type scoped map[string]auth.Scope

func (s scoped) Identify(_ context.Context, token string) (auth.Identity, error) {
	if s[token] == auth.None {
		return auth.Identity{}, auth.ErrUnknown
	}
	return auth.Identity{Subject: token, Scope: s[token]}, nil
}

func (s scoped) Until(_ context.Context, _ string, _ time.Time) (time.Time, error) {
	return time.Time{}, nil
}

// A code stands for a token once, and for a minute.
func TestLoginCode(t *testing.T) {
	t.Parallel()
	var late atomic.Bool
	begin := time.Now()
	now := func() time.Time {
		if late.Load() {
			return begin.Add(time.Minute)
		}
		return begin
	}
	store := sequent.NewMemoryStore()
	url := serve(t, web.Config{Store: store, Now: now, Auth: scoped{"lead": auth.Admin, "alice": auth.Read}})
	replica := serve(t, web.Config{Store: store, Now: now, Auth: scoped{"lead": auth.Admin}}) // another server of the same store
	code := func() string {
		t.Helper()
		status, body, _ := ask(t, "POST", url+"/api/v1/login/code", "{}", "Authorization", "Bearer lead")
		var in struct{ Code string }
		if err := json.Unmarshal([]byte(body), &in); err != nil || status != http.StatusOK || in.Code == "" || strings.Contains(body, "lead") {
			t.Fatalf("got %d %s, %v", status, body, err)
		}
		return in.Code
	}
	login := func(at, code string) (int, string) {
		t.Helper()
		status, _, header := ask(t, "POST", at+"/api/v1/login", `{"code":"`+code+`"}`, "Content-Type", "application/json")
		return status, header.Get("Set-Cookie")
	}
	first := code()
	values, _ := sequent.As[sequent.Values](store)
	kept, err := values.ValuesOf(t.Context(), "")
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d values are kept, %v", len(kept), err)
	}
	for name, value := range kept {
		if strings.Contains(name+string(value), "lead") || strings.Contains(name+string(value), first) {
			t.Errorf("the store has %q in clear", value)
		}
	}
	if status, cookie := login(replica, first); status != http.StatusOK || !strings.Contains(cookie, "__Host-sequent=lead") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("the first time: %d, %s", status, cookie)
	}
	for name, c := range map[string]string{"again": first, "made up": "ABC"} {
		for _, at := range []string{url, replica} {
			if status, cookie := login(at, c); status != http.StatusUnauthorized || cookie != "" {
				t.Errorf("%s: %d, %s", name, status, cookie)
			}
		}
	}
	// Whoever is signed in stays so when a link has a code of someone else.
	for cookie, want := range map[string]int{"alice": http.StatusConflict, "lead": http.StatusOK, "revoked": http.StatusOK} {
		status, body, header := ask(t, "POST", url+"/api/v1/login", `{"code":"`+code()+`"}`, "Content-Type", "application/json", "Cookie", "__Host-sequent="+cookie)
		if status != want || (header.Get("Set-Cookie") != "") != (want == http.StatusOK) {
			t.Errorf("signed in as %s: %d %s", cookie, status, body)
		}
	}
	old := code()
	late.Store(true)
	if status, cookie := login(url, old); status != http.StatusUnauthorized || cookie != "" {
		t.Errorf("after a minute: %d, %s", status, cookie)
	}
	if status, body, _ := ask(t, "POST", url+"/api/v1/login/code", "{}"); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", status, body)
	}
}

// An admin reads the sessions of another owner, and writes nothing in them. Others see their
// own only, whatever they ask for.
func TestOtherOwners(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e, Auth: scoped{"lead": auth.Admin, "bob": auth.Write}})
	think(t, e.Owned("alice"), "plan", "the plan of alice")
	think(t, e.Owned("bob"), "other", "the plan of bob")
	for _, tt := range []struct {
		who, method, path, body string
		status                  int
		want                    string
	}{
		{"lead", "GET", "sessions?owner=alice", "", 200, "the plan of alice"},
		{"lead", "GET", "session?id=plan&owner=alice", "", 200, `"id":"plan"`},
		{"lead", "GET", "search?q=plan&owner=alice", "", 200, "alice"},
		{"lead", "GET", "session?id=plan", "", 404, ""},
		{"lead", "POST", "notes?owner=alice", `{"id":"plan","seq":1,"kind":"approve"}`, 403, "insufficient_scope"},
		{"lead", "POST", "store/list", `{"AllOwners":true}`, 200, "the plan of bob"},
		{"lead", "POST", "store/usage", `{"AllOwners":true}`, 200, `"owner":"alice"`},
		{"lead", "POST", "store/list", `{"Limit":`, 400, "invalid_body"},
		{"bob", "GET", "sessions?owner=bob", "", 200, "the plan of bob"},
		{"bob", "GET", "sessions?owner=alice", "", 403, "sequent:admin"},
		{"bob", "GET", "sessions?owner=", "", 403, "sequent:admin"},
		{"bob", "GET", "events?owner=alice", "", 403, "sequent:admin"},
		{"bob", "POST", "store/list", `{"Owner":"alice"}`, 403, "sequent:admin"},
		{"bob", "POST", "store/list", `{}`, 403, "sequent:admin"},
		{"bob", "POST", "store/search", `{"Owner":"bob","AllOwners":true,"Text":"plan"}`, 403, "sequent:admin"},
		{"bob", "POST", "store/load", `{"Key":{"Owner":"alice","ID":"plan"}}`, 403, "sequent:admin"},
		{"bob", "GET", "events?all=true", "", 403, "sequent:admin"},
		{"bob", "POST", "store/load", `{"Key":{"Owner":"bob","ID":"plan"}}`, 404, "session_not_found"},
		{"bob", "POST", "store/usage", `{"Owner":"bob"}`, 200, `"sessions":1`},
		{"bob", "POST", "store/usage", `{"Owner":"bob","Since":"2999-01-01T00:00:00Z"}`, 200, "null"},
	} {
		status, body, _ := ask(t, tt.method, url+"/api/v1/"+tt.path, tt.body, "Authorization", "Bearer "+tt.who, "Content-Type", "application/json")
		if status != tt.status || !strings.Contains(body, tt.want) || tt.who == "bob" && strings.Contains(body, "plan of alice") {
			t.Errorf("%s %s %s of %s: %d %s, want %d %s", tt.method, tt.path, tt.body, tt.who, status, body, tt.status, tt.want)
		}
	}
}
