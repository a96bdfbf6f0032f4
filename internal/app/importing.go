package app

import (
	"context"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
	"github.com/sequent-dev/sequent/internal/transfer"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// An ImportConfig configures an import.
type ImportConfig struct {
	DryRun   bool    // report without changing the store
	Owner    *string // owner of the sessions; nil keeps the owner in the file
	Progress func(file string, read, size int64)
}

// Importer returns an importer of session files into the store.
func (a *App) Importer(cfg ImportConfig) *importer.Importer {
	engine := a.Engine
	if cfg.DryRun && a.store != nil {
		engine = sequent.New(sequent.Config{Store: transfer.DryRun(a.store), Limits: a.Engine.Limits()})
	}
	files := thinking.New(thinking.Config{Dialect: "wiki"})
	return importer.New(importer.Config{
		Engine: engine, Owner: cfg.Owner, Progress: cfg.Progress,
		Markdown: func(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Thought, error) {
			n := vault.ParseNote("", data)
			id := sequent.ID(n.Front.Get("permalink"))
			if !thinking.ValidID(id) { // a person may have written anything
				id = sequent.ID(name)
			}
			return files.FromNote(ctx, id, n)
		},
	})
}
