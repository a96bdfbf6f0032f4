package app

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
)

// A server or a provider with which the command line cannot sign in says so, with what to do.
// e2e/oidc signs in.
func TestBeginLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		metadata, discovery map[string]any // changes; nil removes a member
		client              string
		msg, fix            string
	}{
		"no provider":         {metadata: map[string]any{"authorization_servers": nil}, msg: "has no sign-in", fix: "SEQUENT_TOKEN"},
		"another resource":    {metadata: map[string]any{"resource": "https://bank.example/mcp"}, msg: "says that it is https://bank.example/mcp", fix: "--public-url"},
		"no client id":        {metadata: map[string]any{"sequent_sign_in": nil}, msg: "does not name a client id", fix: "--client-id ID"},
		"no device flow":      {msg: "does not offer the device flow", fix: "SEQUENT_TOKEN"},
		"own client id":       {metadata: map[string]any{"sequent_sign_in": nil}, client: "mine", msg: "does not offer the device flow", fix: "SEQUENT_TOKEN"},
		"plain provider":      {metadata: map[string]any{"authorization_servers": []string{"http://login.example.com"}}, msg: "must begin with https://", fix: "doctor --oidc"},
		"unencrypted device":  {discovery: map[string]any{"device_authorization_endpoint": "http://login.example.com/device"}, msg: "must begin with https://"},
		"refused client":      {discovery: map[string]any{"device_authorization_endpoint": "SELF/device"}, msg: "does not allow this client", fix: "operator"},
		"provider of another": {discovery: map[string]any{"issuer": "https://login.example.com"}, msg: "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			server := httptest.NewServer(mux)
			defer server.Close()
			reply := func(w http.ResponseWriter, status int, d, changes map[string]any) {
				maps.Copy(d, changes)
				maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
				text, _ := json.Marshal(d) // maps of strings
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(strings.ReplaceAll(string(text), "SELF", server.URL)))
			}
			mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
				reply(w, 200, map[string]any{"resource": "SELF/mcp", "authorization_servers": []string{"SELF"}, "sequent_sign_in": map[string]any{"client_id": "sequent"}}, c.metadata)
			})
			mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
				reply(w, 200, map[string]any{"issuer": "SELF", "jwks_uri": "SELF/keys", "authorization_endpoint": "SELF/auth", "token_endpoint": "SELF/token"}, c.discovery)
			})
			mux.HandleFunc("/device", func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("client_id") != "sequent" || r.FormValue("resource") != server.URL+"/mcp" || !strings.Contains(r.FormValue("scope"), "sequent:read") {
					t.Errorf("the provider is asked %v", r.Form)
				}
				reply(w, 400, map[string]any{"error": "unauthorized_client"}, nil)
			})
			_, err := BeginLogin(t.Context(), server.URL, c.client, auth.Read)
			if bad, ok := errors.AsType[*ConfigError](err); ok {
				if !strings.Contains(bad.Msg, c.msg) || !strings.Contains(bad.Fix, c.fix) {
					t.Errorf("got %q, %q; want %q, %q", bad.Msg, bad.Fix, c.msg, c.fix)
				}
				return
			}
			e, ok := errors.AsType[*sequent.Error](err)
			if !ok || c.fix != "" || !strings.Contains(e.Error(), c.msg) {
				t.Errorf("got %v; want %q", err, c.msg)
			}
		})
	}
}
