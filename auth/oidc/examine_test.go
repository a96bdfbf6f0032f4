package oidc

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Each of these set-ups is broken in one way, and its fault is named.
func TestExamine(t *testing.T) {
	t.Parallel()
	const keys = `{"keys":[{"kty":"EC","alg":"ES256","use":"sig","crv":"P-256","x":"A","y":"B"}]}`
	for name, c := range map[string]struct {
		document, keys string            // "" means as usual
		replace        map[string]string // in the usual document
		date           time.Duration     // by which the provider's clock differs
		status         int               // of the document
		issuer         func(string) string
		want           string // part of the fault; empty for none
		mild           bool
	}{
		"nothing wrong":      {},
		"nobody there":       {issuer: func(string) string { return "http://127.0.0.1:1" }, want: "cannot be read"},
		"http":               {issuer: func(string) string { return "http://login.example.com" }, want: "must begin with https://"},
		"wrong path":         {issuer: func(u string) string { return u + "/realms/x" }, want: "404 Not Found"},
		"slash at the end":   {issuer: func(u string) string { return u + "/" }, want: "calls itself"},
		"sign-in page":       {document: "<html>", want: "is not JSON"},
		"keys missing":       {keys: "404", want: "no key set"},
		"only HMAC":          {keys: `{"keys":[{"kty":"oct","alg":"HS256"}]}`, want: "none of the 1 keys"},
		"only encryption":    {keys: `{"keys":[{"kty":"RSA","use":"enc"},{"kty":"EC","alg":"ECDH-ES"}]}`, want: "none of the 2 keys"},
		"keys elsewhere":     {replace: map[string]string{"$U/keys": "http://keys.example.com/keys"}, want: "must begin with https://"},
		"no PKCE":            {replace: map[string]string{`"S256"`: `"plain"`}, want: "PKCE"},
		"no code flow":       {replace: map[string]string{`"authorization_endpoint"`: `"other"`}, want: "authorization_endpoint"},
		"clock":              {date: -2 * time.Minute, want: "differ by 2m"},
		"no registration":    {replace: map[string]string{"registration_endpoint": "other"}, want: "register", mild: true},
		"PKCE not listed":    {replace: map[string]string{"code_challenge_methods_supported": "other"}, want: "does not say whether", mild: true},
		"no device flow":     {replace: map[string]string{"device_authorization_endpoint": "other"}, want: "no device flow", mild: true},
		"scopes of OpenID":   {replace: map[string]string{`"sequent:read","sequent:write"`: `"email","offline_access"`}},
		"Google":             {issuer: func(string) string { return "https://accounts.google.com" }, want: "opaque"},
		"Okta, wrong server": {issuer: func(string) string { return "https://acme.okta.com" }, want: "org authorization server"},
		"Entra, version 1":   {replace: map[string]string{`"issuer":"$U"`: `"issuer":"https://sts.windows.net/1234/"`}, want: "version 1"},
		"Entra, all tenants": {replace: map[string]string{`"issuer":"$U"`: `"issuer":"https://login.microsoftonline.com/{tenantid}/v2.0"`}, want: "all tenants"},
		"scopes not defined": {replace: map[string]string{"sequent:write": "other"}, want: "does not list the scopes", mild: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", time.Now().Add(c.date).UTC().Format(http.TimeFormat))
				mux.ServeHTTP(w, r)
			}))
			defer server.Close()
			serve := func(path, usual, text string) {
				if text == "" {
					text = usual
				}
				for from, to := range c.replace {
					text = strings.ReplaceAll(text, from, to)
				}
				text = strings.ReplaceAll(text, "$U", server.URL)
				mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
					if text == "404" {
						w.WriteHeader(http.StatusNotFound)
					}
					fmt.Fprint(w, text)
				})
			}
			serve("/.well-known/openid-configuration", `{"issuer":"$U","jwks_uri":"$U/keys","authorization_endpoint":"$U/auth","token_endpoint":"$U/token",
				"registration_endpoint":"$U/reg","device_authorization_endpoint":"$U/device","code_challenge_methods_supported":["S256"],"scopes_supported":["openid","sequent:read","sequent:write"]}`, c.document)
			serve("/keys", keys, c.keys)
			issuer := server.URL
			if c.issuer != nil {
				issuer = c.issuer(issuer)
			}
			faults := Examine(t.Context(), issuer, "")
			if c.want == "" {
				if faults != nil {
					t.Errorf("got %+v", faults)
				}
				return
			}
			if len(faults) != 1 || !strings.Contains(faults[0].Text, c.want) || faults[0].Fix == "" || faults[0].Mild != c.mild {
				t.Errorf("got %+v; want one fault with %q", faults, c.want)
			}
		})
	}
}

// What is wrong with a token is named with what the token says, and with what to change.
func TestExamineToken(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	for name, c := range map[string]struct {
		token     string
		change    change
		cfg       Config
		want, fix string // parts of the fault; empty for none
		mild      bool
	}{
		"nothing wrong":   {},
		"opaque":          {token: "ya29.A0ARrdaM", want: "opaque", fix: "audience="},
		"encrypted":       {token: "eyJhbGciOiJkaXIifQ..a.b.c", want: "encrypted", fix: "audience="},
		"HMAC":            {token: "eyJhbGciOiJIUzI1NiJ9.e30.AAAA", want: "accepted algorithm", fix: "RS256"},
		"version 1":       {change: change{"iss": "https://sts.windows.net/1234/"}, want: "version 1", fix: "https://login.microsoftonline.com/1234/v2.0"},
		"another issuer":  {change: change{"iss": "https://evil.example/\u202e"}, want: "of another issuer: https://evil.example/?", fix: "--oidc-issuer"},
		"other audience":  {change: change{"aud": []string{"account", "api://x"}}, want: "its audience is account, api://x", fix: "--oidc-audience"},
		"client instead":  {change: change{"aud": nil}, want: "its audience is editor", fix: "--oidc-audience"},
		"no audience":     {change: change{"aud": nil, "client_id": nil}, want: "its audience is missing", fix: "--oidc-audience"},
		"ID token":        {change: change{"nonce": "n"}, want: "ID token", fix: "access tokens"},
		"no owner":        {cfg: Config{OwnerClaim: "oid"}, want: "the claim oid", fix: "--oidc-owner-claim"},
		"other owner":     {cfg: Config{OwnerClaim: "oid"}, change: change{"oid": "1234"}},
		"scopes of Entra": {cfg: Config{Scopes: resource + "/mcp/sequent."}, change: change{"scope": nil, "scp": "sequent.read sequent.write"}},
		"other scopes":    {change: change{"scope": "openid sequent.read"}, want: "lacks the scope sequent:write: its scopes are openid, sequent.read", fix: "--oidc-scope-prefix"},
		"only to read":    {change: change{"scope": "sequent:read"}, want: "lacks the scope sequent:write", fix: "--oidc-scope-prefix", mild: true},
		"no scopes":       {change: change{"scope": nil}, want: "its scopes are missing", fix: "--oidc-scope-prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := c.cfg
			cfg.Issuer, cfg.Resource = p.URL, resource
			o, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if c.token == "" {
				c.token = p.token("one", c.change)
			}
			faults := o.ExamineToken(t.Context(), c.token)
			if c.want == "" {
				if faults != nil {
					t.Errorf("got %+v", faults)
				}
				return
			}
			if len(faults) != 1 || !strings.Contains(faults[0].Text, c.want) || !strings.Contains(faults[0].Fix, c.fix) || faults[0].Mild != c.mild {
				t.Errorf("got %+v; want %q and %q", faults, c.want, c.fix)
			}
		})
	}
}
