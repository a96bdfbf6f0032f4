package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) importFiles() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Bring in sessions from files: of other servers, or exports of this one",
		Long: `Bring in sessions from files, and from all files below folders:

` + kinds() + `
What a file is shows in its content. A session keeps its id. A damaged file is reported and left out,
the rest goes on, and the exit code is 1. Importing again changes nothing, and brings what a file has
gained since. A - stands for standard input.

The owner is the one that an export names; --owner says another.

With --json, one object a line: {"file", "kind", "outcome": "added", "extended", "unchanged" or "failed",
"session", "owner", "title", "thoughts", "warnings", "error": {code, message, fix}}, and at the end
{"summary": {"added", "extended", "unchanged", "failed", "passed"}, "dryRun"}.`,
		Example: "# the sessions of a Maenifold folder, first without doing anything\nsequent import ~/maenifold --dry-run\nsequent import ~/maenifold\n\n" +
			"# of sequentialthinking-plus, or of sequent serve --dialect classic\nsequent import ~/Documents/thinking\n\n" +
			"# of arben-adm's mcp-sequential-thinking\nsequent import ~/.mcp_sequential_thinking\n\n" +
			"# from one store into another\nsequent export 7k3 --format json | sequent import - --store other.db",
		Args: arguments(1, -1, "files or folders"),
		RunE: func(c *cobra.Command, args []string) error {
			im := &importing{program: p, meter: p.newMeter(), dryRun: dryRun}
			cfg := app.ImportConfig{DryRun: dryRun, Progress: im.progress}
			if c.Flags().Changed("owner") {
				cfg.Owner = &p.owner
			}
			open := app.Open
			if dryRun {
				open = app.OpenExisting // which makes nothing
			}
			a, err := open(c.Context(), p.config())
			if err != nil {
				return err
			}
			err = im.run(c.Context(), a.Importer(cfg), args)
			return errors.Join(err, a.Close())
		},
	}
	c.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "report what would be imported without changing the store")
	p.asJSON(c)
	p.hasOwner(c)
	c.Flags().Lookup("owner").Usage = "make them the sessions of a `SUBJECT` of sequent serve --auth (default: what an export says, else your own)"
	p.hasWidth(c)
	return c
}

// kinds lists what can be imported, a line each.
func kinds() string {
	var b strings.Builder
	for _, k := range importer.Kinds() {
		fmt.Fprintf(&b, "  - %s\n", k.Is)
	}
	return b.String()
}

// An importing is one run of sequent import.
type importing struct {
	*program
	meter  *meter
	dryRun bool
	sum    importer.Summary
	name   string // shown for the file that is read, if it is not its own
	err    error  // of the output
}

func (im *importing) run(ctx context.Context, from *importer.Importer, paths []string) error {
	for _, path := range paths {
		sum, err := im.path(ctx, from, path)
		im.sum.Added += sum.Added
		im.sum.Extended += sum.Extended
		im.sum.Unchanged += sum.Unchanged
		im.sum.Failed += sum.Failed
		im.sum.Passed += sum.Passed
		if sequent.CodeOf(err) == importer.CodeUnreadable { // the others may do
			im.sum.Failed++
			im.report(importer.Result{File: path, Outcome: importer.Failed, Err: err})
			err = nil
		}
		im.meter.clear()
		if err := errors.Join(err, im.err); err != nil {
			return err
		}
	}
	if err := im.summary(); err != nil {
		return err
	}
	if im.sum.Failed > 0 {
		return errQuiet
	}
	return nil
}

// path imports a file, a folder, or standard input.
func (im *importing) path(ctx context.Context, from *importer.Importer, path string) (importer.Summary, error) {
	im.name = ""
	if path == "-" {
		spool, err := im.spool()
		if err != nil {
			return importer.Summary{}, err
		}
		defer os.Remove(spool)
		im.name, path = "-", spool
	}
	return from.Import(ctx, path, im.report)
}

