package app

import (
	"context"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// Importer returns an importer of session files into the store.
func (a *App) Importer() *archive.Importer {
	return &archive.Importer{
		Engine: a.Engine,
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
