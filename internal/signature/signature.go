// Package signature signs files with Ed25519 keys. The signature of FILE is the text
// file FILE.sig:
//
//	sequent signature 1
//	file: session.json
//	sha256: 3b0c…
//	session: 7k3mqz81c0fa
//	head: 22bd…
//	time: 2026-11-22T12:00:00Z
//	key: MCowBQYDK2VwAyEA…
//	signature: pHhf…
//
// The last line is the Ed25519 signature, in base64, of all bytes before it. The key is
// the public key as in a PEM file. docs/proof.md shows how to check it with openssl.
package signature

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Extension is what the name of a signature has after that of the signed file.
const Extension = ".sig"

const (
	firstLine = "sequent signature 1\n"
	lastField = "signature: "
	maxSize   = 1 << 16 // bytes of a signature file or key file
)

// A Statement is what a signature says of a file.
type Statement struct {
	File    string    // name of the file without its folder; it may be renamed
	SHA256  string    // of its contents, in hexadecimal
	Session string    // id of the session that it has; empty for a store
	Owner   string    // of the session
	Head    string    // of the session's log
	Time    time.Time // of signing, by the signer's clock
	Key     string    // the public key, in base64
}

// ReadPrivateKey reads an Ed25519 key in PEM, as openssl genpkey -algorithm ed25519
// writes it. It refuses a file that others can read.
func ReadPrivateKey(file string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("others can access the private key %s (mode %04o): run chmod 600 %s", file, mode, file)
	}
	der, err := readPEM(file, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	private, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s is not an Ed25519 key: make one with openssl genpkey -algorithm ed25519", file)
	}
	return private, nil
}

// ReadPublicKey reads an Ed25519 key in PEM, as openssl pkey -pubout writes it.
func ReadPublicKey(file string) (ed25519.PublicKey, error) {
	der, err := readPEM(file, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	public, ok := key.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s is not an Ed25519 key", file)
	}
	return public, nil
}

func readPEM(file, kind string) ([]byte, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s has no %s in PEM", file, strings.ToLower(kind))
	}
	return block.Bytes, nil
}

// read reads a small regular file.
func read(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New(file + " is not a regular file")
	case info.Size() > maxSize:
		return nil, errors.New(file + " is too large for a key or a signature")
	}
	return os.ReadFile(file)
}

// SignFile writes the signature of a file beside it, with the file's mode, and returns
// its name. It sets File, SHA256 and Key of the statement.
func SignFile(file string, s Statement, key ed25519.PrivateKey) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	s.File = filepath.Base(file)
	if s.SHA256, err = sum(file); err != nil {
		return "", err
	}
	if s.Key, err = encodeKey(key.Public().(ed25519.PublicKey)); err != nil {
		return "", err
	}
	return file + Extension, replace(file+Extension, s.sign(key), info.Mode().Perm())
}

// replace writes a file in one step.
func replace(file string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func (s Statement) sign(key ed25519.PrivateKey) []byte {
	var b bytes.Buffer
	b.WriteString(firstLine)
	for _, f := range [][2]string{
		{"file", s.File}, {"sha256", s.SHA256}, {"session", s.Session}, {"owner", s.Owner}, {"head", s.Head},
		{"time", s.Time.UTC().Format(time.RFC3339)}, {"key", s.Key},
	} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", f[0], strings.ReplaceAll(f[1], "\n", " "))
		}
	}
	signature := ed25519.Sign(key, b.Bytes())
	fmt.Fprintf(&b, "%s%s\n", lastField, base64.StdEncoding.EncodeToString(signature))
	return b.Bytes()
}

// VerifyFile checks that the signature beside a file is valid, of the key, and of this
// file.
func VerifyFile(file string, key ed25519.PublicKey) (Statement, error) {
	data, err := read(file + Extension)
	if errors.Is(err, os.ErrNotExist) {
		return Statement{}, fmt.Errorf("there is no signature %s", file+Extension)
	}
	if err != nil {
		return Statement{}, err
	}
	s, err := parse(data, key)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file+Extension, err)
	}
	have, err := sum(file)
	if err == nil && have != s.SHA256 {
		err = fmt.Errorf("%s is not the file that was signed: it was changed, or the signature is that of another file", file)
	}
	return s, err
}

// parse checks a signature and returns what was signed.
func parse(data []byte, key ed25519.PublicKey) (s Statement, err error) {
	at := bytes.LastIndex(data, []byte("\n"+lastField))
	if !bytes.HasPrefix(data, []byte(firstLine)) || at < 0 {
		return s, errors.New("this is not a signature of sequent")
	}
	signed, last := data[:at+1], strings.TrimSpace(string(data[at+1+len(lastField):]))
	signature, err := base64.StdEncoding.DecodeString(last)
	if err != nil || !ed25519.Verify(key, signed, signature) {
		return s, errors.New("the signature is not of this key, or was changed")
	}
	lines := bufio.NewScanner(bytes.NewReader(signed))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "file":
			s.File = value
		case "sha256":
			s.SHA256 = value
		case "session":
			s.Session = value
		case "owner":
			s.Owner = value
		case "head":
			s.Head = value
		case "key":
			s.Key = value
		case "time":
			if s.Time, err = time.Parse(time.RFC3339, value); err != nil {
				return s, err
			}
		}
	}
	return s, lines.Err()
}

func encodeKey(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	return base64.StdEncoding.EncodeToString(der), err
}

// sum returns the SHA-256 of a file in hexadecimal.
func sum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it only reads
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
