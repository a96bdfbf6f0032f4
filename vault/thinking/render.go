package thinking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

const (
	timeForm     = "2006-01-02 15:04:05"
	asWritten    = "> [!quote] As written" // begins a text that would not stay in its section
	noteInside   = "> [!note] Thoughts"    // begins remarks that are not one plain line
	thoughtsMark = "*Thoughts: "           // begins those that are
)

// sections returns the sections of the thoughts after the first n, each with an
// empty line before it.
func sections(s *sequent.Session, n int) string {
	var b strings.Builder
	for t := range s.Since(n) {
		writeThought(&b, t, conclusionOf(s, t))
	}
	return b.String()
}

// section returns the section of one thought, and of its conclusion.
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
		fmt.Fprintf(b, "%s\n\n", noteBlock(t.Note))
	}
	fmt.Fprintf(b, "*%s UTC* ^thought-%d\n", t.At.UTC().Format(timeForm), t.Seq)
	b.WriteString(conclusionSection(t, conclusion))
}

// conclusionSection returns the section of a thought's conclusion; none if that
// is empty.
func conclusionSection(t sequent.Thought, conclusion string) string {
	if conclusion == "" {
		return ""
	}
	return fmt.Sprintf("\n## Conclusion\n\n%s\n\n*%s UTC* ^conclusion-%d\n",
		textBlock(conclusion), t.At.UTC().Format(timeForm), t.Seq)
}

// heading returns the heading of a thought: Thought 3/5 [agent] (Branch: x,
// from 2) (Revises: 2). A total that the author wants to exceed has a + after it.
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

// plainName matches names that stand in a heading as they are.
var plainName = regexp.MustCompile(`^[\pL\pN]([\pL\pN ._:@/+-]*[\pL\pN._:@/+-])?$`)

// nameIn returns a name as it stands in a heading: as it is, or quoted in a code
// span if it holds characters that mean something there.
func nameIn(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		quoted = []byte(strconv.Quote(name))
	}
	return "`" + strings.ReplaceAll(string(quoted), "`", `\u0060`) + "`"
}

// nameOf is the name that nameIn has written.
func nameOf(text string) string {
	if inner, ok := strings.CutPrefix(text, "`"); ok {
		var name string
		if json.Unmarshal([]byte(strings.TrimSuffix(inner, "`")), &name) == nil {
			return name
		}
	}
	return text
}

// textBlock returns a text as it stands in a section.
func textBlock(text string) string {
	text = printable(text)
	if staysInside(text) {
		return text
	}
	return asWritten + "\n" + quote(text)
}

// noteBlock returns remarks as they stand in a section.
func noteBlock(text string) string {
	text = printable(text)
	if strings.TrimSpace(text) == text && !strings.ContainsAny(text, "*\n\\`<$%") {
		return thoughtsMark + text + "*"
	}
	return noteInside + "\n" + quote(text)
}

func quote(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if lines[i] = ">"; line != "" {
			lines[i] = "> " + line
		}
	}
	return strings.Join(lines, "\n")
}

// printable returns text with line breaks of one kind, and with control
// characters replaced by their pictures, so that editors take the file for text.
func printable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case r >= 0x80 && r < 0xa0, r == '\uFEFF':
			return utf8.RuneError
		default:
			return r
		}
	}, text)
}

var (
	// structural matches lines that mean something to the reader of a file.
	structural = regexp.MustCompile(`(?m)^## +(Thought|Conclusion|Session Abandoned)\b` +
		`|\^(thought|conclusion)-\d+[ \t]*$` +
		`|^\*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( UTC)?\*` +
		`|^\*Thoughts:` +
		`|^> \[!(quote|note)\] (As written|Thoughts)[ \t]*$`)
	// fenceLine matches a line that opens or closes a code fence, maybe in a list
	// or a quote.
	fenceLine = regexp.MustCompile("^[\\s>*+\\-0-9.)]*(`{3,}|~{3,})")
	// openHTML matches HTML that lasts until its end is found, over empty lines.
	openHTML = regexp.MustCompile(`(?i)<!--|<\?|<![a-z]|<!\[CDATA\[|<(script|pre|style|textarea)\b`)
)

// staysInside reports whether a text stands as it is in its section: whether it
// leaves nothing open that would swallow what follows, and can be told from the
// section's own lines. It is careful: a text that it is wrong about is shown in
// a callout, which holds everything.
func staysInside(text string) bool {
	if strings.TrimSpace(text) != text || structural.MatchString(text) || openHTML.MatchString(text) {
		return false
	}
	if strings.Count(text, "%%")%2 != 0 || strings.Count(text, "$$")%2 != 0 {
		return false
	}
	return fencesClosed(text)
}

// fencesClosed reports whether every code fence of a text is closed, as far as
// that can be told without parsing Markdown.
func fencesClosed(text string) bool {
	open, indent := "", 0 // the fence that is open
	for line := range strings.SplitSeq(text, "\n") {
		m := fenceLine.FindStringSubmatch(line)
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case open == "" && m == nil:
		case open == "":
			if rest := line[len(m[0]):]; m[1][0] == '`' && strings.Contains(rest, "`") {
				continue // code in a line
			}
			if open, indent = m[1], spaces; len(m[0]) != spaces+len(open) {
				return false // in a list or a quote, which may end before the fence does
			}
		case m != nil && m[1][0] == open[0] && len(m[1]) >= len(open) && line[spaces:] == m[1]+line[len(m[0]):] &&
			strings.TrimSpace(line[len(m[0]):]) == "" && (spaces == indent || max(spaces, indent) <= 3 && indent == 0):
			open = ""
		case indent > 0 && spaces < indent && strings.TrimSpace(line) != "":
			return false // in a list that ends here, maybe
		}
	}
	return open == ""
}

// links matches WikiLinks, for a title.
var links = regexp.MustCompile(`!?\[\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]\]`)

// title returns the title of a session's note: its first words, without the
// brackets of links.
func title(s *sequent.Session) string {
	text := links.ReplaceAllStringFunc(s.Title, func(link string) string {
		m := links.FindStringSubmatch(link)
		return cmp.Or(m[2], m[1])
	})
	text = strings.Join(strings.Fields(printable(text)), " ")
	return cmp.Or(strings.Trim(text, "# "), "Sequential Thinking Session "+string(s.ID))
}
