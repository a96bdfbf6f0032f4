package assumption

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/internal/block"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// body returns the body of a new note. The concepts come first, so that an open code fence
// in the statement cannot affect their links.
func (a Assumption) body(concepts []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Assumption: %s\n", title(a.Statement))
	b.WriteString(related(concepts))
	fmt.Fprintf(&b, "\n## Statement\n\n%s\n", text(a.Statement))
	if plan := text(a.ValidationPlan); plan != "" {
		fmt.Fprintf(&b, "\n## Validation Plan\n\n%s\n", plan)
	}
	return b.String()
}

func related(concepts []string) string {
	if len(concepts) == 0 {
		return ""
	}
	return "\n## Related Concepts\n\n- [[" + strings.Join(concepts, "]]\n- [[") + "]]\n"
}

var statementForm = lazyregexp.New(`(?ms)^## Statement\s*\n(.*?)(?:^## |\z)`)

// entryOf returns the assumption in a note.
func entryOf(n *vault.Note) Entry {
	f := &n.Front
	e := Entry{
		URI: n.URI, Status: Status(f.Get("status")), Confidence: f.Get("confidence"), Context: f.Get("context"),
		ValidationPlan: f.Get("validation_plan"), Created: f.Get("created"), Updated: f.Get("updated"),
		Concepts: wikilink.Concepts(wikilink.Parse([]byte(n.Body))), Body: strings.TrimSpace(n.Body),
	}
	body := strings.ReplaceAll(n.Body, "\r\n", "\n")
	if m := statementForm().FindStringSubmatch(body); m != nil {
		e.Statement = block.Plain(strings.Split(strings.TrimSpace(m[1]), "\n"))
	}
	if e.Statement == "" {
		e.Statement = title(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(body), "# "), "Assumption: "))
	}
	return e
}

const maxTitle = 100 // characters

// title returns the first line of a statement, cut to maxTitle.
func title(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return printable.Short(strings.Join(strings.Fields(line), " "), maxTitle)
}

// text returns a text for a note; empty if it is blank.
func text(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	if strings.Contains("\n"+s, "\n## ") { // it would begin a section
		return block.Callout(printable.Text(s))
	}
	return block.Text(s)
}

// plain returns a value for use between asterisks.
func plain(s string) string { return strings.ReplaceAll(title(s), "*", "∗") }
