package wiki

import (
	"context"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// readNote returns the note at a path.
func (d *server) readNote(ctx context.Context, c tool.Caller, path string) (string, error) {
	v, err := d.Vaults.Open(ctx, c.Owner)
	if err != nil {
		return "", err
	}
	uri, err := vault.PathURI(path)
	var note *vault.Note
	if err == nil {
		note, err = v.Notes.Read(ctx, uri)
	}
	if code := sequent.CodeOf(err); code == vault.CodeNotFound || code == vault.CodeInvalidURI || code == vault.CodeNotANote {
		return "", &sequent.Error{Code: sequent.CodeSessionNotFound, Field: "uri", Msg: vaults.Reason(err)} // the code that transports know
	}
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(note.Bytes()), "\uFFFD"), nil
}
