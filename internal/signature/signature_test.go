package signature_test

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
	"time"

	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/signature"
)

func write(t *testing.T, file string, data []byte, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(file, data, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	return file
}

// keys writes the files of a new key.
func keys(t *testing.T) (private, public string) {
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
	return write(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600),
		write(t, filepath.Join(dir, "pub.pem"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pubDER}), 0o644)
}

func sign(t *testing.T, private, file string) string {
	t.Helper()
	key, err := signature.ReadPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	name, err := signature.SignFile(file, signature.Statement{Session: "s", Head: "00", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, key)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSignature(t *testing.T) {
	private, public := keys(t)
	key, err := signature.ReadPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	_, other := keys(t)
	otherKey, err := signature.ReadPublicKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(file, sig string) error
		key    ed25519.PublicKey
		want   string
	}{
		"intact":       {func(string, string) error { return nil }, key, ""},
		"another key":  {func(string, string) error { return nil }, otherKey, "not of this key"},
		"the file":     {func(file, _ string) error { return os.WriteFile(file, []byte("other"), 0o600) }, key, "is not the file that was signed"},
		"the head":     {func(_, sig string) error { return replaceIn(sig, "head: 00", "head: 01") }, key, "not of this key, or was changed"},
		"an end":       {func(_, sig string) error { return replaceIn(sig, "signature: ", "signature: A") }, key, "not of this key, or was changed"},
		"no signature": {func(_, sig string) error { return os.Remove(sig) }, key, "there is no signature"},
		"other text":   {func(_, sig string) error { return os.WriteFile(sig, []byte("x\nsignature: y"), 0o600) }, key, "not a signature of sequent"},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, filepath.Join(t.TempDir(), "session.json"), []byte("contents"), 0o600)
			if err := tt.change(file, sign(t, private, file)); err != nil {
				t.Fatal(err)
			}
			s, err := signature.VerifyFile(file, tt.key)
			if tt.want == "" && (err != nil || s.File != "session.json" || s.Session != "s" || s.Head != "00" || s.Time.Year() != 2026) {
				t.Errorf("got %+v, %v", s, err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func replaceIn(file, before, after string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), before, after, 1)), 0o600)
}

func TestKeys(t *testing.T) {
	private, public := keys(t)
	if runtime.GOOS != "windows" {
		if err := os.Chmod(private, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := signature.ReadPrivateKey(private); err == nil || !strings.Contains(err.Error(), "(mode 0640): run chmod 600") {
			t.Errorf("a key that others can read: %v", err)
		}
	}
	if _, err := signature.ReadPrivateKey(write(t, filepath.Join(t.TempDir(), "x"), []byte("x"), 0o600)); err == nil {
		t.Error("a text is a private key")
	}
	if _, err := signature.ReadPublicKey(private); err == nil {
		t.Error("a private key is a public key")
	}
	if _, err := signature.ReadPublicKey(public); err != nil {
		t.Error(err)
	}
}

// The commands of docs/proof.md verify a signature, and refuse a changed one.
func TestOpenSSL(t *testing.T) {
	openssl := needtest.Program(t, "openssl", "install OpenSSL 3")
	sh := needtest.Program(t, "sh", "install a POSIX shell")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "proof.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile("(?s)```sh\n(grep -v .*?)```").FindSubmatch(page)
	if script == nil {
		t.Fatal("docs/proof.md has no commands for openssl")
	}
	dir := t.TempDir()
	run := func(commands string) (string, error) {
		c := exec.CommandContext(t.Context(), sh, "-e", "-c", commands)
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(openssl + " genpkey -algorithm ed25519 -out key.pem && " + openssl + " pkey -in key.pem -pubout -out public.pem && chmod 600 key.pem"); err != nil {
		t.Fatal(out, err)
	}
	file := write(t, filepath.Join(dir, "session.json"), []byte("contents"), 0o600)
	sig := sign(t, filepath.Join(dir, "key.pem"), file)
	if out, err := run(string(script[1])); err != nil || !strings.Contains(out, "Signature Verified Successfully") || !strings.Contains(out, "session.json: OK") {
		t.Errorf("%s%v", out, err)
	}
	if err := replaceIn(sig, "head: 00", "head: 01"); err != nil {
		t.Fatal(err)
	}
	if out, err := run(string(script[1])); err == nil {
		t.Errorf("a changed signature verifies: %s", out)
	}
}
