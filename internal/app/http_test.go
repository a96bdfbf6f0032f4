package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/diagnosis"
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

// Every dialect has an endpoint, with any default dialect.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	for _, name := range (Config{}).Names() {
		ctx, stop := context.WithCancel(t.Context())
		ready, done := make(chan string, 1), make(chan error, 1)
		a, err := Open(ctx, Config{Store: "memory", Dialect: name, StoragePath: t.TempDir(), Vault: t.TempDir(), HTTP: HTTPConfig{
			Addr: "127.0.0.1:0", Ready: func(url string) { ready <- url },
		}})
		if err != nil {
			t.Fatal(err)
		}
		go func() { done <- a.ServeHTTP(ctx) }()
		url := <-ready
		res, err := http.Get(strings.TrimSuffix(url, "/mcp") + "/nosuch")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if want := "/mcp (" + name + ")"; err != nil || !strings.Contains(string(body), want) {
			t.Errorf("got endpoints %s (%v), want %s among them", body, err, want)
		}
		for _, other := range (Config{}).Names() {
			if !strings.Contains(string(body), "/mcp/"+other) {
				t.Errorf("dialect %s: got endpoints %s, want %s among them", name, body, other)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Errorf("ServeHTTP = %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTrustedProxies checks that clients behind a proxy are limited one by one, and that
// other clients cannot name an address for themselves.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[string]string{"127.0.0.0/8": "415 429 415 429", "10.0.0.1": "415 429 429 429"} {
		ctx, stop := context.WithCancel(t.Context())
		ready, done := make(chan string, 1), make(chan error, 1)
		a, err := Open(ctx, Config{Store: "memory", HTTP: HTTPConfig{
			Addr: "127.0.0.1:0", Rate: 1e-3, Burst: 1, TrustedProxies: []string{trusted}, Ready: func(url string) { ready <- url },
		}})
		if err != nil {
			t.Fatal(err)
		}
		go func() { done <- a.ServeHTTP(ctx) }()
		url := <-ready
		var got []string
		for _, client := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1"} {
			req, err := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
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
		if err := <-done; err != nil {
			t.Errorf("ServeHTTP = %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDiagnoseTokens(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE", "XDG_DATA_HOME", "LocalAppData"} {
		t.Setenv(v, home)
	}
	if got, err := DiagnoseTokens(""); err != nil || got != nil {
		t.Errorf("without a file: got %v, %v", got, err)
	}
	path := filepath.Join(home, "tokens")
	status := func(path string, want diagnosis.Status, detail string) {
		t.Helper()
		got, err := DiagnoseTokens(path)
		if err != nil || len(got) != 1 || got[0].Status != want || !strings.Contains(got[0].Detail, detail) || want != diagnosis.OK && got[0].Fix == "" {
			t.Errorf("got %+v, %v; want %s and %q", got, err, want, detail)
		}
	}
	status(path, diagnosis.Fail, path)
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("# none\n", 0o600)
	status(path, diagnosis.Warn, "0 tokens")
	write("alice:secret\n", 0o600)
	status(path, diagnosis.Fail, "line 1")
	write("", 0o600)
	if _, _, err := token.Add(path, token.Info{Subject: "alice"}); err != nil {
		t.Fatal(err)
	}
	status(path, diagnosis.OK, "1 token of 1 subject")
	if runtime.GOOS != "windows" {
		write("", 0o644)
		status(path, diagnosis.Fail, "0644")
	}
}
