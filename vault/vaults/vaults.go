// Package vaults opens the vault of each owner for the dialect wiki, and keeps notes,
// sessions and index in agreement.
package vaults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// A Config configures [Vaults].
type Config struct {
	Dir    string          // the local user's folder, absolute; required
	Engine *sequent.Engine // of the sessions that have notes; required

	MaxNotes int // of one owner; 0 means no limit

	Embedder index.Embedder // for searches by meaning; nil disables them
	Model    string         // of the Embedder
	Logger   *slog.Logger   // nil discards the log
}

// Vaults holds the vaults of all owners, each opened when its owner first calls. Close
// releases them.
type Vaults struct {
	config Config

	mu     sync.Mutex // guards the fields below
	open   map[string]*Vault
	closed bool
}

// New returns the vaults below a folder. It opens none.
func New(cfg Config) *Vaults {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Vaults{config: cfg, open: make(map[string]*Vault)}
}

// Engine returns the engine of the sessions that have notes.
func (v *Vaults) Engine() *sequent.Engine { return v.config.Engine }

// Logger returns the log, which is not nil.
func (v *Vaults) Logger() *slog.Logger { return v.config.Logger }

// Dir returns an owner's folder.
func (v *Vaults) Dir(owner string) string { return filepath.Join(v.config.Dir, ownersDir(owner)) }

// Open returns an owner's vault. It creates a missing folder.
func (v *Vaults) Open(ctx context.Context, owner string) (*Vault, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the server is shutting down"}
	}
	if o := v.open[owner]; o != nil {
		if now, err := os.Stat(v.Dir(owner)); err == nil && os.SameFile(now, o.folder) {
			return o, nil
		}
		// The folder was removed or replaced: notes in the opened one are lost.
		delete(v.open, owner)
		if err := o.close(); err != nil {
			v.config.Logger.WarnContext(ctx, "a vault whose folder was removed was not closed", "error", err)
		}
	}
	o, err := v.openVault(owner)
	if err == nil {
		v.open[owner] = o
	}
	return o, err
}

// Existing is Open, except that it does not create a missing folder.
func (v *Vaults) Existing(ctx context.Context, owner string) (*Vault, error) {
	dir := v.Dir(owner)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, sequent.Errorf(vault.CodeUnavailable, "",
			"name the folder of your notes with --vault DIR, or run sequent serve --dialect wiki, which creates one", "there is no folder %s", dir)
	}
	return v.Open(ctx, owner)
}

// Note returns the URI of a session's note in an owner's vault; empty if there is no
// note or no vault. It writes nothing.
func (v *Vaults) Note(ctx context.Context, owner string, id sequent.ID) (vault.URI, error) {
	own, err := v.Existing(ctx, owner)
	if err != nil || !thinking.ValidID(id) {
		return "", nil
	}
	uri, err := own.Sessions.Find(ctx, id)
	if errors.Is(err, vault.ErrNotFound) {
		return "", nil
	}
	return uri, err
}

// Rename makes the vault of an owner that of another one, and returns its new folder; empty
// if the owner has no vault. A dry run changes nothing. It refuses a new owner who has a
// vault. Programs that have the vault open notice it.
func (v *Vaults) Rename(from, to string, dryRun bool) (string, error) {
	old, renamed := v.Dir(from), v.Dir(to)
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if _, err := os.Stat(renamed); err == nil {
		return "", sequent.Errorf(sequent.CodeSessionExists, "vault", "move one of the folders elsewhere; nothing was changed",
			"both owners have notes: %s and %s", old, renamed)
	}
	if dryRun {
		return renamed, nil
	}
	return renamed, os.Rename(old, renamed)
}

// Close releases the folders.
func (v *Vaults) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	var errs []error
	for _, o := range v.open {
		errs = append(errs, o.close())
	}
	clear(v.open)
	return errors.Join(errs...)
}

// ownersDir returns the path of an owner's vault below Config.Dir. The local user's
// vault is Config.Dir itself, which excludes names that begin with a dot.
//
// Two owners have different folders on every file system, case-insensitive ones
// included, and no owner's name leads out of the folder.
func ownersDir(owner string) string {
	if owner == "" {
		return "."
	}
	var b strings.Builder
	for i := range len(owner) {
		switch c := owner[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	const maxName = 200 // bytes; every file system allows them
	if b.Len() > maxName {
		sum := sha256.Sum256([]byte(owner))
		return filepath.Join(".owners", "hash-"+hex.EncodeToString(sum[:]))
	}
	return filepath.Join(".owners", "of-"+b.String())
}