// spool copies standard input to a file, as a reader may have to look twice.
func (im *importing) spool() (name string, err error) {
	f, err := os.CreateTemp("", "sequent-import-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, im.in)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// progress shows how far the reading of a file is.
func (im *importing) progress(file string, read, size int64) {
	const worth = 4 << 20 // bytes that take a while
	line := draw.Count(im.seen(), "file", "files") + "  "
	if size > worth {
		line += fmt.Sprintf("%d%%  ", read*100/size)
	}
	im.meter.show(line + cmp.Or(im.name, file))
}

func (im *importing) seen() int {
	return im.sum.Added + im.sum.Extended + im.sum.Unchanged + im.sum.Failed + im.sum.Passed
}

// A jsonResult is what became of a file.
type jsonResult struct {
	File     string     `json:"file"`
	Kind     string     `json:"kind,omitempty"`
	Outcome  string     `json:"outcome"`
	Session  string     `json:"session,omitempty"`
	Owner    string     `json:"owner,omitempty"`
	Title    string     `json:"title,omitempty"`
	Thoughts int        `json:"thoughts"`
	Warnings []string   `json:"warnings,omitempty"`
	Error    *complaint `json:"error,omitempty"`
}

// A jsonSummary is an [importer.Summary].
type jsonSummary struct {
	Added     int `json:"added"`
	Extended  int `json:"extended"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
	Passed    int `json:"passed"`
}

// report tells what became of a file. For people, files of which the store had
// everything are counted only.
func (im *importing) report(r importer.Result) {
	if im.err != nil {
		return
	}
	r.File = cmp.Or(im.name, r.File)
	if im.json {
		out := jsonResult{
			File: r.File, Kind: string(r.Kind), Outcome: string(r.Outcome), Session: string(r.Key.ID), Owner: r.Key.Owner,
			Title: r.Title, Thoughts: r.Thoughts, Warnings: r.Warnings,
		}
		if r.Err != nil {
			c := complain(r.Err, "")
			out.Error = &c
		}
		im.err = writeJSON(im.out, out)
		return
	}
	if r.Outcome == importer.Unchanged && len(r.Warnings) == 0 {
		return
	}
	im.meter.clear()
	im.err = im.print(im.lines(r)...)
}

func (im *importing) lines(r importer.Result) []draw.Line {
	o := im.drawing()
	word := draw.Span{Text: fmt.Sprintf("%-9s  ", r.Outcome), Role: draw.Meta}
	if r.Err != nil {
		word.Role = draw.Tag
		c := complain(r.Err, "")
		lines := draw.Beside(draw.Line{word}, draw.One(r.File, o.Charset)+": "+draw.One(strings.TrimPrefix(c.Message, r.File+" "), o.Charset), draw.Text, o)
		if c.Fix != "" {
			lines = append(lines, draw.Beside(draw.Line{{Text: "           "}}, draw.One(c.Fix, o.Charset), draw.Meta, o)...)
		}
		return lines
	}
	line := draw.Line{
		word,
		{Text: draw.One(string(r.Key.ID), o.Charset) + "  ", Role: draw.Number},
		{Text: draw.Count(r.Thoughts, "thought", "thoughts") + "  ", Role: draw.Meta},
	}
	if r.Key.Owner != "" {
		line = append(line, draw.Span{Text: "of " + draw.One(r.Key.Owner, o.Charset) + "  ", Role: draw.Label})
	}
	lines := []draw.Line{draw.Cut(append(line, draw.Span{Text: draw.One(r.Title, o.Charset), Role: draw.Title}), o)}
	for _, w := range r.Warnings {
		lines = append(lines, draw.Beside(draw.Line{{Text: "           "}}, draw.One(r.File, o.Charset)+": "+w, draw.Meta, o)...)
	}
	return lines
}

// summary says it in numbers.
func (im *importing) summary() error {
	s := im.sum
	if im.json {
		return writeJSON(im.out, struct {
			Summary jsonSummary `json:"summary"`
			DryRun  bool        `json:"dryRun"`
		}{jsonSummary(s), im.dryRun})
	}
	text := draw.Count(s.Added, "session", "sessions") + " added"
	if s.Extended > 0 {
		text += fmt.Sprintf(", %d extended", s.Extended)
	}
	if s.Unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", s.Unchanged)
	}
	if s.Failed > 0 {
		text += fmt.Sprintf("; %s failed", draw.Count(s.Failed, "file", "files"))
	}
	if s.Passed > 0 {
		text += fmt.Sprintf("; %s without a session passed over", draw.Count(s.Passed, "file", "files"))
	}
	if im.dryRun {
		text = "Nothing was done. It would be: " + text
	}
	return im.say("%s.", text)
}
