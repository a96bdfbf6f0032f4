package command

import (
	"context"
	"fmt"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// A backup is what sequent store backup or restore has copied.
type backup struct {
	Store string `json:"store"`
	sqlite.Copied
	format string // of the store, the file and what is in it
}

func runBackup(p *program, ctx context.Context) (result, error) {
	key, err := p.signer(p.args[0])
	if err != nil {
		return nil, err
	}
	m := p.newMeter()
	done, err := app.Backup(ctx, p.store, sqlite.BackupConfig{To: p.args[0], Force: p.force, Progress: m.bytes("backed up")})
	m.clear()
	if err == nil && key != nil {
		err = app.SignFile(done.Path, key)
	}
	return p.backedUp(done, "Backed up %s to %s (%s).", err)
}

func runRestore(p *program, ctx context.Context) (result, error) {
	m := p.newMeter()
	done, err := app.Restore(ctx, p.store, sqlite.BackupConfig{From: p.args[0], Force: p.force, Progress: m.bytes("restored")})
	m.clear()
	done.Path = p.args[0]
	return p.backedUp(done, "Restored %s from %s (%s).", err)
}

func (p *program) backedUp(done sqlite.Copied, format string, err error) (result, error) {
	if err != nil {
		return nil, err
	}
	place, err := app.Locate(p.store)
	return &backup{place.String(), done, format}, err
}

func (b *backup) text(pg *page) {
	pg.say(b.format, b.Store, printable.Line(b.Path), fmt.Sprintf("%s, %s, %s", printable.Count(b.Sessions, "session", "sessions"),
		printable.Count(b.Thoughts, "thought", "thoughts"), mebibytes(b.Bytes)))
}

// A compaction is what sequent store compact has done.
type compaction struct {
	Store string `json:"store"`
	sqlite.Compaction
}

func runCompact(p *program, ctx context.Context) (result, error) {
	m := p.newMeter()
	done, err := app.Compact(ctx, p.config(), func(n int64) { m.show("compacting  %s on disk", mebibytes(n)) })
	m.clear()
	if err != nil {
		return nil, err
	}
	place, err := app.Locate(p.store)
	return &compaction{place.String(), done}, err
}

func (c *compaction) text(pg *page) {
	pg.say("Compacted %s from %s to %s.", c.Store, mebibytes(c.Before), mebibytes(c.After))
	pg.erased(c.Residue, false)
}

func runCopy(p *program, ctx context.Context) (result, error) {
	if p.to == "" {
		return nil, misuse(p.cmd, "%s requires --to", p.cmd.CommandPath())
	}
	m, sessions := p.newMeter(), 0
	done := &imported{newSummary(), "session"}
	err := app.Copy(ctx, p.config(), p.to, func(r archive.Result) {
		sessions++
		done.Summary[r.Outcome]++
		m.show("%s copied", printable.Count(sessions, "session", "sessions"))
		if r.Outcome == archive.Failed || p.json && r.Outcome != archive.Unchanged {
			m.clear()
			p.printResult(newImportedFile(r))
		}
	})
	m.clear()
	switch {
	case err != nil && sessions > 0:
		p.printResult(done)
		return nil, err
	case err == nil && done.Summary[archive.Failed] > 0:
		err = exit(exitFailure)
	}
	return done, err
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
		pg.beside("- ", printable.Line(problem), draw.Tag)
	}
}
