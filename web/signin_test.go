package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/web"
)

// A desk is a SignIn that admits alice.
type desk struct {
	err   error // of every method
	token string
	ended []string

	withoutRefresh bool // Finish returns no refresh token
}

func (*desk) Host() string { return "login.example.com" }

func (d *desk) Begin(_ context.Context, redirect string, _ auth.Scope) (page, secret string, err error) {
	return "https://login.example.com/auth?redirect_uri=" + url.QueryEscape(redirect), "secret", d.err
}

func (d *desk) Finish(_ context.Context, _, secret string, answer url.Values) (auth.Tokens, error) {
	if secret != "secret" || answer.Get("code") != "c" {
		return auth.Tokens{}, &auth.InvalidError{Reason: "not begun"}
	}
	t := auth.Tokens{Access: d.token, Refresh: "r1"}
	if d.withoutRefresh {
		t.Refresh = ""
	}
	return t, d.err
}

func (d *desk) Renew(_ context.Context, refresh string) (auth.Tokens, error) {
	if refresh != "r1" {
		return auth.Tokens{}, &auth.InvalidError{Reason: "used before"}
	}
	return auth.Tokens{Access: d.token, Refresh: "r2"}, d.err
}

func (d *desk) End(_ context.Context, refresh string) (string, error) {
	d.ended = append(d.ended, refresh)
	return "https://login.example.com/end", d.err
}

// All that a sign-in needs is in cookies that scripts cannot read. They change when the provider
// says so, and not when it cannot be reached.
func TestSignIn(t *testing.T) {
	t.Parallel()
	d := &desk{token: "alice-token"}
	limiter := limits.New(limits.Config{Caps: limits.Caps{Calls: 8}})
	base := serve(t, web.Config{Auth: tokens{"alice-token": "alice"}, SignIn: d, PublicURL: "https://think.example.com", Limiter: limiter})
	const name, attempt, refresh = "__Host-sequent", "__Host-sequent-signin", "__Host-sequent-refresh"
	away := errors.New("no route to host")
	for _, c := range []struct {
		what, method, path, body, cookie string
		err                              error
		token                            string
		status                           int
		want                             string // in the reply
		set                              string // cookies that are set, and after "-" removed
	}{
		{what: "about", method: "GET", path: "", status: 200, want: `"signIn":"login.example.com"`},
		{what: "begin", method: "POST", path: "login/begin", body: `{}`, status: 200, want: `redirect_uri=https%3A%2F%2Fthink.example.com%2Fui%2Fsignin"`, set: attempt},
		{what: "begin, away", method: "POST", path: "login/begin", body: `{}`, err: away, status: 503, want: "provider_unavailable"},
		{what: "finish", method: "POST", path: "login/finish", body: `{"answer":"code=c"}`, cookie: attempt + "=secret", status: 200, set: name + " " + refresh + " -" + attempt},
		{what: "finish, no cookie", method: "POST", path: "login/finish", body: `{"answer":"code=c"}`, status: 403, want: "not begun"},
		{what: "finish, two cookies", method: "POST", path: "login/finish", body: `{"answer":"code=c"}`, cookie: attempt + "=secret; " + attempt + "=secret", status: 403, want: "not begun"},
		{what: "finish, away", method: "POST", path: "login/finish", body: `{"answer":"code=c"}`, cookie: attempt + "=secret", err: away, status: 503, want: "provider_unavailable"},
		{what: "finish, no query", method: "POST", path: "login/finish", body: `{"answer":"%zz"}`, status: 400, want: "answer"},
		{what: "finish, refused token", method: "POST", path: "login/finish", body: `{"answer":"code=c"}`, cookie: attempt + "=secret", token: "other", status: 403, want: "does not accept its token"},
		{what: "finish, long token", method: "POST", path: "login/finish", body: `{"answer":"code=c"}`, cookie: attempt + "=secret", token: strings.Repeat("a", 4000), status: 403, want: "token_too_long"},
		{what: "renew", method: "POST", path: "login/renew", body: `{}`, cookie: refresh + "=r1", status: 200, set: name + " " + refresh + " -" + attempt},
		{what: "renew, no cookie", method: "POST", path: "login/renew", body: `{}`, status: 401, want: "token_required"},
		{what: "renew, away", method: "POST", path: "login/renew", body: `{}`, cookie: refresh + "=r1", err: away, status: 503, want: "provider_unavailable"},
		{what: "renew, ended", method: "POST", path: "login/renew", body: `{}`, cookie: refresh + "=r0", status: 403, want: "sign_in_ended", set: "-" + name + " -" + refresh + " -" + attempt},
		{what: "log out", method: "DELETE", path: "login", cookie: refresh + "=r1", status: 200, want: "https://login.example.com/end", set: "-" + name + " -" + refresh + " -" + attempt},
		{what: "log out, away", method: "DELETE", path: "login", cookie: refresh + "=r1", err: away, status: 200, set: "-" + name + " -" + refresh + " -" + attempt},
	} {
		d.err, d.token = c.err, "alice-token"
		long := tokens{}
		if c.token != "" {
			d.token = c.token
			long[c.token] = "alice"
		}
		at := base
		if c.what == "finish, long token" {
			at = serve(t, web.Config{Auth: long, SignIn: d, PublicURL: "https://think.example.com"})
		}
		status, text, header := ask(t, c.method, at+"/api/v1/"+c.path, c.body, "Content-Type", "application/json", "Cookie", c.cookie)
		var set []string
		for _, line := range header.Values("Set-Cookie") {
			cookie, err := http.ParseSetCookie(line)
			if err != nil || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" {
				t.Errorf("%s: the cookie %s, %v", c.what, line, err)
				continue
			}
			if cookie.MaxAge < 0 {
				cookie.Name = "-" + cookie.Name
			}
			set = append(set, cookie.Name)
		}
		if status != c.status || !strings.Contains(text, c.want) || strings.Join(set, " ") != c.set {
			t.Errorf("%s: %d %s, cookies %q; want %d, %q, %q", c.what, status, text, set, c.status, c.want, c.set)
		}
	}
	if got := strings.Join(d.ended, " "); got != "r1 r1" {
		t.Errorf("revoked were %q", got)
	}
	status, text, _ := ask(t, "POST", base+"/api/v1/login/begin", "{}", "Content-Type", "application/json", "Origin", base)
	if status != http.StatusConflict || !strings.Contains(text, "at https://think.example.com") {
		t.Errorf("begun at another address: %d %s", status, text)
	}
	status, text, _ = ask(t, "POST", serve(t, web.Config{Auth: tokens{}})+"/api/v1/login/begin", "{}", "Content-Type", "application/json")
	if status != http.StatusNotFound || !strings.Contains(text, "no_sign_in") {
		t.Errorf("without a provider: %d %s", status, text)
	}
	// What a sign-in takes of the address's share is given back to the address.
	d.err = nil
	for i := range 20 {
		if status, text, _ := ask(t, "POST", base+"/api/v1/login/renew", "{}", "Content-Type", "application/json", "Cookie", refresh+"=r1"); status != http.StatusOK {
			t.Fatalf("renewal %d: %d %s", i+1, status, text)
		}
	}
}
