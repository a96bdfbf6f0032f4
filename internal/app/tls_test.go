package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a certificate for 127.0.0.1 and its key, and returns it.
func writeCertificate(t *testing.T, dir string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, text, text, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert
}

// A server speaks HTTPS. After a renewal it has the new certificate, and with files that do
// not fit together the last one that did.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := writeCertificate(t, dir, 1)
	cfg := HTTPConfig{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	_, url, _ := serving(t, Config{Store: "memory", HTTP: cfg})
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Errorf("got the URL %s", url)
	}
	serial := func(trusted *x509.Certificate) int64 {
		t.Helper()
		pool := x509.NewCertPool()
		pool.AddCert(trusted)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
		response, err := client.Get(url + "/healthz")
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("got %s, %v", response.Status, err)
		}
		return response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(first); n != 1 {
		t.Errorf("got the certificate %d", n)
	}
	second := writeCertificate(t, dir, 2)
	for deadline := time.Now().Add(30 * time.Second); serial(second) != 2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the renewed certificate is not in use")
		}
	}
	if err := os.WriteFile(cfg.TLSKey, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * certificateInterval)
	if n := serial(second); n != 2 {
		t.Errorf("with a broken key: got the certificate %d", n)
	}
	for _, bad := range []HTTPConfig{{Addr: "0", TLSCert: cfg.TLSCert}, {Addr: "0", TLSCert: cfg.TLSCert, TLSKey: cfg.TLSKey}, {Addr: "0", TLSCert: dir, TLSKey: cfg.TLSKey}} {
		if _, err := bad.open(nil); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
