package command

import (
	"context"
	"fmt"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// stage shows the progress of a stage.
func (m *meter) stage(p index.Progress) { m.show(fmt.Sprintf("%s %d of %d", p.Stage, p.Done, p.Total)) }

func runVaultSync(p *program, ctx context.Context) (result, error) { return p.syncVault(ctx, false) }

func runVaultRebuild(p *program, ctx context.Context) (result, error) { return p.syncVault(ctx, true) }

func (p *program) syncVault(ctx context.Context, rebuild bool) (result, error) {
	v, err := p.openVault(ctx)
	if err != nil {
		return nil, err
	}
	m := p.newMeter()
	defer m.clear()
	r, err := v.Sync(ctx, rebuild, m.stage)
	return &synced{r}, err
}

// openVault opens the vault of the owner, which must exist.
func (p *program) openVault(ctx context.Context) (*vaults.Vault, error) {
	all, err := p.app.Vaults(false)
	if err != nil {
		return nil, err
	}
	return all.Existing(ctx, p.owner)
}

// A synced is what the synchronisation of a vault has changed.
type synced struct{ vaults.SyncReport }

func (s *synced) text(pg *page) {
	pg.say("%s (%d changed, %d removed)", printable.Count(s.Notes, "note", "notes"), s.Changed, s.Removed)
	pg.say("%s, %s, %d orphaned",
		printable.Count(s.Concepts, "concept", "concepts"), printable.Count(s.Relations, "relation", "relations"), s.Orphans)
	if s.Sessions > 0 {
		pg.say("%s repaired", printable.Count(s.Sessions, "session", "sessions"))
	}
	for _, problem := range s.Problems {
		pg.beside("- ", pg.one(problem), draw.Tag)
	}
}
