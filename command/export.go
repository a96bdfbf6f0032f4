package command

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/redact"
	"github.com/sequent-dev/sequent/web"
)

// A rendering returns a session as a file. Found is what was masked in it.
type rendering func(s *sequent.Session, found []redact.Finding) string

// formats returns the export formats of a snapshot by name; nil is the log in JSON.
func formats() map[string]rendering {
	return map[string]rendering{
		"md":          func(s *sequent.Session, _ []redact.Finding) string { return archive.Markdown(s) },
		"json":        nil,
		formatMermaid: func(s *sequent.Session, _ []redact.Finding) string { return archive.Mermaid(s) },
		"html":        func(s *sequent.Session, found []redact.Finding) string { return string(web.Replay(s, found)) },
	}
}

func (p *program) export() *cobra.Command {
	var x exporting
	c := &cobra.Command{
		Use:   "export [ID]",
		Short: "Export a session as Markdown, a web page, JSON or a Mermaid diagram",
		Long: `Export a session as Markdown, as JSON with all its data, as a Mermaid diagram, or as one HTML file, which
shows and replays it in any browser without a network. The ID can be shortened to its first characters.
Without an ID the latest session is exported. sequent verify checks an export in JSON. A diagram of a session for which Mermaid's limits of 500 edges and 50,000 characters do not suffice has
runs of thoughts folded into one node each, and says so.

--redact and --redact-secrets replace texts by [redacted] in every field of the session, and list on
standard error what was replaced where; with --json as {"redacted": [{"session", "thought", "field",
"pattern", "count"}]}. A text that is found once is replaced everywhere. If the expression has a group,
only the group is replaced. The export still verifies: docs/proof.md says what it proves.`,
		Example: "# the latest session as Markdown\nsequent export\n\n# the file name selects the format\nsequent export 7k3 -o session.json\n\n" +
			"# a page that can be sent\nsequent export 7k3 -o session.html\n\n# a diagram\nsequent export 7k3 --format mermaid\n\n" +
			"# without keys and mail addresses\nsequent export 7k3 -o session.json --redact-secrets --redact '[\\w.]+@[\\w.]+'",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			if p.json {
				x.format = "json"
			}
			if x.format == "" {
				x.format = formatOf(x.file)
			}
			if _, ok := formats()[x.format]; !ok {
				return invalid("format", x.format, "md, html, json or mermaid")
			}
			patterns, err := x.patterns()
			if err != nil {
				return err
			}
			if x.key, err = p.signer(x.file); err != nil {
				return err
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				if err := p.checkOwner(c.Context(), a); err != nil {
					return err
				}
				s, err := p.wanted(c.Context(), a.Engine, args)
				if err != nil {
					return err
				}
				return p.writeExport(c.Context(), a.Engine, s, x, patterns)
			})
		},
	}
	c.Flags().StringVar(&x.format, "format", "", "output format: md, html, json or mermaid (default: by the extension of the file, otherwise md)")
	c.Flags().StringVarP(&x.file, "output", "o", "", "output file (default: standard output)")
	x.addRedactFlags(c)
	complete(c, "format", "md", "html", "json", "mermaid")
	p.addSignFlag(c)
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addServerFlag(c)
	p.addProjectFlags(c)
	c.Flags().Lookup("json").Usage = "same as --format json"
	return c
}

// An exporting has the flags of sequent export.
type exporting struct {
	format  string
	file    string
	redact  []string
	secrets bool
	key     ed25519.PrivateKey // to sign the file with; nil for none
}

// addRedactFlags adds the flags that say what is masked.
func (x *exporting) addRedactFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&x.redact, "redact", nil, "regular expression of texts to mask; can be repeated")
	c.Flags().BoolVar(&x.secrets, "redact-secrets", false, "mask keys, tokens and passwords of known forms")
}

