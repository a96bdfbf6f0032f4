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
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// A Config configures [Vaults].
type Config struct {
	Dir    string          // the local user's folder, absolute; required
	Engine *sequent.Engine // of the sessions that have notes; required
	Agent  string          // the author of thoughts in notes; empty means "agent"

	// Cache is a folder for the index of vaults that are read-only. If it is empty, such
	// vaults cannot be opened.
	Cache string

	// Maintain writes what a crash has left unwritten, in the background.
	Maintain bool

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
	open   map[string]*opened
	closed bool
}

// An opened vault is the vault of one owner.
type opened struct {
	*wiki.Vault
	folder fs.FileInfo // when it was opened
	close  func() error
}

// New returns the vaults below a folder. It opens none.
func New(cfg Config) *Vaults {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Vaults{config: cfg, open: make(map[string]*opened)}
}

// Dir returns an owner's folder.
func (v *Vaults) Dir(owner string) string { return filepath.Join(v.config.Dir, ownersDir(owner)) }

// Dialect returns the dialect wiki over the vaults. It sets Engine, Open, Agent and Logger
// of cfg.
func (v *Vaults) Dialect(cfg wiki.Config) dialect.Dialect {
	cfg.Engine, cfg.Open, cfg.Agent, cfg.Logger = v.config.Engine, v.Open, v.config.Agent, v.config.Logger
	return wiki.New(cfg)
}

// Open returns an owner's vault. It creates a missing folder.
func (v *Vaults) Open(ctx context.Context, owner string) (*wiki.Vault, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the server is shutting down"}
	}
	if o := v.open[owner]; o != nil {
		if now, err := os.Stat(v.Dir(owner)); err == nil && os.SameFile(now, o.folder) {
			return o.Vault, nil
		}
		// The folder was removed or replaced: notes in the opened one are lost.
		delete(v.open, owner)
		if err := o.close(); err != nil {
			v.config.Logger.WarnContext(ctx, "a vault whose folder was removed was not closed", "error", err)
		}
	}
	o, err := v.openVault(ctx, owner)
	if err != nil {
		return nil, err
	}
	v.open[owner] = o
	return o.Vault, nil
}

func (v *Vaults) openVault(ctx context.Context, owner string) (*opened, error) {
	cfg := wiki.VaultConfig{Engine: v.config.Engine.Owned(owner), Agent: v.config.Agent, Logger: v.config.Logger.With("owner", owner)}
	cfg.Notes = vault.Config{Dir: v.Dir(owner), Create: true, MaxNotes: v.config.MaxNotes}
	cfg.Index = index.Config{Embedder: v.config.Embedder, Model: v.config.Model, Log: v.config.Logger}
	if v.config.Cache != "" {
		sum := sha256.Sum256([]byte(filepath.Clean(cfg.Notes.Dir)))
		cfg.Fallback = filepath.Join(v.config.Cache, hex.EncodeToString(sum[:16]))
	}
	own, err := wiki.OpenVault(ctx, cfg)
	if err != nil {
		return nil, err
	}
	folder, err := os.Stat(v.Dir(owner))
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	if v.config.Maintain {
		tasks.Go(func() { own.Maintain(background) })
	}
	return &opened{own, folder, func() error {
		cancel()
		tasks.Wait()
		return own.Close()
	}}, nil
}

// Existing is Open, except that it does not create a missing folder.
func (v *Vaults) Existing(ctx context.Context, owner string) (*wiki.Vault, error) {
	dir := v.Dir(owner)
	if info, err := os.Stat(dir); err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v.Open(ctx, owner)
	}
	return nil, sequent.Errorf(vault.CodeUnavailable, "",
		"name the folder of your notes with --vault DIR, or run sequent serve --dialect wiki, which creates one", "there is no folder %s", dir)
}

// Note returns the URI of a session's note in an owner's vault; empty if there is no
// note or no vault. It writes nothing.
func (v *Vaults) Note(ctx context.Context, owner string, id sequent.ID) (vault.URI, error) {
	notes, err := vault.Open(vault.Config{Dir: v.Dir(owner)})
	if err != nil || !thinking.ValidID(id) {
		return "", nil
	}
	uri, err := thinking.New(notes).Find(ctx, id)
	if errors.Is(err, vault.ErrNotFound) {
		uri, err = "", nil
	}
	return uri, errors.Join(err, notes.Close())
}

// Rename makes the vault of an owner that of another one, and returns its new folder; empty
// if the owner has no vault. A dry run changes nothing. It refuses a new owner who has
// notes. Programs that have the vault open notice it.
func (v *Vaults) Rename(from, to string, dryRun bool) (string, error) {
	const state = ".sequent"
	old, renamed := v.Dir(from), v.Dir(to)
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	entries, err := os.ReadDir(renamed)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != state {
		err = sequent.Errorf(sequent.CodeSessionExists, "vault", "move the notes of one folder elsewhere; nothing was changed",
			"both owners have notes: %s and %s", old, renamed)
	}
	if err != nil || dryRun {
		return renamed, err
	}
	// What a server leaves in a vault without notes can be made again.
	if err := os.RemoveAll(filepath.Join(renamed, state)); err != nil {
		return "", err
	}
	if err := os.Remove(renamed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return renamed, os.Rename(old, renamed)
}

// Close stops the background tasks and releases the folders.
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
