package app

import (
	"bytes"
	"crypto/ed25519"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// signedFiles are session files with signatures beside them.
type signedFiles struct {
	archive.Dir
	key ed25519.PrivateKey
}

// WriteSession writes the file of a session, and its signature. If another process has
// replaced the file meanwhile, the signature is left to that process.
func (d signedFiles) WriteSession(s *sequent.Session) error {
	if err := d.Dir.WriteSession(s); err != nil {
		return err
	}
	file, err := d.File(s.Key())
	if err != nil || file == "" {
		return err
	}
	if written, err := os.ReadFile(file); err != nil || !bytes.Equal(written, archive.SessionFile(s)) {
		return err
	}
	return SignFile(file, d.key)
}
