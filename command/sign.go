package command

import (
	"crypto/ed25519"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/signature"
)

// addSignFlag adds the flag --sign to a command that writes a file.
func (p *program) addSignFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.sign, "sign", "", "private Ed25519 key in PEM; writes the signature to the file's name with .sig")
}

// signer returns the key of --sign, or nil without one. File is the file to sign.
func (p *program) signer(file string) (ed25519.PrivateKey, error) {
	switch {
	case p.sign == "":
		return nil, nil
	case (file == "" || file == "-") && slices.Contains(p.inherited, "sign"):
		return nil, nil // SEQUENT_SIGN is for files
	case file == "" || file == "-":
		return nil, &usageError{msg: "--sign requires --output: the signature is a file beside it", fix: "name a file with --output"}
	}
	key, err := signature.ReadPrivateKey(p.sign)
	if err != nil {
		return nil, &usageError{msg: "--sign: " + err.Error(), fix: "use a private key that only you can read: openssl genpkey -algorithm ed25519 -out key.pem"}
	}
	return key, nil
}

// signFile signs a file with a key, unless that is nil. H is the header of its session.
func (p *program) signFile(file string, h sequent.Header, key ed25519.PrivateKey) error {
	if key == nil {
		return nil
	}
	s := signature.Statement{Session: string(h.ID), Owner: h.Owner, Time: p.now()}
	if h.Entries > 0 {
		s.Head = h.Head.String()
	}
	_, err := signature.SignFile(file, s, key)
	return err
}

// A jsonSignature is a valid signature in JSON output.
type jsonSignature struct {
	Valid   bool   `json:"valid"`
	File    string `json:"file"`
	Session string `json:"session,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Head    string `json:"head,omitempty"`
	Time    string `json:"time"`
	Key     string `json:"key"`
}

// signed checks the signature of a file and returns the head in it, or nil if it has
// none.
func (v *verifying) signed(file, keyFile string) (head *sequent.Hash, err error) {
	key, err := signature.ReadPublicKey(keyFile)
	if err != nil {
		return nil, &usageError{msg: "--key: " + err.Error(), fix: "use the public key: openssl pkey -in key.pem -pubout -out public.pem"}
	}
	s, err := signature.VerifyFile(file, key)
	if err != nil {
		return nil, &sequent.Error{Code: sequent.CodeInvalidSession, Field: "signature", Msg: err.Error(), Fix: "get the file and its signature again from the signer"}
	}
	if s.Head != "" {
		head = new(sequent.Hash)
		if err := head.UnmarshalText([]byte(s.Head)); err != nil {
			return nil, err
		}
	}
	stamp := s.Time.UTC().Format("2006-01-02 15:04:05 UTC")
	if v.json {
		return head, writeJSON(v.out, struct {
			Signature jsonSignature `json:"signature"`
		}{jsonSignature{true, file, s.Session, s.Owner, s.Head, s.Time.UTC().Format("2006-01-02T15:04:05Z"), s.Key}})
	}
	return head, v.print(draw.Line{{Text: draw.One(file, v.charset()), Role: draw.Number}, {Text: "  signed with this key at " + stamp, Role: draw.Meta}})
}
