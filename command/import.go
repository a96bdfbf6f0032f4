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
	files int
	sum   summary
	name  string // name to show for the current file; empty means its own
}

func runImport(p *program, ctx context.Context) (result, error) {
	im := &importRun{program: p, meter: p.newMeter(), sum: newSummary()}
	cfg := app.ImportConfig{DryRun: p.dryRun, Progress: im.progress}
	if p.cmd.Flags().Changed("owner") {
		cfg.Owner = &p.owner
	}
	from := p.app.Importer(cfg)
	for _, path := range p.args {
		err := im.path(ctx, from, path)
		if sequent.CodeOf(err) == archive.CodeUnreadable { // continue with the other paths
			im.report(archive.Result{File: path, Outcome: archive.Failed, Err: err})
			err = nil
		}
		im.meter.clear()
		if err != nil {
			return nil, err
		}
	}
	done := &imported{im.sum, p.dryRun, "file"}
	if im.sum[archive.Failed] > 0 {
		return done, errReported
	}
	return done, nil
}

// path imports a file, a folder, or standard input.
func (im *importRun) path(ctx context.Context, from *archive.Importer, path string) error {
	im.name = ""
	if path == "-" {
		spool, err := im.spool(ctx)
		if err != nil {
			return err
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
	im.meter.show(printable.Count(im.files, "file", "files") + "  " + cmp.Or(im.name, file))
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
	Error    *userError `json:"error,omitempty"`
}

// report counts and writes the result of a file. Text output omits unchanged files.
func (im *importRun) report(r archive.Result) {
	r.File = cmp.Or(im.name, r.File)
	im.files++
	im.sum[r.Outcome]++
	if r.Outcome != archive.Passed && (im.json || r.Outcome != archive.Unchanged) {
		im.meter.clear()
		im.printResult(newImportedFile(r))
	}
}

func newImportedFile(r archive.Result) *importedFile {
	return &importedFile{
		File: r.File, Kind: string(r.Kind), Outcome: string(r.Outcome), Session: string(r.Key.ID), Owner: r.Key.Owner,
		Title: r.Title, Thoughts: r.Thoughts, Error: reported(r.Err),
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
	Summary summary `json:"summary"`
	DryRun  bool    `json:"dryRun"`
	what    string  // is counted
}

// A summary counts files or sessions by what became of them.
type summary map[archive.Outcome]int

func newSummary() summary {
	return summary{archive.Added: 0, archive.Extended: 0, archive.Unchanged: 0, archive.Failed: 0, archive.Passed: 0}
}

func (i *imported) text(pg *page) {
	s := i.Summary
	text := printable.Count(s[archive.Added], "session", "sessions") + " added"
	for _, outcome := range []archive.Outcome{archive.Extended, archive.Unchanged} {
		if n := s[outcome]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, outcome)
		}
	}
	if n := s[archive.Failed]; n > 0 {
		text += "; " + printable.Count(n, i.what, i.what+"s") + " failed"
	}
	if n := s[archive.Passed]; n > 0 {
		text += "; " + printable.Count(n, "file", "files") + " without a session skipped"
	}
	if i.DryRun {
		text = "Dry run: " + text
	}
	pg.say("%s.", text)
}
