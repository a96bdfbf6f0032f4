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

// A read-only vault can be searched, and its thoughts go into the store. Its index
// and its id are in a fallback folder below Config.Cache, which has the form of a
// vault without notes.

// identity returns the id of a vault, and the folder of its index if that is the
// fallback.
func (v *Vaults) identity(ctx context.Context, notes *vault.Vault) (id, index string, err error) {
	fallback := v.fallback(notes.Dir())
	proposed, err := fallbackID(ctx, fallback)
	if err != nil {
		return "", "", err
	}
	if id, err = notes.ID(ctx, proposed); err == nil {
		err = notes.Writable()
	}
	if err == nil {
		if proposed != "" { // the vault has the id now
			_ = os.Remove(filepath.Join(fallback, stateDir, "id"))
		}
		return id, "", nil
	}
	if code := sequent.CodeOf(err); fallback == "" || code != vault.CodeReadOnly && code != vault.CodeFull {
		return "", "", err
	}
	level := slog.LevelDebug // commands report it themselves
	if v.config.Watch {
		level = slog.LevelWarn
	}
	v.config.Logger.Log(ctx, level, "the vault is read-only: thoughts go into the store, and into notes once it is writable; its index is in the cache folder",
		"vault", notes.Dir(), "index", fallback, "error", err)
	index = filepath.Join(fallback, stateDir)
	if err := os.MkdirAll(index, 0o700); err != nil {
		return "", "", err
	}
	if id == "" {
		id, err = createID(ctx, fallback)
		return id, index, err
	}
	return id, index, nil
}

const stateDir = ".sequent"

// fallback returns the fallback folder of a vault; empty without Config.Cache.
func (v *Vaults) fallback(dir string) string {
	if v.config.Cache == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return filepath.Join(v.config.Cache, hex.EncodeToString(sum[:16]))
}

// fallbackID returns the id that a vault got while it was read-only; empty if there
// is none.
func fallbackID(ctx context.Context, fallback string) (string, error) {
	if fallback == "" {
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(fallback, stateDir, "id")); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return createID(ctx, fallback)
}

func createID(ctx context.Context, fallback string) (string, error) {
	other, err := vault.Open(vault.Config{Dir: fallback, Create: true})
	if err != nil {
		return "", err
	}
	defer other.Close() //nolint:errcheck // all writes are done
	return other.ID(ctx, "")
}
