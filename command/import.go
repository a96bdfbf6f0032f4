package command

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
		Short: "Import sessions from exports and from files of other servers",
		Long: `Import sessions from files, and from all files in folders and their subfolders:

` + kinds() + `
The content of a file determines its format. Sessions keep their ids. A damaged file is reported and
skipped; then the exit code is 1. Importing a file again adds only the thoughts that are new in it. The
file - is standard input.

Sessions keep the owner that an export names, unless --owner sets another one.

--json prints one object per line: {"file", "kind", "outcome": "added", "extended", "unchanged" or
"failed", "session", "owner", "title", "thoughts", "warnings", "error": {code, message, fix}}. The last
line is {"summary": {"added", "extended", "unchanged", "failed", "passed"}, "dryRun"}; passed counts files
without a session.`,
		Example: "# sessions of a Maenifold folder, first as a dry run\nsequent import ~/maenifold --dry-run\nsequent import ~/maenifold\n\n" +
			"# sessions of sequentialthinking-plus or of sequent serve --dialect classic\nsequent import ~/Documents/thinking\n\n" +
			"# sessions of arben-adm's mcp-sequential-thinking\nsequent import ~/.mcp_sequential_thinking\n\n" +
			"# one session, from one store to another\nsequent export 7k3 --format json | sequent import - --store other.db",
		Args: arguments(1, -1, "files or folders"),
		RunE: func(c *cobra.Command, args []string) error {
			im := &importRun{program: p, meter: p.newMeter(), dryRun: dryRun}
			cfg := app.ImportConfig{DryRun: dryRun, Progress: im.progress}
			if c.Flags().Changed("owner") {
				cfg.Owner = &p.owner
			}
			open := app.Open
			if dryRun {
				open = app.OpenDryRun
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
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	c.Flags().Lookup("owner").Usage = "owner of the imported sessions: a token's subject (default: the owner in an export, otherwise you)"
	p.addWidthFlag(c)
	return c
}

// kinds lists the supported formats, one per line.
func kinds() string {
	var b strings.Builder
	for _, k := range importer.Kinds() {
		fmt.Fprintf(&b, "  - %s\n", k.Is)
	}
	return b.String()
}

// An importRun is one run of sequent import.
type importRun struct {
	*program
	meter  *meter
	dryRun bool
	sum    importer.Summary
	name   string // name to show for the current file; empty means its own
	err    error  // error of writing the output
}

func (im *importRun) run(ctx context.Context, from *importer.Importer, paths []string) error {
	for _, path := range paths {
		sum, err := im.path(ctx, from, path)
		im.sum.Added += sum.Added
		im.sum.Extended += sum.Extended
		im.sum.Unchanged += sum.Unchanged
		im.sum.Failed += sum.Failed
		im.sum.Passed += sum.Passed
		if sequent.CodeOf(err) == importer.CodeUnreadable { // continue with the other paths
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
		return errReported
	}
	return nil
}

// path imports a file, a folder, or standard input.
func (im *importRun) path(ctx context.Context, from *importer.Importer, path string) (importer.Summary, error) {
	im.name = ""
	if path == "-" {
		spool, err := im.spool(ctx)
		if err != nil {
			return importer.Summary{}, err
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

// progress shows the progress of reading a file.
func (im *importRun) progress(file string, read, size int64) {
	const largeFile = 4 << 20 // bytes; worth a percentage
	line := draw.Count(im.seen(), "file", "files") + "  "
	if size > largeFile {
		line += fmt.Sprintf("%d%%  ", read*100/size)
	}
	im.meter.show(line + cmp.Or(im.name, file))
}

func (im *importRun) seen() int {
	return im.sum.Added + im.sum.Extended + im.sum.Unchanged + im.sum.Failed + im.sum.Passed
}

// A jsonResult is an [importer.Result] in JSON output.
type jsonResult struct {
	File     string     `json:"file"`
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
func (im *importRun) report(r importer.Result) {
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
			c := newUserError(r.Err, "")
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

func (im *importRun) lines(r importer.Result) []draw.Line {
	o := im.drawing()
	word := draw.Span{Text: fmt.Sprintf("%-9s  ", r.Outcome), Role: draw.Meta}
	if r.Err != nil {
		word.Role = draw.Tag
		c := newUserError(r.Err, "")
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

// summary writes the counts of results.
func (im *importRun) summary() error {
	s := im.sum
	if im.json {
		return writeJSON(im.out, struct {
			Summary importer.Summary `json:"summary"`
			DryRun  bool             `json:"dryRun"`
		}{s, im.dryRun})
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
		text += fmt.Sprintf("; %s without a session skipped", draw.Count(s.Passed, "file", "files"))
	}
	if im.dryRun {
		text = "Dry run: " + text
	}
	return im.printf("%s.", text)
}