// patterns returns the patterns of texts to mask.
func (x *exporting) patterns() ([]redact.Pattern, error) {
	var patterns []redact.Pattern
	for i, text := range x.redact {
		expr, err := regexp.Compile(text)
		if err != nil {
			return nil, &usageError{msg: fmt.Sprintf("invalid value for --redact: %v", err), fix: "use the syntax of Go's regular expressions, RE2"}
		}
		patterns = append(patterns, redact.Pattern{Name: fmt.Sprintf("--redact %d", i+1), Expr: expr}) // it may be the secret itself
	}
	if x.secrets {
		patterns = append(patterns, redact.Secrets()...)
	}
	return patterns, nil
}

// writeExport writes a session.
func (p *program) writeExport(ctx context.Context, e *sequent.Engine, s *sequent.Session, x exporting, patterns []redact.Pattern) error {
	render := formats()[x.format]
	if render != nil && len(patterns) == 0 {
		return p.writeSigned(x, s.Header(), p.rendered(s, render, x.format, nil))
	}
	h, entries, err := e.Entries(ctx, s.ID())
	if err != nil {
		return err
	}
	var found []redact.Finding
	if len(patterns) > 0 {
		if h, entries, found, err = redact.Session(h, entries, patterns); err != nil {
			return err
		}
		if err := p.reportRedacted(h.ID, found); err != nil {
			return err
		}
	}
	if render == nil {
		return p.writeSigned(x, h, string(archive.Log(h, entries)))
	}
	if s, err = redact.Snapshot(ctx, h, entries); err != nil {
		return err
	}
	return p.writeSigned(x, h, p.rendered(s, render, x.format, found))
}

// rendered returns an export, and says on standard error what a diagram lacks.
func (p *program) rendered(s *sequent.Session, render rendering, format string, found []redact.Finding) string {
	if format != formatMermaid {
		return render(s, found)
	}
	chart, folded := archive.MermaidFolded(s)
	if folded > 0 {
		fmt.Fprintf(p.err, "%d of %d thoughts are folded into runs: Mermaid draws at most 500 edges and 50,000 characters.\n  Pass --format md or json for every thought.\n", folded, s.Len())
	}
	return chart
}

// formatMermaid is the name of the format of diagrams.
const formatMermaid = "mermaid"

// writeSigned writes an export, and its signature if there is a key.
func (p *program) writeSigned(x exporting, h sequent.Header, text string) error {
	if err := p.write(x.file, text); err != nil {
		return err
	}
	return p.signFile(x.file, h, x.key)
}

// reportRedacted lists on standard error what was masked.
func (p *program) reportRedacted(id sequent.ID, found []redact.Finding) error {
	if p.json {
		type finding struct {
			Session string `json:"session"`
			redact.Finding
		}
		list := make([]finding, len(found))
		for i := range found {
			list[i] = finding{string(id), found[i]}
		}
		return writeJSON(p.err, struct {
			Redacted []finding `json:"redacted"`
		}{list})
	}
	total := 0
	for _, f := range found {
		where := "session " + draw.One(string(id), p.charset())
		if f.Thought > 0 {
			where += fmt.Sprintf(", thought %d", f.Thought)
		}
		fmt.Fprintf(p.err, "redacted  %s, %s: %s, %d×\n", where, draw.One(f.Field, p.charset()), f.Pattern, f.Count)
		total += f.Count
	}
	_, err := fmt.Fprintf(p.err, "%s redacted.\n", draw.Count(total, "text", "texts"))
	return err
}

func formatOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return "json"
	case ".html", ".htm":
		return "html"
	case ".mmd", ".mermaid":
		return formatMermaid
	}
	return "md"
}

// write writes a document to a file with mode 0600, or to standard output. For a
// terminal it replaces control characters.
func (p *program) write(file, text string) error {
	if file != "" && file != "-" {
		return os.WriteFile(file, []byte(text), 0o600)
	}
	if isTerminal(p.out) {
		text = strings.Join(draw.Lines(text, p.charset()), "\n")
	}
	_, err := io.WriteString(p.out, text)
	return err
}
