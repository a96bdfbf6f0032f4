package gendocs

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// Dialects returns the reference page of dialects, in the order in which they are given.
func Dialects(list []dialect.Dialect) (string, error) {
	var b strings.Builder
	b.WriteString("# Dialects\n\n" +
		"The tools of each dialect, with their arguments and replies, as `tools/list` publishes them to a model. An argument is\n" +
		"optional unless it is marked as required, and so is a member of a reply unless it is marked as always there. The link\n" +
		"below a name leads to calls with their replies, from the tests. [Choosing](../choosing.md) says which dialect is for what.\n")
	for _, d := range list {
		fmt.Fprintf(&b, "\n## %s\n\n%s [A session of `%s`](../../dialect/%s/testdata/linear.txtar).\n", d.Name, sentence(d.Summary), d.Name, d.Name)
		if d.Instructions != "" {
			b.WriteString("\nA model receives instructions when it connects:\n\n" + quote(d.Instructions))
		}
		shown := make(map[string]string)
		for _, t := range d.Tools {
			if err := toolSection(&b, t.Spec, shown); err != nil {
				return "", fmt.Errorf("%s: %s: %w", d.Name, t.Name, err)
			}
		}
		documents(&b, d)
	}
	return b.String(), nil
}

// documents lists the resources and prompts of a dialect.
func documents(b *strings.Builder, d dialect.Dialect) {
	var items []string
	for _, r := range d.Resources {
		items = append(items, fmt.Sprintf("`%s` (%s): %s", r.URI, r.MIME, line(r.Description)))
	}
	for _, t := range d.Templates {
		items = append(items, fmt.Sprintf("`%s` (%s): %s", t.URI, t.MIME, line(t.Description)))
	}
	bullets(b, "Resources", items)
	items = nil
	for _, p := range d.Prompts {
		var args []string
		for _, a := range p.Arguments {
			s := "`" + a.Name + "`"
			if a.Required {
				s += " required"
			}
			args = append(args, s)
		}
		items = append(items, fmt.Sprintf("`%s` (%s): %s", p.Name, strings.Join(args, ", "), line(p.Description)))
	}
	bullets(b, "Prompts", items)
}

// bullets writes a list below a title, or nothing if the list is empty.
func bullets(b *strings.Builder, title string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "\n%s:\n\n- %s\n", title, strings.Join(items, "\n- "))
	}
}

// line returns text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

func quote(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}

// toolSection describes a tool. Of its description it shows the first paragraph, which says
// what the tool is for, or all if the schema does not say what each argument means. Shown has
// what earlier sections of the dialect list, with the names of their tools.
func toolSection(b *strings.Builder, s tool.Spec, shown map[string]string) error {
	in, err := readSchema(s.InputSchema)
	if err != nil {
		return err
	}
	text := s.Description
	if len(in.properties) == 0 || in.properties[0].Description != "" {
		text, _, _ = strings.Cut(text, "\n\n")
	}
	fmt.Fprintf(b, "\n### Tool `%s`\n\n%s\nIt %s.\n", s.Name, quote(text), hints(s.Annotations))
	members(b, s.Name, "Arguments", "required", in, shown)
	if s.OutputSchema == nil {
		return nil
	}
	out, err := readSchema(s.OutputSchema)
	if err != nil {
		return err
	}
	members(b, s.Name, "Reply", "always", out, shown)
	return nil
}

// members lists the properties of an object. Word marks those that it requires. Those that a
// tool before lists in the same words are only named.
func members(b *strings.Builder, name, title, word string, o object, shown map[string]string) {
	var items, same []string
	from := ""
	for _, p := range o.properties {
		item := "`" + p.name + "` (" + p.what()
		if o.requires(p.name) {
			item += "; " + word
		}
		item += ")"
		if p.Description != "" {
			item += ": " + line(p.Description)
		}
		before := shown[title+item]
		if before == "" {
			shown[title+item] = name
		}
		if before != "" && (from == "" || from == before) {
			from, same = before, append(same, "`"+p.name+"`")
		} else {
			items = append(items, item)
		}
	}
	if same != nil {
		items = append(items, "as in `"+from+"`: "+strings.Join(same, ", "))
	}
	bullets(b, title, items)
}

func hints(a tool.Annotations) string {
	words := []string{"reads only"}
	if !a.ReadOnly {
		words = []string{"writes", "deletes nothing"}
		if a.Destructive {
			words[1] = "may delete data"
		}
		if a.Idempotent {
			words = append(words, "is idempotent")
		}
	}
	if a.OpenWorld {
		words = append(words, "uses other systems")
	}
	return strings.Join(words, ", ")
}
