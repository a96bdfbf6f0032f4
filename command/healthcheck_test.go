package command

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What answers at a URL may be any program: its answer moves no cursor.
func TestHealthcheckHostile(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\x1b]0;title\x07\x1b[2Jready" + strings.Repeat("x", 1<<20)))
	}))
	defer s.Close()
	code, out, _ := runCommand(t, "server", "health", s.URL)
	if code != exitOK || strings.ContainsAny(out, "\x1b\x07") || len(out) > 16<<10 || !strings.Contains(out, "ready") {
		t.Errorf("exit code %d, printed %d bytes: %.100q", code, len(out), out)
	}
}

// A server with TLS is healthy if it has the certificate of --tls-cert, whatever its name.
func TestHealthcheckTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"ready"}`))
	}))
	defer s.Close()
	own, other := filepath.Join(t.TempDir(), "own.pem"), filepath.Join(t.TempDir(), "other.pem")
	for file, der := range map[string][]byte{own: s.Certificate().Raw, other: []byte("another certificate")} {
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(args ...string) (int, string) {
		code, out, _ := runCommand(t, append([]string{"server", "health", "--http", s.Listener.Addr().String()}, args...)...)
		return code, out
	}
	if code, out := check("--tls-cert", own); code != exitOK || !strings.Contains(out, "ready") {
		t.Errorf("with the certificate of the server: %d, %q", code, out)
	}
	for _, args := range [][]string{{"--tls-cert", other}, {"--tls-cert", filepath.Join(t.TempDir(), "none.pem")}, nil} {
		if code, out := check(args...); code == exitOK {
			t.Errorf("%q: got %q, want an error", args, out)
		}
	}
}
