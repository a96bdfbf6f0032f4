package thinking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
)

// section returns the section of a thought and of its conclusion, after an empty line.
func section(s *sequent.Session, t sequent.Thought) string { return render(t, conclusionOf(s, t)) }

// conclusionOf returns the conclusion that comes with a thought: its label, or for the last
// thought of a completed session the one in the header.
func conclusionOf(s *sequent.Session, t sequent.Thought) string {
	if text := t.Labels[LabelConclusion]; text != "" || t.Seq < s.Len() || s.State() != sequent.Completed {
		return text
	}
	return s.Conclusion()
}

func render(t sequent.Thought, conclusion string) string {
	var b strings.Builder
	at := t.At.UTC().Format(time.DateTime)
	fmt.Fprintf(&b, "\n## %s\n\n", heading(t))
	if t.Text != "" {
		fmt.Fprintf(&b, "%s\n\n", textBlock(t.Text))
	}
	if t.Note != "" {
		fmt.Fprintf(&b, "%s\n\n", vault.Remarks(t.Note))
	}
	fmt.Fprintf(&b, "*%s UTC* ^thought-%d\n", at, t.Seq)
	if conclusion != "" {
		fmt.Fprintf(&b, "\n## Conclusion\n\n%s\n\n*%s UTC* ^conclusion-%d\n", textBlock(conclusion), at, t.Seq)
	}
	return b.String()
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
	quoted, err := json.Marshal(name)
	if err != nil {
		quoted = []byte(strconv.Quote(name))
	}
	return "`" + strings.ReplaceAll(string(printable.JSON(quoted)), "`", `\u0060`) + "`"
}

// nameOf is the inverse of nameIn.
func nameOf(text string) string {
	if inner, ok := strings.CutPrefix(text, "`"); ok {
		var name string
		if json.Unmarshal([]byte(strings.TrimSuffix(inner, "`")), &name) == nil {
			return name
		}
	}
	return text
}

// structural matches lines that a parser would take for a part of the note's structure.
var structural = lazyregexp.New(`^## +(Thought|Conclusion|Session Abandoned)\b` +
	`|\^(thought|conclusion|omitted)-\d+[ \t]*$` +
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

// linkForm matches WikiLinks, for a title.
var linkForm = lazyregexp.New(`!?\[\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]\]`)

// title returns the title of a session's note: the session's title without the brackets of
// links.
func title(s *sequent.Session) string {
	text := linkForm().ReplaceAllStringFunc(s.Title(), func(link string) string {
		m := linkForm().FindStringSubmatch(link)
		return cmp.Or(m[2], m[1])
	})
	text = printable.Line(text)
	return cmp.Or(strings.Trim(text, "# "), "Sequential Thinking Session "+string(s.ID()))
}
