//go:build linux

// Package recipes tests the recipes in packaging that docs/deploy.md shows: each proxy runs
// with its recipe in front of two servers that share a database, systemd runs the unit.
package recipes

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// The recipes are for this site.
const (
	site   = "think.example.com"
	public = "https://" + site
)

var database pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if err := database.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// recipe returns a file of packaging.
func recipe(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// certify makes a certificate of the site, which pool trusts from now on, and its key.
func certify(t *testing.T, pool *x509.CertPool, certFile, keyFile string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{site}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	private, failed := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	write(t, certFile, string(cert))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	pool.AppendCertsFromPEM(cert)
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for 30 s: %s", what)
		}
	}
}

// replyOf matches the reply to a thought, which has its session if the call named none.
var replyOf = regexp.MustCompile(`"structuredContent":\{(?:"sessionId":"([0-9a-z]{12})",)?"thoughtNumber"`)

// think records a thought and returns its session.
func think(t *testing.T, client *http.Client, url, token, text, session string) string {
	t.Helper()
	got, err := programtest.Do(client, programtest.Request(t, url, token, "tools/call", "sequentialthinking", programtest.Thought(text, session)))
	m := replyOf.FindStringSubmatch(got.Body)
	if err != nil || got.Status != http.StatusOK || m == nil {
		t.Errorf("a thought of %d bytes: got status %d, %.300s, %v", len(text), got.Status, got.Body, err)
		return session
	}
	return cmp.Or(session, m[1])
}

func get(t *testing.T, path, token string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}
