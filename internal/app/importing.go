package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// An ImportConfig says how to import.
type ImportConfig struct {
	Rehearse bool    // tell what would be done, and do nothing
	Owner    *string // whose the sessions become; nil means whose the files say
	Progress func(file string, read, size int64)
}

// Importer returns what brings sessions of files into the store.
func (a *App) Importer(cfg ImportConfig) *importer.Importer {
	engine := a.Engine
	if cfg.Rehearse && a.store != nil {
		engine = sequent.New(sequent.Config{Store: &rehearsal{Store: a.store, stage: sequent.NewMemoryStore()}, Limits: a.Engine.Limits()})
	}
	files := thinking.New(thinking.Config{Dialect: "wiki"})
	return importer.New(importer.Config{
		Engine: engine, Owner: cfg.Owner, Progress: cfg.Progress,
		Markdown: func(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Thought, error) {
			n := vault.ParseNote("", data)
			return files.FromNote(ctx, sequent.ID(cmp.Or(n.Front.Get("permalink"), name)), n)
		},
	})
}

// A rehearsal is a store in which everything seems to happen.
type rehearsal struct {
	sequent.Store
	stage *sequent.MemoryStore // what seems to have changed
}

// Load implements [sequent.Store].
func (r *rehearsal) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Thought, error) {
	h, log, err := r.stage.Load(ctx, k, have)
	if errors.Is(err, sequent.ErrNotFound) {
		return r.Store.Load(ctx, k, have)
	}
	return h, log, err
}

// Commit implements [sequent.Store].
func (r *rehearsal) Commit(ctx context.Context, batch []*sequent.Write) error {
	for _, w := range batch {
		k := w.Header.Key
		if _, _, err := r.stage.Load(ctx, k, sequent.Position{}); !errors.Is(err, sequent.ErrNotFound) {
			continue
		}
		h, log, err := r.Store.Load(ctx, k, sequent.Position{})
		if errors.Is(err, sequent.ErrNotFound) {
			continue
		}
		if err == nil {
			err = r.stage.Commit(ctx, []*sequent.Write{{Header: h, Thoughts: log}})
		}
		if err != nil {
			return err
		}
	}
	return r.stage.Commit(ctx, batch)
}

// Delete implements [sequent.Store]. What is deleted is gone from the stage; a
// session of the store that has expired is taken for gone in any case.
func (r *rehearsal) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	if err := r.stage.Delete(ctx, k, epoch); !errors.Is(err, sequent.ErrNotFound) {
		return err
	}
	return nil
}
