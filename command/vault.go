package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/internal/draw"
)

// stage shows the progress of a stage.
func (m *meter) stage(name string, done, total float64) {
	m.show(fmt.Sprintf("%s %.0f of %.0f", name, done, total))
}

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
func (p *program) openVault(ctx context.Context) (*wiki.Vault, error) {
	all, err := p.app.Vaults(false)
	if err != nil {
		return nil, err
	}
	return all.Existing(ctx, p.owner)
}

// A synced is what the synchronisation of a vault has changed.
type synced struct{ wiki.SyncReport }

func (s *synced) text(pg *page) {
	pg.say("%s (%d changed, %d removed)", draw.Count(s.Notes, "note", "notes"), s.Changed, s.Removed)
	pg.say("%s, %s, %d orphaned",
		draw.Count(s.Concepts, "concept", "concepts"), draw.Count(s.Relations, "relation", "relations"), s.Orphans)
	if s.Sessions > 0 {
		pg.say("%s repaired", draw.Count(s.Sessions, "session", "sessions"))
	}
	for _, problem := range s.Problems {
		pg.beside("- ", pg.one(problem), draw.Tag)
	}
}

// A vaultCheck is how sessions and notes differ.
type vaultCheck struct {
	OK       bool           `json:"ok"`
	Notes    int            `json:"notes"`
	Findings []wiki.Finding `json:"findings"`
}

func runVaultCheck(p *program, ctx context.Context) (result, error) {
	all, err := p.app.Vaults(false)
	if err != nil {
		return nil, err
	}
	notes, found, err := all.Check(ctx, p.owner)
	if err != nil {
		return nil, err
	}
	c := &vaultCheck{true, notes, append([]wiki.Finding{}, found...)}
	if slices.ContainsFunc(found, func(f wiki.Finding) bool { return f.Wrong }) {
		c.OK, err = false, errReported
	}
	return c, err
}

func (c *vaultCheck) text(pg *page) {
	mended := 0
	for _, f := range c.Findings {
		if f.Repairable {
			mended++
		}
		role := draw.Meta // the user's own edits
		if f.Wrong {
			role = draw.Text
		}
		pg.beside("- ", pg.one(f.Text), role)
	}
	checked := draw.Count(c.Notes, "note", "notes")
	switch {
	case len(c.Findings) == 0:
		pg.say("%s checked. No differences.", checked)
	case mended > 0:
		pg.say("%s checked. Run sequent vault sync to repair %s.", checked, draw.Count(mended, "difference", "differences"))
	default:
		pg.say("%s checked. There is nothing for sequent vault sync to repair.", checked)
	}
}
