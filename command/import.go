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
)

// An importRun is one run of sequent import.
type importRun struct {
	*program
	meter *meter
	sum   archive.Summary
	name  string // name to show for the current file; empty means its own
}

func runImport(p *program, ctx context.Context) (result, error) {
	im := &importRun{program: p, meter: p.newMeter()}
	cfg := app.ImportConfig{DryRun: p.dryRun, Progress: im.progress}
	if p.cmd.Flags().Changed("owner") {
		cfg.Owner = &p.owner
	}
	from := p.app.Importer(cfg)
	for _, path := range p.args {
		sum, err := im.path(ctx, from, path)
		im.sum.Added += sum.Added
		im.sum.Extended += sum.Extended
		im.sum.Unchanged += sum.Unchanged
		im.sum.Failed += sum.Failed
		im.sum.Passed += sum.Passed
		if sequent.CodeOf(err) == archive.CodeUnreadable { // continue with the other paths
			im.sum.Failed++
			im.report(archive.Result{File: path, Outcome: archive.Failed, Err: err})
			err = nil
		}
		im.meter.clear()
		if err != nil {
			return nil, err
		}
	}
	done := &imported{im.sum, p.dryRun, "file"}
	if im.sum.Failed > 0 {
		return done, errReported
	}
	return done, nil
}

// path imports a file, a folder, or standard input.
func (im *importRun) path(ctx context.Context, from *archive.Importer, path string) (archive.Summary, error) {
	im.name = ""
	if path == "-" {
		spool, err := im.spool(ctx)
		if err != nil {
			return archive.Summary{}, err
		}
		defer os.Remove(spool)
		im.name, path = "-", spool
	}
	return from.Import(ctx, path, im.report)
}

// spool copies standard input to a file, because some readers need two passes.
func (im *importRun) spool(ctx context.Context) (name string, err error) {
	f, err := os.CreateTemp("", "sequent-import-*")
	if err != nil {
		return "", err
	}
	// A read of standard input cannot be interrupted. After a cancellation the
	// goroutine ends with the program.
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, im.in)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = &sequent.Error{Code: sequent.CodeCanceled, Msg: "the import was canceled", Err: ctx.Err()}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// progress shows which file is read.
func (im *importRun) progress(file string) {
	n := im.sum.Added + im.sum.Extended + im.sum.Unchanged + im.sum.Failed + im.sum.Passed
	im.meter.show(printable.Count(n, "file", "files") + "  " + cmp.Or(im.name, file))
}

// An importedFile is an [archive.Result] in JSON output, of an import or a copy.
type importedFile struct {
	File     string     `json:"file,omitempty"`
	Kind     string     `json:"kind,omitempty"`
	Outcome  string     `json:"outcome"`
	Session  string     `json:"session,omitempty"`
	Owner    string     `json:"owner,omitempty"`
	Title    string     `json:"title,omitempty"`
	Thoughts int        `json:"thoughts"`
	Warnings []string   `json:"warnings,omitempty"`
	Error    *userError `json:"error,omitempty"`
}

// report writes the result of a file. Text output omits unchanged files without
// warnings.
func (im *importRun) report(r archive.Result) {
	r.File = cmp.Or(im.name, r.File)
	if im.json || r.Outcome != archive.Unchanged || len(r.Warnings) > 0 {
		im.meter.clear()
		im.printResult(newImportedFile(r))
	}
}

func newImportedFile(r archive.Result) *importedFile {
	return &importedFile{
		File: r.File, Kind: string(r.Kind), Outcome: string(r.Outcome), Session: string(r.Key.ID), Owner: r.Key.Owner,
		Title: r.Title, Thoughts: r.Thoughts, Warnings: r.Warnings, Error: reported(r.Err),
	}
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
		pg.notDone(what, f.Error.Fix)
		return
	}
	line := draw.Line{
		{Text: fmt.Sprintf("%-9s  ", f.Outcome), Role: draw.Meta},
		{Text: pg.one(f.Session) + "  ", Role: draw.Number},
		{Text: printable.Count(f.Thoughts, "thought", "thoughts") + "  ", Role: draw.Meta},
	}
	if f.Owner != "" {
		line = append(line, draw.Span{Text: "of " + pg.one(f.Owner) + "  ", Role: draw.Label})
	}
	pg.add(draw.Cut(append(line, draw.Span{Text: pg.one(f.Title), Role: draw.Title}), pg.Options))
	for _, w := range f.Warnings {
		pg.beside("           ", pg.one(f.File)+": "+w, draw.Meta)
	}
}

// reported returns an error as a part of JSON output; nil for none.
func reported(err error) *userError {
	if err == nil {
		return nil
	}
	return new(newUserError(err, ""))
}

// notDone adds what could not be done and why, as a row of several.
func (pg *page) notDone(what, fix string) {
	pg.add(draw.Beside(draw.Line{{Text: "failed     ", Role: draw.Tag}}, pg.one(what), draw.Text, pg.Options)...)
	if fix != "" {
		pg.beside("           ", pg.one(fix), draw.Meta)
	}
}

// An imported is the end of an import or a copy.
type imported struct {
	Summary archive.Summary `json:"summary"`
	DryRun  bool            `json:"dryRun"`
	what    string          // is counted
}

func (i *imported) text(pg *page) {
	s := i.Summary
	text := printable.Count(s.Added, "session", "sessions") + " added"
	if s.Extended > 0 {
		text += fmt.Sprintf(", %d extended", s.Extended)
	}
	if s.Unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", s.Unchanged)
	}
	if s.Failed > 0 {
		text += "; " + printable.Count(s.Failed, i.what, i.what+"s") + " failed"
	}
	if s.Passed > 0 {
		text += "; " + printable.Count(s.Passed, "file", "files") + " without a session skipped"
	}
	if i.DryRun {
		text = "Dry run: " + text
	}
	pg.say("%s.", text)
}
