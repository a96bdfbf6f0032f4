package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// formats are what a session can be exported as, by name.
func formats() map[string]func(*sequent.Session) string {
	return map[string]func(*sequent.Session) string{
		"md":      archive.Markdown,
		"json":    func(s *sequent.Session) string { return string(archive.JSON(s)) },
		"mermaid": archive.Mermaid,
	}
}

func (p *program) export() *cobra.Command {
	var format, file string
	c := &cobra.Command{
		Use:   "export [ID]",
		Short: "Write a session as Markdown, JSON or a Mermaid diagram",
		Long: `Write a session as Markdown for people, as JSON with all that is known of it for programs, or as a
Mermaid diagram. Without an ID it is the session that changed last; the beginning of an ID will do.`,
		Example: "sequent export --format md\n\n# the name of the file tells the format\nsequent export 7k3 -o session.json\n\n" +
			"sequent export 7k3 --format mermaid -o session.mmd",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			if p.json {
				format = "json"
			}
			if format == "" {
				format = formatOf(file)
			}
			render, ok := formats()[format]
			if !ok {
				return usagef("--format cannot be %q, only md, json or mermaid", format)
			}
			return p.reading(c.Context(), func(a *app.App) error {
				s, err := p.wanted(c, a, args)
				if err != nil {
					return err
				}
				return p.write(file, render(s))
			})
		},
	}
	c.Flags().StringVar(&format, "format", "", "`FORMAT` md, json or mermaid (default: what the name of the file says, or md)")
	c.Flags().StringVarP(&file, "output", "o", "", "write to a `FILE` instead of standard output")
	complete(c, "format", "md", "json", "mermaid")
	p.asJSON(c)
	p.hasOwner(c)
	c.Flags().Lookup("json").Usage = "the same as --format json"
	return c
}

func formatOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return "json"
	case ".mmd", ".mermaid":
		return "mermaid"
	}
	return "md"
}

// write writes a document to a file that only this user can read, or to standard
// output. A terminal gets nothing from it but text.
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
