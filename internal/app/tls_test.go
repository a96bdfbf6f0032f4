package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
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

// A server speaks HTTPS.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := x509.NewCertPool()
	pool.AddCert(writeCertificate(t, dir, 1))
	cfg := HTTPConfig{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	_, url, _ := serving(t, Config{Store: "memory", HTTP: cfg})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	res, err := client.Get(url + "/healthz")
	if err != nil || !strings.HasPrefix(url, "https://127.0.0.1:") || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v, %v", url, res, err)
	}
	res.Body.Close()
}

// After a renewal the new certificate is used, and with files that do not fit together the last one that did.
func TestCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		writeCertificate(t, dir, 1)
		cfg := HTTPConfig{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
		made, err := cfg.certificates(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		check := func(want int64) {
			t.Helper()
			got, err := made.GetCertificate(nil)
			if err != nil || got.Leaf.SerialNumber.Int64() != want {
				t.Errorf("got the certificate %v, %v; want %d", got.Leaf.SerialNumber, err, want)
			}
			time.Sleep(certificateInterval)
		}
		check(1)
		writeCertificate(t, dir, 2)
		check(2)
		if err := os.WriteFile(cfg.TLSKey, []byte("no key"), 0o600); err != nil {
			t.Fatal(err)
		}
		check(2)
		for _, bad := range []HTTPConfig{{TLSCert: cfg.TLSCert}, cfg, {TLSCert: dir, TLSKey: cfg.TLSKey}} {
			if _, err := bad.certificates(nil); err == nil {
				t.Errorf("%+v: no error", bad)
			}
		}
	})
}
