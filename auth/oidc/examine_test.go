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
		"no code flow":       {replace: map[string]string{"authorization_endpoint": "other"}, want: "authorization_endpoint"},
		"clock":              {date: -2 * time.Minute, want: "differ by 2m"},
		"no registration":    {replace: map[string]string{"registration_endpoint": "other"}, want: "register", mild: true},
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
				"registration_endpoint":"$U/reg","code_challenge_methods_supported":["S256"],"scopes_supported":["openid","sequent:read","sequent:write"]}`, c.document)
			serve("/keys", keys, c.keys)
			issuer := server.URL
			if c.issuer != nil {
				issuer = c.issuer(issuer)
			}
			faults := Examine(t.Context(), issuer)
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
