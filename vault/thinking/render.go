package thinking

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
)

// Text returns the section of a thought and of the conclusion that comes with it, after an
// empty line.
func Text(s *sequent.Session, t sequent.Thought) string { return render(t, conclusionOf(s, t)) }

// conclusionOf returns the conclusion that comes with a thought: its label, or for the last
// thought of a completed session the one in the header.
func conclusionOf(s *sequent.Session, t sequent.Thought) string {
	if text := t.Labels[LabelConclusion]; text != "" || t.Seq < s.Len() || s.State() != sequent.Completed {
		return text
	}
	return s.Conclusion()
}

func render(t sequent.Thought, conclusion string) string {
	stamp := fmt.Sprintf("*%s UTC*", t.At.UTC().Format(time.DateTime))
	parts := []string{"\n## " + heading(t)}
	if t.Text != "" {
		parts = append(parts, textBlock(t.Text))
	}
	if t.Note != "" {
		parts = append(parts, vault.Remarks(t.Note))
	}
	parts = append(parts, fmt.Sprintf("%s ^thought-%d", stamp, t.Seq))
	if conclusion != "" {
		parts = append(parts, "## Conclusion", textBlock(conclusion), fmt.Sprintf("%s ^conclusion-%d", stamp, t.Seq))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// heading returns the heading of a thought: Thought 3/5 [agent] (Branch: x, from 2)
// (Revises: 2). A + after the total means that more thoughts are needed.
func heading(t sequent.Thought) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Thought %d/%d", t.Number, t.Total)
	if t.Extend {
		b.WriteByte('+')
	}
	fmt.Fprintf(&b, " [%s]", nameIn(cmp.Or(t.Labels[LabelAgent], DefaultAgent)))
	from, named := t.From.Number()
	switch {
	case t.Branch != "" && named:
		fmt.Fprintf(&b, " (Branch: %s, from %d)", nameIn(t.Branch), from)
	case t.Branch != "":
		fmt.Fprintf(&b, " (Branch: %s)", nameIn(t.Branch))
	case named:
		fmt.Fprintf(&b, " (From: %d)", from)
	}
	if number, named := t.Revises.Number(); named {
		fmt.Fprintf(&b, " (Revises: %d)", number)
	} else if t.Revision {
		b.WriteString(" (Revision)")
	}
	return b.String()
}

// plainName matches names that a heading contains unchanged.
var plainName = lazyregexp.New(`^[\pL\pN]([\pL\pN ._:@/+-]*[\pL\pN._:@/+-])?$`)

// nameIn returns a name for a heading: unchanged, or quoted in a code span if it has
// special characters.
func nameIn(name string) string {
	if plainName().MatchString(name) && printable.Text(name) == name {
		return name
	}
	return "`" + strings.ReplaceAll(strconv.QuoteToASCII(name), "`", `\x60`) + "`"
}

// nameOf is the inverse of nameIn.
func nameOf(text string) string {
	if name, err := strconv.Unquote(strings.Trim(text, "`")); err == nil {
		return name
	}
	return text
}

// structural matches lines that a parser would take for a part of the note's structure.
var structural = lazyregexp.New(`^## +(Thought|Conclusion|Session Abandoned)\b` +
	`|\^(thought|conclusion)-\d+[ \t]*$` +
	`|^[*_]\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( UTC)?[*_]` +
	`|^[*_]Thoughts:` +
	`|^> \[!(quote|note)\] (As written|Thoughts)[ \t]*$`)

// textBlock returns a text for a section. It puts a text with structural lines into a
// callout.
func textBlock(text string) string {
	text = printable.Text(text)
	for line := range strings.SplitSeq(text, "\n") {
		if strings.ContainsAny(line, "#*_>^") && structural().MatchString(line) {
			return vault.Callout(text)
		}
	}
	return vault.Block(text)
}

// title returns the title of a session's note: the session's title without the brackets of
// links.
func title(s *sequent.Session) string {
	text := printable.Line(strings.NewReplacer("[[", "", "]]", "").Replace(s.Title()))
	return cmp.Or(strings.Trim(text, "# "), "Sequential Thinking Session "+string(s.ID()))
}
