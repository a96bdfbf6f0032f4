package command

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

// formats returns the export formats by name.
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
		Short: "Export a session as Markdown, JSON or a Mermaid diagram",
		Long: `Export a session as Markdown, as JSON with all its data, or as a Mermaid diagram. The ID can be shortened
to its first characters. Without an ID the latest session is exported.`,
		Example: "# the latest session as Markdown\nsequent export\n\n# the file name selects the format\nsequent export 7k3 -o session.json\n\n" +
			"# a diagram\nsequent export 7k3 --format mermaid",
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
				return invalid("format", format, "md, json or mermaid")
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				s, err := p.wanted(c, a, args)
				if err != nil {
					return err
				}
				return p.write(file, render(s))
			})
		},
	}
	c.Flags().StringVar(&format, "format", "", "output format: md, json or mermaid (default: by the extension of the file, otherwise md)")
	c.Flags().StringVarP(&file, "output", "o", "", "output file (default: standard output)")
	complete(c, "format", "md", "json", "mermaid")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	c.Flags().Lookup("json").Usage = "same as --format json"
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
