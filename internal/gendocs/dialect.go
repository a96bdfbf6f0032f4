package gendocs

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// Dialect returns the reference page of a dialect. The example, one of the
// dialect's test transcripts, is its last section.
func Dialect(d dialect.Dialect, example []byte) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Dialect `%s`\n\n%s\n\n", d.Name, sentence(d.Summary))
	if d.Instructions != "" {
		fmt.Fprintf(&b, "Instructions that a model receives when it connects:\n\n%s\n", quote(d.Instructions))
	}
	for _, t := range d.Tools {
		if err := toolSection(&b, t.Spec); err != nil {
			return "", fmt.Errorf("%s: %s: %w", d.Name, t.Name, err)
		}
	}
	var docs [][]string
	for _, r := range d.Resources {
		docs = append(docs, []string{"`" + r.URI + "`", r.MIME, cell(r.Description)})
	}
	for _, t := range d.Templates {
		docs = append(docs, []string{"`" + t.URI + "`", t.MIME, cell(t.Description)})
	}
	if docs != nil {
		b.WriteString("## Resources\n\n")
		table(&b, []string{"URI", "Type", "Content"}, docs)
	}
	var prompts [][]string
	for _, p := range d.Prompts {
		var args []string
		for _, a := range p.Arguments {
			s := "`" + a.Name + "`"
			if !a.Required {
				s += " (optional)"
			}
			args = append(args, s)
		}
		prompts = append(prompts, []string{"`" + p.Name + "`", strings.Join(args, ", "), cell(p.Description)})
	}
	if prompts != nil {
		b.WriteString("## Prompts\n\n")
		table(&b, []string{"Name", "Arguments", "Description"}, prompts)
	}
	fmt.Fprintf(&b, "## Example\n\nOne of the transcripts that test this dialect.\n\n```\n%s\n```\n",
		strings.TrimSpace(withoutCovers(string(example))))
	return b.String(), nil
}

func quote(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}

func toolSection(b *strings.Builder, s tool.Spec) error {
	fmt.Fprintf(b, "## Tool `%s`\n\n", s.Name)
	if s.Title != "" {
		fmt.Fprintf(b, "%s: %s.\n\n", s.Title, hints(s.Annotations))
	}
	fmt.Fprintf(b, "%s\n", quote(s.Description))
	in, err := readSchema(s.InputSchema)
	if err != nil {
		return err
	}
	b.WriteString("### Arguments\n\n")
	var rows [][]string
	for _, p := range in.properties {
		rows = append(rows, []string{"`" + p.name + "`", p.what(), yes(in.requires(p.name)), cell(p.Description)})
	}
	table(b, []string{"Name", "Type", "Required", "Meaning"}, rows)
	if s.OutputSchema == nil {
		return nil
	}
	out, err := readSchema(s.OutputSchema)
	if err != nil {
		return err
	}
	b.WriteString("### Reply\n\n")
	rows = nil
	for _, p := range out.properties {
		rows = append(rows, []string{"`" + p.name + "`", p.what(), yes(out.requires(p.name)), cell(p.Description)})
	}
	table(b, []string{"Name", "Type", "Always", "Meaning"}, rows)
	return nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func hints(a tool.Annotations) string {
	var words []string
	add := func(b bool, yes, no string) {
		if b {
			words = append(words, yes)
		} else if no != "" {
			words = append(words, no)
		}
	}
	add(a.ReadOnly, "read-only", "writes")
	if !a.ReadOnly {
		add(a.Destructive, "may delete data", "deletes nothing")
		add(a.Idempotent, "idempotent", "")
	}
	add(a.OpenWorld, "uses other systems", "")
	return strings.Join(words, "; ")
}
