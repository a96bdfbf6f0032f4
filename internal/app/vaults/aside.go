package vaults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A vault that cannot be written can still be searched, and thoughts go into the
// store: what it would keep in its folder .sequent is kept aside then, in the
// same folder of a vault without notes.

// identity returns the id of a vault, and the folder of its index if that is not
// its own.
func (v *Vaults) identity(ctx context.Context, notes *vault.Vault) (id, index string, err error) {
	aside := v.aside(notes.Dir())
	proposed, err := asideID(ctx, aside)
	if err != nil {
		return "", "", err
	}
	if id, err = notes.ID(ctx, proposed); err == nil {
		err = notes.Writable()
	}
	if err == nil {
		if proposed != "" { // it has its own now
			_ = os.Remove(filepath.Join(aside, stateDir, "id"))
		}
		return id, "", nil
	}
	if code := sequent.CodeOf(err); aside == "" || code != vault.CodeReadOnly && code != vault.CodeFull {
		return "", "", err
	}
	level := slog.LevelDebug // a command says it if it matters
	if v.config.Watch {
		level = slog.LevelWarn
	}
	v.config.Logger.Log(ctx, level, "the vault cannot be written: thoughts go into the store, and into notes when it can; its index is kept elsewhere",
		"vault", notes.Dir(), "index", aside, "error", err)
	index = filepath.Join(aside, stateDir)
	if err := os.MkdirAll(index, 0o700); err != nil {
		return "", "", err
	}
	if id == "" {
		id, err = makeID(ctx, aside)
		return id, index, err
	}
	return id, index, nil
}

const stateDir = ".sequent"

// aside returns where a vault keeps what it cannot keep itself.
func (v *Vaults) aside(dir string) string {
	if v.config.Cache == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return filepath.Join(v.config.Cache, hex.EncodeToString(sum[:16]))
}

// asideID returns the id that a vault got while it could not be written; empty
// if there is none.
func asideID(ctx context.Context, aside string) (string, error) {
	if aside == "" {
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(aside, stateDir, "id")); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return makeID(ctx, aside)
}

func makeID(ctx context.Context, aside string) (string, error) {
	other, err := vault.Open(vault.Config{Dir: aside, Create: true})
	if err != nil {
		return "", err
	}
	defer other.Close() //nolint:errcheck // nothing is written any more
	return other.ID(ctx, "")
}
