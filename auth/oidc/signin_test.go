package oidc

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

// A grantor is a provider with the endpoints of sign-in. Its replies are set by a test.
type grantor struct {
	*httptest.Server
	issuer *issuer // signs
	more   map[string]any
	reply  func(form url.Values, r *http.Request) (status int, body map[string]any)
}

func newGrantor(t *testing.T) *grantor {
	g := &grantor{issuer: newIssuer(t)}
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		d := map[string]any{
			"issuer": g.URL, "jwks_uri": g.issuer.URL + "/keys", "authorization_endpoint": g.URL + "/auth", "token_endpoint": g.URL + "/token",
			"device_authorization_endpoint": g.URL + "/device", "revocation_endpoint": g.URL + "/revoke", "end_session_endpoint": g.URL + "/end?a=b",
			"id_token_signing_alg_values_supported":          []string{"ES256"},
			"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"openid", "offline_access"},
		}
		maps.Copy(d, g.more)
		maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
		_ = json.NewEncoder(w).Encode(d)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		status, body := g.reply(r.PostForm, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	})
	return g
}

func (g *grantor) client(t *testing.T, secret string) *Provider {
	t.Helper()
	p, err := New(Config{Issuer: g.URL, Resource: resource, ClientID: "viewer", ClientSecret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// idToken returns an ID token of the provider for the client.
func (g *grantor) idToken(nonce string, c change) string {
	all := change{"iss": g.URL, "aud": "viewer", "nonce": nonce, "scope": nil, "client_id": nil}
	maps.Copy(all, c)
	return g.issuer.token("one", all)
}

const redirect = resource + "/ui/signin"

// The request has everything that protects the code, and the answer is taken only from the
// provider, for the sign-in that was begun, and with an ID token of it.
func TestFinish(t *testing.T) {
	t.Parallel()
	type fields = map[string]string
	for name, c := range map[string]struct {
		answer fields // changes of it; "-" removes a field
		id     func(g *grantor, nonce string) string
		status int
		want   string // of the reason; empty if the sign-in succeeds
		away   bool
	}{
		"usual":            {},
		"wrong state":      {answer: fields{"state": "x"}, want: "not begun in this browser"},
		"no state":         {answer: fields{"state": "-"}, want: "not begun in this browser"},
		"foreign issuer":   {answer: fields{"iss": "https://evil.example"}, want: "not from the provider"},
		"no issuer":        {answer: fields{"iss": "-"}, want: "not from the provider"},
		"refused":          {answer: fields{"code": "-", "error": "access_denied", "error_description": "no\x1b\nway"}, want: "refused the sign-in (access_denied no␛ way)"},
		"no code":          {answer: fields{"code": "-"}, want: "refused"},
		"used code":        {status: 400, want: "refused the sign-in (invalid_grant used)"},
		"provider away":    {status: 503, away: true},
		"no ID token":      {id: func(*grantor, string) string { return "" }, want: "no ID token that is valid"},
		"another nonce":    {id: func(g *grantor, n string) string { return g.idToken("x"+n, nil) }, want: "no ID token that is valid"},
		"another client":   {id: func(g *grantor, n string) string { return g.idToken(n, change{"aud": "other"}) }, want: "no ID token that is valid"},
		"another provider": {id: func(g *grantor, n string) string { return g.idToken(n, change{"iss": "https://evil.example"}) }, want: "no ID token that is valid"},
		"expired ID token": {id: func(g *grantor, n string) string {
			return g.idToken(n, change{"exp": time.Now().Add(-time.Hour).Unix()})
		}, want: "no ID token that is valid"},
		"forged ID token": {id: func(g *grantor, n string) string { return g.idToken(n, nil) + "A" }, want: "no ID token that is valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrantor(t)
			client := g.client(t, "")
			page, secret, err := client.Begin(t.Context(), redirect, auth.Write)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(page)
			if err != nil {
				t.Fatal(err)
			}
			asked := u.Query()
			for name, want := range (fields{
				"client_id": "viewer", "response_type": "code", "redirect_uri": redirect, "code_challenge_method": "S256", "resource": resource + "/mcp",
				"scope": "openid sequent:read sequent:write offline_access",
			}) {
				if asked.Get(name) != want {
					t.Errorf("the page is asked with %s=%q, want %q", name, asked.Get(name), want)
				}
			}
			if strings.Contains(page, strings.Split(secret, ".")[2]) {
				t.Error("the page has the code verifier")
			}
			g.reply = func(form url.Values, _ *http.Request) (int, map[string]any) {
				if c.status != 0 {
					return c.status, map[string]any{"error": "invalid_grant", "error_description": "used"}
				}
				if form.Get("code_verifier") != strings.Split(secret, ".")[2] || form.Get("redirect_uri") != redirect || form.Get("resource") == "" || form.Get("client_id") != "viewer" {
					t.Errorf("the code is exchanged with %v", form)
				}
				id := g.idToken(asked.Get("nonce"), nil)
				if c.id != nil {
					id = c.id(g, asked.Get("nonce"))
				}
				return 200, map[string]any{"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "expires_in": 600, "id_token": id}
			}
			answer := url.Values{"code": {"c"}, "state": {asked.Get("state")}, "iss": {g.URL}}
			for name, value := range c.answer {
				answer.Set(name, value)
				if value == "-" {
					answer.Del(name)
				}
			}
			tokens, err := client.Finish(t.Context(), redirect, secret, answer)
			bad, invalid := errors.AsType[*auth.InvalidError](err)
			switch {
			case c.away && (err == nil || invalid), c.want == "" && !c.away && (err != nil || tokens.Access != "a" || tokens.Refresh != "r"),
				c.want != "" && (!invalid || !strings.Contains(bad.Reason, c.want)):
				t.Errorf("got %+v, %v; want %q", tokens, err, c.want)
			}
			if _, err := client.Finish(t.Context(), redirect, "", answer); err == nil {
				t.Error("without the secret of the browser: no error")
			}
		})
	}
}

// Parameters of the operator come beside those of OAuth, and cannot replace them.
func TestParameters(t *testing.T) {
	t.Parallel()
	issuer := newGrantor(t).URL
	for name, c := range map[string]struct {
		parameters map[string]string
		want       url.Values // nil if they are refused
	}{
		"none":             {want: url.Values{"resource": {resource + "/mcp"}}},
		"audience":         {map[string]string{"audience": "api"}, url.Values{"resource": {resource + "/mcp"}, "audience": {"api"}}},
		"another resource": {map[string]string{"resource": "api://x"}, url.Values{"resource": {"api://x"}}},
		"no resource":      {map[string]string{"resource": "", "audience": "api"}, url.Values{"resource": nil, "audience": {"api"}}},
		"redirect URI":     {parameters: map[string]string{"redirect_uri": "https://evil.example"}},
		"scope":            {parameters: map[string]string{"audience": "api", "scope": "all"}},
		"no name":          {parameters: map[string]string{"": "x"}},
	} {
		client, err := New(Config{Issuer: issuer, Resource: resource, ClientID: "viewer", Parameters: c.parameters})
		if (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		page, _, err := client.Begin(t.Context(), redirect, auth.Write)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range c.want {
			if got := u.Query()[key]; !slices.Equal(got, want) {
				t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
	}
}

// A client with a secret sends it as the provider says, and one without sends its id only.
func TestRenewAndEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret  string
		methods any
		header  bool
	}{
		"public": {}, "basic": {secret: "s&s", header: true}, "post": {secret: "s&s", methods: []string{"client_secret_post"}},
	} {
		g := newGrantor(t)
		if c.methods != nil {
			g.more = map[string]any{"token_endpoint_auth_methods_supported": c.methods}
		}
		var asked []string
		g.reply = func(form url.Values, r *http.Request) (int, map[string]any) {
			asked = append(asked, r.URL.Path)
			id, secret, header := r.BasicAuth()
			if header != c.header || header && (id != "viewer" || secret != url.QueryEscape(c.secret)) || !header && form.Get("client_secret") != c.secret {
				t.Errorf("%s: %s has the header %q and the form %v", name, r.URL.Path, r.Header.Get("Authorization"), form)
			}
			if r.URL.Path == "/revoke" {
				if form.Get("token") != "r" {
					t.Errorf("%s: %v is revoked", name, form)
				}
				return 200, nil
			}
			if form.Get("grant_type") != "refresh_token" || form.Get("refresh_token") != "r" || form.Get("resource") == "" {
				t.Errorf("%s: renewed with %v", name, form)
			}
			return 200, map[string]any{"access_token": "new", "token_type": "bearer"}
		}
		client := g.client(t, c.secret)
		if tokens, err := client.Renew(t.Context(), "r"); err != nil || tokens.Access != "new" || tokens.Refresh != "r" {
			t.Errorf("%s: Renew = %+v, %v; want the former refresh token", name, tokens, err)
		}
		if page, err := client.End(t.Context(), "r"); err != nil || page != g.URL+"/end?a=b&client_id=viewer" {
			t.Errorf("%s: End = %q, %v", name, page, err)
		}
		if got := strings.Join(asked, " "); got != "/token /revoke" {
			t.Errorf("%s: the provider was asked for %s", name, got)
		}
	}
}

func TestDevice(t *testing.T) {
	t.Parallel()
	g := newGrantor(t)
	g.more = map[string]any{"device_authorization_endpoint": nil}
	if _, err := g.client(t, "").Device(t.Context(), auth.Read); !errors.Is(err, ErrNoDeviceFlow) {
		t.Errorf("a provider without the flow: %v", err)
	}
	g.more = nil
	polls := 0
	page := g.URL + "/enter"
	g.reply = func(_ url.Values, r *http.Request) (int, map[string]any) {
		if r.URL.Path == "/device" {
			return 200, map[string]any{"device_code": "d", "user_code": "AB-C", "verification_uri": page, "expires_in": 60, "interval": 1}
		}
		polls++
		return 400, map[string]any{"error": [...]string{"authorization_pending", "access_denied"}[min(polls-1, 1)]}
	}
	client := g.client(t, "")
	d, err := client.Device(t.Context(), auth.Read)
	if err != nil || d.UserCode != "AB-C" || d.VerificationURI != page {
		t.Fatalf("Device = %+v, %v", d, err)
	}
	if _, err := client.Wait(t.Context(), d); !isInvalid(err) || polls != 2 {
		t.Errorf("Wait: %v after %d polls, want a refusal after 2", err, polls)
	}
	page = "javascript:alert(1)"
	if _, err := client.Device(t.Context(), auth.Read); err == nil {
		t.Error("a page that is no URL was accepted")
	}
}
