package command

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What answers at a URL may be any program: its answer moves no cursor.
func TestHealthcheckHostile(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\x1b]0;title\x07\x1b[2Jready" + strings.Repeat("x", 1<<20)))
	}))
	defer s.Close()
	var out bytes.Buffer
	p := &program{out: &out, err: &out, getenv: func(string) string { return "" }, now: time.Now}
	c := p.healthcheck()
	c.SetArgs([]string{s.URL})
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x07") || out.Len() > 16<<10 || !strings.Contains(out.String(), "ready") {
		t.Errorf("printed %d bytes: %.100q", out.Len(), out.String())
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
	check := func(args ...string) (string, error) {
		var out bytes.Buffer
		p := &program{out: &out, err: &out, getenv: func(string) string { return "" }, now: time.Now}
		c := p.healthcheck()
		c.SetArgs(append([]string{"--http", s.Listener.Addr().String()}, args...))
		c.SilenceUsage, c.SilenceErrors = true, true
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	if out, err := check("--tls-cert", own); err != nil || !strings.Contains(out, "ready") {
		t.Errorf("with the certificate of the server: %q, %v", out, err)
	}
	for _, args := range [][]string{{"--tls-cert", other}, {"--tls-cert", filepath.Join(t.TempDir(), "none.pem")}, nil} {
		if out, err := check(args...); err == nil {
			t.Errorf("%q: got %q, want an error", args, out)
		}
	}
}
