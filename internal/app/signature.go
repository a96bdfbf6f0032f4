package app

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent/internal/durable"
)

// A file is signed with Ed25519. The signature is beside it: the 64 bytes of RFC 8032 for the
// file's SHA-256. docs/proof.md shows how to check it with openssl.

// signatureExtension is what the name of a signature has after that of the signed file.
const signatureExtension = ".sig"

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
	return readKey[ed25519.PrivateKey](file, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
}

// ReadPublicKey reads an Ed25519 key in PEM, as openssl pkey -pubout writes it.
func ReadPublicKey(file string) (ed25519.PublicKey, error) {
	return readKey[ed25519.PublicKey](file, "PUBLIC KEY", x509.ParsePKIXPublicKey)
}

func readKey[K any](file, kind string, parse func([]byte) (any, error)) (key K, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return key, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != kind {
		return key, fmt.Errorf("%s has no %s in PEM", file, strings.ToLower(kind))
	}
	parsed, err := parse(block.Bytes)
	key, ok := parsed.(K)
	if err != nil || !ok {
		return key, fmt.Errorf("%s is not an Ed25519 key: make one with openssl genpkey -algorithm ed25519", file)
	}
	return key, nil
}

// SignFile writes the signature of a file beside it, with the file's mode.
func SignFile(file string, key ed25519.PrivateKey) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	sum, err := digestOf(file)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(file) + signatureExtension
	return durable.WriteFile(root, name, info.Mode().Perm(), func(w io.Writer) error {
		_, err := w.Write(ed25519.Sign(key, sum))
		return err
	})
}

// VerifyFile returns nil if the signature beside a file is of a key and of this file.
func VerifyFile(file string, key ed25519.PublicKey) error {
	signature, err := os.ReadFile(file + signatureExtension)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no signature %s", file+signatureExtension)
	}
	if err != nil {
		return err
	}
	sum, err := digestOf(file)
	if err == nil && !ed25519.Verify(key, sum, signature) {
		err = fmt.Errorf("%s does not have the signature %s of this key: it was changed, or signed with another key", file, file+signatureExtension)
	}
	return err
}

// digestOf returns the SHA-256 of a file.
func digestOf(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}
