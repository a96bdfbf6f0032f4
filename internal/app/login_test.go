package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
)

// A server or a provider with which the command line cannot sign in says so, with what to do.
// e2e/oidc signs in.
func TestBeginLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		metadata, discovery map[string]any // changes; nil removes a member
		msg, fix            string
	}{
		"no provider":         {metadata: map[string]any{"authorization_servers": nil}, msg: "has no sign-in", fix: "SEQUENT_TOKEN"},
		"another resource":    {metadata: map[string]any{"resource": "https://bank.example/mcp"}, msg: "says that it is https://bank.example/mcp", fix: "--public-url"},
		"no client id":        {metadata: map[string]any{"sequent_sign_in": nil}, msg: "does not name a client id", fix: "--oidc-login-client-id"},
		"no device flow":      {msg: "does not offer the device flow", fix: "SEQUENT_TOKEN"},
		"plain provider":      {metadata: map[string]any{"authorization_servers": []string{"http://login.example.com"}}, msg: "must begin with https://", fix: "doctor --oidc"},
		"unencrypted device":  {discovery: map[string]any{"device_authorization_endpoint": "http://login.example.com/device"}, msg: "must begin with https://"},
		"refused client":      {discovery: map[string]any{"device_authorization_endpoint": "SELF/device"}, msg: "refused the sign-in (unauthorized_client)", fix: "operator"},
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
			_, err := BeginLogin(t.Context(), server.URL, auth.Read)
			e, ok := errors.AsType[*sequent.Error](err)
			if bad := e; ok && e.Code == sequent.CodeUsage {
				if !strings.Contains(bad.Msg, c.msg) || !strings.Contains(bad.Fix, c.fix) {
					t.Errorf("got %q, %q; want %q, %q", bad.Msg, bad.Fix, c.msg, c.fix)
				}
				return
			}
			if !ok || c.fix != "" || !strings.Contains(e.Error(), c.msg) {
				t.Errorf("got %v; want %q", err, c.msg)
			}
		})
	}
}

// A token that has expired is renewed once, however many processes need it. If that fails, the sign-in is
// kept. The file of sign-ins is for its owner only.
func TestServerToken(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE", "XDG_DATA_HOME", "LocalAppData"} {
		t.Setenv(v, home)
	}
	var renewed atomic.Int32
	status, reply := http.StatusOK, `{"access_token":"new","refresh_token":"1","token_type":"bearer","expires_in":3600}`
	var provider *httptest.Server
	provider = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/token" {
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%[1]q,"token_endpoint":%q}`, provider.URL, provider.URL+"/token")
			return
		}
		renewed.Add(1)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	defer provider.Close()
	const server = "https://think.example.com"
	keep := func(access, refresh string) {
		t.Helper()
		err := changeSignIns(t.Context(), func(s signIns) error {
			s[server] = credential{provider.URL, auth.SignIn{Client: "cli"}, auth.Tokens{Access: access, Refresh: refresh, Expires: time.Now().Add(-time.Minute)}}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if token, err := ServerToken(t.Context(), server); token != "" || err != nil {
		t.Errorf("without a sign-in: %q, %v", token, err)
	}
	keep("old", "0")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if token, err := ServerToken(t.Context(), server); err != nil || token != "new" {
				t.Errorf("ServerToken = %q, %v", token, err)
			}
		})
	}
	wg.Wait()
	if n := renewed.Load(); n != 1 {
		t.Errorf("the token was renewed %d times, want once", n)
	}
	for _, c := range []struct {
		refresh, reply string
		status         int
		want           sequent.Code
	}{
		{"", "", 200, sequent.CodeUsage},
		{"r", `{"error":"invalid_grant"}`, 400, sequent.CodeUsage},
		{"r", "", 503, sequent.CodeUnavailable},
	} {
		keep("old", c.refresh)
		status, reply = c.status, c.reply
		if token, err := ServerToken(t.Context(), server); sequent.CodeOf(err) != c.want {
			t.Errorf("%+v: %q, %v", c, token, err)
		}
		if s, err := readSignIns(); err != nil || s[server].Refresh != c.refresh || s[server].Access != "old" {
			t.Errorf("%+v: the file has %+v, %v", c, s, err)
		}
	}
	path := filepath.Join(home, "sequent", "credentials.json")
	if state, err := os.Stat(path); runtime.GOOS == "linux" && (err != nil || state.Mode().Perm() != 0o600) {
		t.Errorf("the file: %v, %v; want mode 0600", state, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ServerToken(t.Context(), server); runtime.GOOS == "linux" && sequent.CodeOf(err) != sequent.CodeUsage {
		t.Errorf("a file that the group can read: %v", err)
	}
}
