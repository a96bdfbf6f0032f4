package thinking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault/internal/block"
)

const timeForm = "2006-01-02 15:04:05"

// sections returns the sections of the thoughts after the first n, each after an empty
// line.
func sections(s *sequent.Session, n int) string {
	var b strings.Builder
	for t := range s.Since(n) {
		writeThought(&b, t, conclusionOf(s, t))
	}
	return b.String()
}

// section returns the section of a thought and of its conclusion.
func section(s *sequent.Session, t sequent.Thought) string {
	var b strings.Builder
	writeThought(&b, t, conclusionOf(s, t))
	return b.String()
}

func writeThought(b *strings.Builder, t sequent.Thought, conclusion string) {
	fmt.Fprintf(b, "\n## %s\n\n", heading(t))
	if t.Text != "" {
		fmt.Fprintf(b, "%s\n\n", textBlock(t.Text))
	}
	if t.Note != "" {
		fmt.Fprintf(b, "%s\n\n", block.Remarks(t.Note))
	}
	fmt.Fprintf(b, "*%s UTC* ^thought-%d\n", t.At.UTC().Format(timeForm), t.Seq)
	b.WriteString(conclusionSection(t, conclusion))
}

// conclusionSection returns the section of a thought's conclusion, if it has one.
func conclusionSection(t sequent.Thought, conclusion string) string {
	if conclusion == "" {
		return ""
	}
	return fmt.Sprintf("\n## Conclusion\n\n%s\n\n*%s UTC* ^conclusion-%d\n",
		textBlock(conclusion), t.At.UTC().Format(timeForm), t.Seq)
}

// heading returns the heading of a thought: Thought 3/5 [agent] (Branch: x, from 2)
// (Revises: 2). A + after the total means that more thoughts are needed.
func heading(t sequent.Thought) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Thought %d/%d", t.Number, t.Total)
	if t.Extend {
		b.WriteByte('+')
	}
	fmt.Fprintf(&b, " [%s]", nameIn(agentOf(t)))
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
	if plainName().MatchString(name) {
		return name
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		quoted = []byte(strconv.Quote(name))
	}
	return "`" + strings.ReplaceAll(string(quoted), "`", `\u0060`) + "`"
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

// structural matches lines that parse would take for a part of the file's structure.
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
		begins := line != "" && strings.IndexByte("#*_>", line[0]) >= 0
		if (begins || strings.Contains(line, "^")) && structural().MatchString(line) {
			return block.Callout(text)
		}
	}
	return block.Text(text)
}

// links matches WikiLinks, for a title.
var links = lazyregexp.New(`!?\[\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]\]`)

// title returns the title of a session's note: the session's title without the brackets of
// links.
func title(s *sequent.Session) string {
	text := links().ReplaceAllStringFunc(s.Title(), func(link string) string {
		m := links().FindStringSubmatch(link)
		return cmp.Or(m[2], m[1])
	})
	text = strings.Join(strings.Fields(printable.Text(text)), " ")
	return cmp.Or(strings.Trim(text, "# "), "Sequential Thinking Session "+string(s.ID()))
}
