package command

import (
	"crypto/ed25519"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

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
	key, err := app.ReadPrivateKey(p.sign)
	if err != nil {
		return nil, &usageError{msg: "--sign: " + err.Error(), fix: "use a private key that only you can read: openssl genpkey -algorithm ed25519 -out key.pem"}
	}
	return key, nil
}

// signFile signs a file with a key, unless that is nil.
func (p *program) signFile(file string, key ed25519.PrivateKey) error {
	if key == nil {
		return nil
	}
	return app.SignFile(file, key)
}

// signed checks the signature of a file.
func (v *verifying) signed(file, keyFile string) error {
	key, err := app.ReadPublicKey(keyFile)
	if err != nil {
		return &usageError{msg: "--key: " + err.Error(), fix: "use the public key: openssl pkey -in key.pem -pubout -out public.pem"}
	}
	if err := app.VerifyFile(file, key); err != nil {
		return &sequent.Error{Code: sequent.CodeInvalidSession, Field: "signature", Msg: err.Error(), Fix: "get the file and its signature again from the signer"}
	}
	if v.json {
		return writeJSON(v.out, map[string]any{"signature": map[string]any{"valid": true, "file": file}})
	}
	return v.print(draw.Line{{Text: printable.Line(file), Role: draw.Number}, {Text: "  signed with this key", Role: draw.Meta}})
}
