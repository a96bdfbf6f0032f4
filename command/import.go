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
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

func runImport(p *program, ctx context.Context) (result, error) {
	m, files := p.newMeter(), 0
	name := "" // to show for the current file; empty means its own
	done := &imported{newSummary(), "file"}
	from := p.app.Importer()
	from.Progress = func(file string) {
		m.show("%s  %s", printable.Count(files, "file", "files"), cmp.Or(name, file))
	}
	if p.cmd.Flags().Changed("owner") {
		from.Owner = &p.owner
	}
	report := func(r archive.Result) { // text output omits unchanged files
		files++
		done.Summary[r.Outcome]++
		r.File = cmp.Or(name, r.File)
		if r.Outcome != archive.Passed && (p.json || r.Outcome != archive.Unchanged) {
			m.clear()
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
		if m.clear(); err != nil {
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
	pg.say("%s.", text)
}
