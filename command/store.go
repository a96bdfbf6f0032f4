package command

import (
	"context"
	"fmt"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/store/sqlite"
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
	done, err := app.Backup(ctx, p.store, sqlite.BackupConfig{To: p.args[0], Force: p.force, Progress: m.share("backed up")})
	m.clear()
	if err == nil {
		err = p.signFile(done.Path, key)
	}
	return p.backedUp(done, "Backed up %s to %s (%s).", err)
}

func runRestore(p *program, ctx context.Context) (result, error) {
	m := p.newMeter()
	done, err := app.Restore(ctx, p.store, sqlite.BackupConfig{From: p.args[0], Force: p.force, Progress: m.share("restored")})
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
	pg.say(b.format, b.Store, pg.one(b.Path), fmt.Sprintf("%s, %s, %s", printable.Count(b.Sessions, "session", "sessions"),
		printable.Count(b.Thoughts, "thought", "thoughts"), mebibytes(b.Bytes)))
}

// share returns a function that shows what share of a number of bytes is done.
func (m *meter) share(what string) func(done, total int64) {
	return func(done, total int64) {
		m.show(fmt.Sprintf("%s of %s %s", mebibytes(done), mebibytes(max(done, total)), what))
	}
}

// mebibytes formats a size in bytes.
func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// A compaction is what sequent store compact has done.
type compaction struct {
	Store string `json:"store"`
	sqlite.Compaction
}

func runCompact(p *program, ctx context.Context) (result, error) {
	m := p.newMeter()
	done, err := app.Compact(ctx, p.config(), func(n int64) { m.show("compacting  " + mebibytes(n) + " on disk") })
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
	m := p.newMeter()
	done := &imported{newSummary(), false, "session"}
	sessions, thoughts := 0, 0
	err := app.Copy(ctx, p.config(), p.to, func(r archive.Result) {
		sessions++
		done.Summary[r.Outcome]++
		if r.Outcome != archive.Failed && r.Outcome != archive.Unchanged {
			thoughts += r.Thoughts
		}
		m.show(fmt.Sprintf("%s  %s copied", printable.Count(sessions, "session", "sessions"), printable.Count(thoughts, "thought", "thoughts")))
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
		err = errReported
	}
	return done, err
}
