package app

import (
	"context"
	"errors"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// An ImportConfig configures an import.
type ImportConfig struct {
	DryRun   bool              // report without changing the store
	Owner    *string           // owner of the sessions; nil keeps the owner in the file
	Progress func(file string) // called before each file; nil for none
}

// Importer returns an importer of session files into the store.
func (a *App) Importer(cfg ImportConfig) *archive.Importer {
	engine := a.Engine
	if cfg.DryRun && a.store != nil {
		trial := &trialStore{Store: a.store, changes: sequent.NewMemoryStore(), known: make(map[sequent.Key]bool)}
		engine = sequent.New(sequent.Config{Store: trial, Limits: a.Engine.Limits()})
	}
	return &archive.Importer{
		Engine: engine, Owner: cfg.Owner, Progress: cfg.Progress,
		Markdown: func(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Entry, error) {
			n := vault.ParseNote("", data)
			id := sequent.ID(n.Front.Get("permalink"))
			if !thinking.ValidID(id) { // a person may have written anything
				id = sequent.ID(name)
			}
			return thinking.FromNote(ctx, id, n)
		},
	}
}

// A trialStore keeps changes in memory. Each session is copied from the store when it is first
// needed. Listings do not see the changes.
type trialStore struct {
	sequent.Store
	changes *sequent.MemoryStore

	mu    sync.Mutex // guards known
	known map[sequent.Key]bool
}

// fetch copies a session, if the store has it.
func (t *trialStore) fetch(ctx context.Context, k sequent.Key) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[k] {
		return nil
	}
	h, log, err := t.Store.Load(ctx, k, sequent.Position{})
	if err == nil {
		err = t.changes.Commit(ctx, []*sequent.Write{{Header: h, Entries: log}})
	}
	if errors.Is(err, sequent.ErrNotFound) {
		err = nil
	}
	t.known[k] = err == nil
	return err
}

// Load implements [sequent.Store].
func (t *trialStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	if err := t.fetch(ctx, k); err != nil {
		return sequent.Header{}, nil, err
	}
	return t.changes.Load(ctx, k, have)
}

// Commit implements [sequent.Store].
func (t *trialStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	for _, w := range batch {
		if err := t.fetch(ctx, w.Header.Key); err != nil {
			return err
		}
	}
	return t.changes.Commit(ctx, batch)
}

// Delete implements [sequent.Store].
func (t *trialStore) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	if err := t.fetch(ctx, k); err != nil {
		return err
	}
	return t.changes.Delete(ctx, k, epoch)
}
