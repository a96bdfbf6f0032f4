// Package vaults opens the vault of each owner for the dialect wiki, and keeps notes,
// sessions and index in agreement.
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
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// A Config configures [Vaults].
type Config struct {
	Dir    string          // the local user's folder, absolute; required
	Engine *sequent.Engine // of the sessions that have notes; required
	Agent  string          // the author of thoughts in notes; empty means "agent"

	// Cache is a folder for the index and id of vaults that are read-only. If it is
	// empty, such vaults cannot be opened.
	Cache string

	// Watch indexes the changes of other programs, and repairs what a crash has
	// left behind, in the background.
	Watch bool

	MaxNotes int // of one owner; 0 means no limit

	Embedder index.Embedder // for searches by meaning; nil disables them
	Model    string         // of the Embedder
	Logger   *slog.Logger   // nil discards the log
}

// Vaults holds the vaults of all owners, each opened when its owner first calls. Close
// releases them.
type Vaults struct {
	config Config

	ctx    context.Context // of the background tasks
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu   sync.Mutex // guards the field below
	open map[string]*opened
}

// An opened vault is the vault of one owner and all that works on it.
type opened struct {
	folder     fs.FileInfo        // when it was opened
	cancel     context.CancelFunc // of its background task
	maintained chan struct{}      // closed when the background task has returned

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
	v := &Vaults{config: cfg, open: make(map[string]*opened)}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Dir returns the local user's folder.
func (v *Vaults) Dir() string { return v.config.Dir }

// Dialect returns the dialect wiki over the vaults. It sets Engine, Open, Agent, Logger
// and Semantic of cfg.
func (v *Vaults) Dialect(cfg wiki.Config) dialect.Dialect {
	cfg.Engine, cfg.Open, cfg.Agent, cfg.Logger = v.config.Engine, v.Open, v.config.Agent, v.config.Logger
	cfg.Semantic = v.config.Embedder != nil
	return wiki.New(cfg)
}

// Open returns an owner's vault. It creates a missing folder.
func (v *Vaults) Open(ctx context.Context, owner string) (*wiki.Vault, error) {
	o, err := v.vault(ctx, owner)
	if err != nil {
		return nil, err
	}
	return o.wiki, nil
}

// vault returns an owner's vault, which it opens if necessary.
func (v *Vaults) vault(ctx context.Context, owner string) (*opened, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.ctx.Err(); err != nil {
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the server is shutting down", Err: err}
	}
	if o := v.open[owner]; o != nil {
		if now, err := os.Stat(o.vault.Dir()); err == nil && os.SameFile(now, o.folder) {
			return o, nil
		}
		// The folder was removed or replaced: notes in the opened one are lost.
		delete(v.open, owner)
		v.tasks.Go(func() {
			if err := o.close(); err != nil {
				v.config.Logger.Warn("a vault whose folder was removed was not closed", "error", err)
			}
		})
	}
	o, err := v.openVault(ctx, owner)
	if err != nil {
		return nil, err
	}
	v.open[owner] = o
	var background context.Context
	background, o.cancel = context.WithCancel(v.ctx)
	v.tasks.Go(func() {
		defer close(o.maintained)
		if v.config.Watch {
			v.maintain(background, owner, o)
		}
	})
	return o, nil
}

// close stops the background task and releases the folder.
func (o *opened) close() error {
	o.cancel()
	<-o.maintained
	return errors.Join(o.index.Close(), o.vault.Close())
}

func (v *Vaults) openVault(ctx context.Context, owner string) (*opened, error) {
	g := new(graph)
	notes, err := vault.Open(vault.Config{Dir: v.ownersFolder(owner), Create: true, Wrote: g.wrote, MaxNotes: v.config.MaxNotes})
	if err != nil {
		return nil, err
	}
	id, indexDir, err := v.identity(ctx, notes)
	var folder fs.FileInfo
	if err == nil {
		folder, err = os.Stat(notes.Dir())
	}
	if err != nil {
		return nil, errors.Join(err, notes.Close())
	}
	engine := v.config.Engine.Owned(owner)
	g.vault, g.engine = notes, engine
	g.index = index.New(index.Config{
		Vault: notes, Dir: indexDir, Embedder: v.config.Embedder, Model: v.config.Model, Log: v.config.Logger,
	})
	g.files = thinking.New(thinking.Config{
		Vault: notes, Dialect: "wiki",
		Owns: func(h *sequent.Header) bool { return h.Labels[thinking.LabelVault] == id },
	})
	g.everySession = thinking.New(thinking.Config{
		Vault: notes, Dialect: "wiki",
		Owns: func(h *sequent.Header) bool { return h.Dialect == "wiki" },
	})
	editor := edit.New(edit.Config{Vault: notes, Now: engine.Now, Protected: map[string]string{
		thinking.Folder:     "continue the session with sequential_thinking, which can revise a thought",
		"thinking/workflow": "use the tool workflow",
		assumption.Folder:   "use assumption_ledger with action update",
	}})
	g.editor = editor
	return &opened{
		folder: folder, maintained: make(chan struct{}),
		vault: notes, index: g.index, files: g.files, graph: g,
		wiki: &wiki.Vault{
			ID:        id,
			Notes:     notes,
			Sessions:  g.files,
			Workflows: workflow.New(workflow.Config{Vault: notes, Agent: v.config.Agent, Now: engine.Now}),
			Ledger:    assumption.New(assumption.Config{Vault: notes, Now: engine.Now}),
			Editor:    editor,
			Graph:     g,
		},
	}, nil
}

// maintain brings notes and sessions into agreement, and then keeps the index up to
// date until ctx is cancelled.
func (v *Vaults) maintain(ctx context.Context, owner string, o *opened) {
	log := v.config.Logger.With("owner", owner)
	if _, err := o.graph.editor.Resume(ctx); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "a move of a note that was interrupted was not completed; sync tries again", "error", err)
	}
	if _, err := o.files.Sync(ctx, v.config.Engine.Owned(owner), thinking.Options{}); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "the notes of sessions were not brought into agreement with the store; sync tries again", "error", err)
	}
	o.index.Watch(ctx)
}

// Close stops the background tasks and releases the folders.
func (v *Vaults) Close() error {
	v.cancel()
	v.tasks.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
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
