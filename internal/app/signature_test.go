package app

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

func writeMode(t *testing.T, file string, data []byte, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(file, data, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	return file
}

// newKeys writes the files of a new key.
func newKeys(t *testing.T) (private, public string) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pubDER, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return writeMode(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600),
		writeMode(t, filepath.Join(dir, "pub.pem"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pubDER}), 0o644)
}

func signWith(t *testing.T, private, file string) {
	t.Helper()
	key, err := ReadPrivateKey(private)
	if err == nil {
		err = SignFile(file, key)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The commands of docs/proof.md verify a signature, and what they refuse is refused here.
func TestSignature(t *testing.T) {
	openssl := needtest.Program(t, "openssl", "install OpenSSL 3")
	sh := needtest.Program(t, "sh", "install a POSIX shell")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "proof.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile("(?s)```sh\n(openssl dgst .*?)```").FindSubmatch(page)
	if script == nil {
		t.Fatal("docs/proof.md has no commands for openssl")
	}
	for name, tt := range map[string]struct {
		change func(dir, file string) error
		want   string
	}{
		"intact":   {func(string, string) error { return nil }, ""},
		"the file": {func(_, file string) error { return os.WriteFile(file, []byte("other"), 0o600) }, "it was changed"},
		"another key": {func(dir, _ string) error {
			_, public := newKeys(t)
			return os.Rename(public, filepath.Join(dir, "public.pem"))
		}, "another key"},
		"no signature": {func(_, file string) error { return os.Remove(file + signatureExtension) }, "there is no signature"},
		"other text":   {func(_, file string) error { return os.WriteFile(file+signatureExtension, []byte("x"), 0o600) }, "does not have the signature"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := func(commands string) error {
				c := exec.CommandContext(t.Context(), sh, "-e", "-c", commands)
				c.Dir = dir
				return c.Run()
			}
			if err := run(openssl + " genpkey -algorithm ed25519 -out key.pem && chmod 600 key.pem && " + openssl + " pkey -in key.pem -pubout -out public.pem"); err != nil {
				t.Fatal(err)
			}
			file := writeMode(t, filepath.Join(dir, "session.json"), []byte("contents"), 0o600)
			signWith(t, filepath.Join(dir, "key.pem"), file)
			if err := tt.change(dir, file); err != nil {
				t.Fatal(err)
			}
			key, err := ReadPublicKey(filepath.Join(dir, "public.pem"))
			if err != nil {
				t.Fatal(err)
			}
			if err := VerifyFile(file, key); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err := run(string(script[1])); (err == nil) != (tt.want == "") {
				t.Errorf("openssl says %v", err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	private, public := newKeys(t)
	if runtime.GOOS != "windows" {
		if err := os.Chmod(private, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPrivateKey(private); err == nil || !strings.Contains(err.Error(), "(mode 0640): run chmod 600") {
			t.Errorf("a key that others can read: %v", err)
		}
	}
	if _, err := ReadPrivateKey(writeMode(t, filepath.Join(t.TempDir(), "x"), []byte("x"), 0o600)); err == nil {
		t.Error("a text is a private key")
	}
	if _, err := ReadPublicKey(private); err == nil {
		t.Error("a private key is a public key")
	}
	if _, err := ReadPublicKey(public); err != nil {
		t.Error(err)
	}
}
