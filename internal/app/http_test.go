package app

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
)

func TestHTTPConfig(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens")
	if _, _, err := token.Add(tokens, token.Info{Subject: "alice"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		cfg  HTTPConfig
		want string // a part of the error; empty for none
	}{
		{HTTPConfig{}, ""},
		{HTTPConfig{Tokens: "nosuch"}, ""}, // ignored without Addr
		{HTTPConfig{Addr: "8080"}, ""},
		{HTTPConfig{Addr: "127.0.0.1:8080"}, ""},
		{HTTPConfig{Addr: "localhost:0"}, ""},
		{HTTPConfig{Addr: "[::1]:0"}, ""},
		{HTTPConfig{Addr: "127.0.0.1:8080", Insecure: true}, ""},
		{HTTPConfig{Addr: ":8080", Tokens: tokens}, ""},
		{HTTPConfig{Addr: "0.0.0.0:8080", Insecure: true}, ""},
		{HTTPConfig{Addr: "8080", Origins: []string{"https://a.example", "http://b.example:81"}}, ""},
		{HTTPConfig{Addr: ":8080"}, "other machines"},
		{HTTPConfig{Addr: "0.0.0.0:8080"}, "other machines"},
		{HTTPConfig{Addr: "[::]:8080"}, "other machines"},
		{HTTPConfig{Addr: "think.example.com:8080"}, "other machines"},
		{HTTPConfig{Addr: "192.168.1.7:8080"}, "other machines"},
		{HTTPConfig{Addr: "x"}, "for --http"},
		{HTTPConfig{Addr: "65536"}, "for --http"},
		{HTTPConfig{Addr: "-1"}, "for --http"},
		{HTTPConfig{Addr: "::1"}, "for --http"},
		{HTTPConfig{Addr: "http://127.0.0.1:8080"}, "for --http"},
		{HTTPConfig{Addr: "8080", Tokens: tokens, Insecure: true}, "mutually exclusive"},
		{HTTPConfig{Addr: ":8080", Tokens: tokens + "x"}, "no such file"},
		{HTTPConfig{Addr: "8080", Origins: []string{"a.example"}}, "--allow-origin"},
		{HTTPConfig{Addr: "8080", Origins: []string{"https://a.example/path"}}, "--allow-origin"},
		{HTTPConfig{Addr: "8080", Origins: []string{""}}, "--allow-origin"},
		{HTTPConfig{Addr: "8080", TrustedProxies: []string{"10.0.0.0/8", "::1", "127.0.0.1"}}, ""},
		{HTTPConfig{Addr: "8080", TrustedProxies: []string{"proxy.example.com"}}, "--trusted-proxy"},
		{HTTPConfig{Addr: "8080", TrustedProxies: []string{"10.0.0.0/33"}}, "--trusted-proxy"},
	}
	for _, tt := range tests {
		_, err := tt.cfg.open(slog.New(slog.DiscardHandler))
		if tt.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", tt.cfg, err)
			}
			continue
		}
		e, ok := errors.AsType[*sequent.Error](err)
		if !ok || e.Code != sequent.CodeUsage || e.Fix == "" || !strings.Contains(e.Msg, tt.want) && runtime.GOOS != "windows" {
			t.Errorf("%+v: got %v, want a usage error with %q and a fix", tt.cfg, err, tt.want)
		}
	}
}

func TestURLOf(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80/mcp",
		"[::1]:80":     "http://[::1]:80/mcp",
		"0.0.0.0:80":   "http://127.0.0.1:80/mcp",
		"[::]:80":      "http://127.0.0.1:80/mcp",
		"10.0.0.1:80":  "http://10.0.0.1:80/mcp",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := urlOf(tcp, false); got != want {
			t.Errorf("urlOf(%s) = %s, want %s", addr, got, want)
		}
	}
}

// Every dialect has an endpoint, and the configured one a second.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	const configured = "guided"
	_, url, _ := serving(t, Config{Store: "memory", Dialect: configured, StoragePath: t.TempDir(), Vault: t.TempDir()})
	tools := func(path string) string {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, url+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":`+
			`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s, %v", path, res.Status, body, err)
		}
		return string(body)
	}
	first := tools("/mcp")
	for _, name := range (Config{}).Names() {
		if (tools("/mcp/"+name) == first) != (name == configured) {
			t.Errorf("/mcp is not the endpoint of %s alone, but also of %s or of none", configured, name)
		}
	}
}

// TestTrustedProxies checks that clients behind a proxy are limited one by one, and that
// other clients cannot name an address for themselves.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[string]string{"127.0.0.0/8": "415 429 415 429", "10.0.0.1": "415 429 429 429"} {
		_, url, stop := serving(t, Config{Store: "memory", HTTP: HTTPConfig{Rate: 1e-3, Burst: 1, TrustedProxies: []string{trusted}}})
		var got []string
		for _, client := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1"} {
			req, err := http.NewRequest(http.MethodPost, url+"/mcp", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"X-Forwarded-For": {client}, "Content-Type": {"text/plain"}}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			got = append(got, res.Status[:3])
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("with the trusted proxy %s: got %s, want %s", trusted, got, want)
		}
		stop()
	}
}
