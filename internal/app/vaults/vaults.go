// Package vaults joins the dialect wiki with what works on folders of notes: it
// has the vault of each owner, and small adapters between the types of both.
package vaults

import (
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
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// A Config configures [Vaults].
type Config struct {
	Dir    string          // the local user's folder, absolute; required
	Engine *sequent.Engine // whose sessions have notes; required
	Agent  string          // who thinks, in notes; empty means "agent"

	// Cache is a folder for the index, and whatever else a vault keeps for itself,
	// of vaults that cannot be written; empty means there is none, and that such
	// vaults cannot be opened.
	Cache string

	// Watch has changes by others noticed, and what a crash has left behind
	// mended, in the background.
	Watch bool

	Embedder index.Embedder // for searches by meaning; nil for none
	Model    string         // of the Embedder
	Logger   *slog.Logger   // nil means discard
}

// Vaults are the folders of notes of all owners, each opened when its owner
// first calls. Close them.
type Vaults struct {
	config Config

	ctx   context.Context // of what runs in the background
	leave context.CancelFunc
	tasks sync.WaitGroup

	mu     sync.Mutex // guards what follows
	owners map[string]*shelf
}

// A shelf is the vault of one owner with all that works on it.
type shelf struct {
	folder fs.FileInfo        // as it was opened
	leave  context.CancelFunc // ends what looks after it
	tended chan struct{}      // closed when that has ended

	vault *vault.Vault
	index *index.Index
	files *thinking.Files
	graph *graph
	wiki  *wiki.Vault
}

// New returns the vaults below a folder. It opens none.
func New(cfg Config) *Vaults {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Vaults{config: cfg, owners: make(map[string]*shelf)}
	v.ctx, v.leave = context.WithCancel(context.Background())
	return v
}

// Dir returns the local user's folder.
func (v *Vaults) Dir() string { return v.config.Dir }

// Open returns an owner's vault, whose folder is made if there is none.
func (v *Vaults) Open(ctx context.Context, owner string) (*wiki.Vault, error) {
	s, err := v.shelf(ctx, owner)
	if err != nil {
		return nil, err
	}
	return s.wiki, nil
}

func (v *Vaults) shelf(ctx context.Context, owner string) (*shelf, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.ctx.Err(); err != nil {
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the server is about to end", Err: err}
	}
	if s := v.owners[owner]; s != nil {
		if now, err := os.Stat(s.vault.Dir()); err == nil && os.SameFile(now, s.folder) {
			return s, nil
		}
		// The folder was removed or replaced. What is written to the one that was
		// opened nobody would see.
		delete(v.owners, owner)
		v.tasks.Go(func() { v.retire(s) })
	}
	s, err := v.open(ctx, owner)
	if err != nil {
		return nil, err
	}
	v.owners[owner] = s
	var tending context.Context
	tending, s.leave = context.WithCancel(v.ctx)
	v.tasks.Go(func() {
		defer close(s.tended)
		if v.config.Watch {
			v.tend(tending, owner, s)
		}
	})
	return s, nil
}

// retire closes a vault that is not used any more.
func (v *Vaults) retire(s *shelf) {
	s.leave()
	<-s.tended
	if err := errors.Join(s.index.Close(), s.vault.Close()); err != nil {
		v.config.Logger.Warn("a vault whose folder is gone was not closed", "error", err)
	}
}

func (v *Vaults) open(ctx context.Context, owner string) (*shelf, error) {
	notes, err := vault.Open(vault.Config{Dir: v.ownersFolder(owner), Create: true})
	if err != nil {
		return nil, err
	}
	id, aside, err := v.identity(ctx, notes)
	var folder fs.FileInfo
	if err == nil {
		folder, err = os.Stat(notes.Dir())
	}
	if err != nil {
		return nil, errors.Join(err, notes.Close())
	}
	engine := v.config.Engine.Owned(owner)
	s := &shelf{
		folder: folder, tended: make(chan struct{}),
		vault: notes,
		index: index.New(index.Config{
			Vault: notes, Dir: aside, Embedder: v.config.Embedder, Model: v.config.Model, Log: v.config.Logger,
		}),
		files: thinking.New(thinking.Config{
			Vault: notes, Dialect: "wiki",
			Owns: func(h *sequent.Header) bool { return h.Labels[thinking.LabelVault] == id },
		}),
	}
	runs := workflow.New(workflow.Config{Vault: notes, Agent: v.config.Agent, Now: engine.Now})
	ledger := assumption.New(assumption.Config{Vault: notes, Now: engine.Now})
	g := &graph{
		vault: notes, index: s.index, files: s.files, engine: engine,
		everySession: thinking.New(thinking.Config{
			Vault: notes, Dialect: "wiki",
			Owns: func(h *sequent.Header) bool { return h.Dialect == "wiki" },
		}),
		notes: make(map[vault.URI]bool), sessions: make(map[sequent.ID]bool),
	}
	s.graph = g
	s.wiki = &wiki.Vault{
		ID:        id,
		Files:     &sessionFiles{Files: s.files, graph: g},
		Parents:   &parents{runs: runs, graph: g},
		Workflows: &workflows{runs: runs, graph: g},
		Graph:     g,
		Ledger:    &assumptions{ledger: ledger, vault: notes, graph: g},
		Notes:     &notebook{vault: notes},
	}
	return s, nil
}

// tend brings a vault in step with the log and the index with the vault, and
// follows its changes until the end.
func (v *Vaults) tend(ctx context.Context, owner string, s *shelf) {
	log := v.config.Logger.With("owner", owner)
	if _, err := s.files.Sync(ctx, v.config.Engine.Owned(owner), thinking.Options{}); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "notes of sessions were not brought in step with the store; sync tries again", "error", err)
	}
	s.index.Watch(ctx)
}

// Close ends what runs in the background and releases the folders.
func (v *Vaults) Close() error {
	v.leave()
	v.tasks.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs []error
	for _, s := range v.owners {
		s.leave()
		errs = append(errs, s.index.Close(), s.vault.Close())
	}
	clear(v.owners)
	return errors.Join(errs...)
}

// ownersDir returns where in the folder the vault of an owner is. The local
// user's is the folder itself; what begins with a dot is no part of it.
//
// Two owners have two folders on every file system, also where case does not
// count, and no name leads elsewhere.
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
	const longest = 200 // bytes that every file system takes as a name
	if b.Len() > longest {
		sum := sha256.Sum256([]byte(owner))
		return filepath.Join(".owners", "hash-"+hex.EncodeToString(sum[:]))
	}
	return filepath.Join(".owners", "of-"+b.String())
}
