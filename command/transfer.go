package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sequent-dev/sequent"
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
	place, err := app.StoreFile(p.store)
	if err != nil {
		return nil, err
	}
	m := p.newMeter()
	done, err := sqlite.Backup(ctx, sqlite.BackupConfig{From: place.Path, To: p.args[0], Force: p.force, Progress: m.bytes("backed up")})
	m.clear()
	if err = place.At(err); err == nil && key != nil {
		err = app.SignFile(done.Path, key)
	}
	return &backup{place.String(), done, "Backed up %s to %s (%s)."}, err
}

func runRestore(p *program, ctx context.Context) (result, error) {
	place, err := app.StoreFile(p.store)
	if err != nil {
		return nil, err
	}
	m := p.newMeter()
	done, err := sqlite.Restore(ctx, sqlite.BackupConfig{From: p.args[0], To: place.Path, Force: p.force, Progress: m.bytes("restored")})
	m.clear()
	done.Path = p.args[0]
	return &backup{place.String(), done, "Restored %s from %s (%s)."}, err
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
	place, err := app.StoreFile(p.store)
	if err != nil {
		return nil, err
	}
	done := &compaction{Store: place.String()}
	m := p.newMeter()
	err = p.with(ctx, storeOnly, func() (err error) {
		done.Compaction, err = p.app.Compact(ctx, func(n int64) { m.show("compacting  %s on disk", mebibytes(n)) })
		m.clear()
		return err
	})
	return done, err
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
	all, err := p.app.Vaults()
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

func runImport(p *program, ctx context.Context) (result, error) {
	name := "" // to show for the current file; empty means its own
	done := &imported{newSummary(), "file"}
	from := p.app.Importer()
	if p.cmd.Flags().Changed("owner") {
		from.Owner = &p.owner
	}
	report := func(r archive.Result) { // text output omits unchanged files
		done.Summary[r.Outcome]++
		r.File = cmp.Or(name, r.File)
		if r.Outcome != archive.Passed && (p.json || r.Outcome != archive.Unchanged) {
			p.printResult(newImportedFile(r))
		}
	}
	for _, path := range p.args {
		name = ""
		if path == "-" {
			spool, err := p.spool(ctx)
			if err != nil {
				return nil, err
			}
			defer os.Remove(spool)
			name, path = "-", spool
		}
		err := from.Import(ctx, path, report)
		if sequent.CodeOf(err) == archive.CodeUnreadable { // continue with the other paths
			report(archive.Result{File: path, Outcome: archive.Failed, Err: err})
			err = nil
		}
		if err != nil {
			return nil, err
		}
	}
	if done.Summary[archive.Failed] > 0 {
		return done, exit(exitFailure)
	}
	return done, nil
}

// spool copies standard input to a file, because some readers need two passes.
func (p *program) spool(ctx context.Context) (name string, err error) {
	f, err := os.CreateTemp("", "sequent-import-*")
	if err != nil {
		return "", err
	}
	err = unlessCanceled(ctx, func() error {
		_, err := io.Copy(f, p.in)
		return err
	})
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// An importedFile is an [archive.Result] in JSON output, of an import or a copy.
type importedFile struct {
	File     string          `json:"file,omitempty"`
	Kind     archive.Kind    `json:"kind,omitempty"`
	Outcome  archive.Outcome `json:"outcome"`
	Session  sequent.ID      `json:"session,omitempty"`
	Owner    string          `json:"owner,omitempty"`
	Title    string          `json:"title,omitempty"`
	Thoughts int             `json:"thoughts"`
	Error    *userError      `json:"error,omitempty"`
}

func newImportedFile(r archive.Result) *importedFile {
	f := &importedFile{r.File, r.Kind, r.Outcome, r.Key.ID, r.Key.Owner, r.Title, r.Thoughts, nil}
	if r.Err != nil {
		f.Error = new(newUserError(r.Err, ""))
	}
	return f
}

func (f *importedFile) text(pg *page) {
	if f.Error != nil {
		what := strings.TrimPrefix(f.Error.Message, f.File+" ")
		switch {
		case f.File != "":
			what = f.File + ": " + what
		case f.Owner != "":
			what = "of " + f.Owner + ": " + what
		}
		pg.add(draw.Beside(draw.Line{{Text: "failed     ", Role: draw.Tag}}, printable.Line(what), draw.Text, pg.Options)...)
		if f.Error.Fix != "" {
			pg.beside("           ", printable.Line(f.Error.Fix), draw.Meta)
		}
		return
	}
	line := draw.Line{
		{Text: fmt.Sprintf("%-9s  ", f.Outcome), Role: draw.Meta},
		{Text: printable.Line(string(f.Session)) + "  ", Role: draw.Number},
		{Text: printable.Count(f.Thoughts, "thought", "thoughts") + "  ", Role: draw.Meta},
	}
	if f.Owner != "" {
		line = append(line, draw.Span{Text: "of " + printable.Line(f.Owner) + "  ", Role: draw.Label})
	}
	pg.add(draw.Cut(append(line, draw.Span{Text: printable.Line(f.Title), Role: draw.Title}), pg.Options))
}

// An imported is the end of an import or a copy.
type imported struct {
	Summary summary `json:"summary"`
	what    string  // is counted
}

// A summary counts files or sessions by what became of them.
type summary map[archive.Outcome]int

func newSummary() summary {
	return summary{archive.Added: 0, archive.Extended: 0, archive.Unchanged: 0, archive.Failed: 0, archive.Passed: 0}
}

func (i *imported) text(pg *page) {
	s := i.Summary
	var text strings.Builder
	text.WriteString(printable.Count(s[archive.Added], "session", "sessions") + " added")
	for _, outcome := range []archive.Outcome{archive.Extended, archive.Unchanged} {
		if n := s[outcome]; n > 0 {
			text.WriteString(fmt.Sprintf(", %d %s", n, outcome))
		}
	}
	if n := s[archive.Failed]; n > 0 {
		text.WriteString("; " + printable.Count(n, i.what, i.what+"s") + " failed")
	}
	if n := s[archive.Passed]; n > 0 {
		text.WriteString("; " + printable.Count(n, "file", "files") + " without a session skipped")
	}
	pg.say("%s.", text.String())
}
