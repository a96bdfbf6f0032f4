package edit

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A Section is a heading of a note and what is below it, up to the next heading of the
// same or a higher level.
type Section struct {
	Heading string // without the marks
	Level   int    // 1 for #
	Start   int    // offset of the heading in the body
	Text    int    // offset after the line of the heading
	End     int
}

// Sections returns the sections of a note's body in order. Headings in code fences are
// none. Sections of lower levels are also part of those around them.
func Sections(body string) []Section {
	var list []Section
	fence := ""
	at := 0
	for line := range strings.Lines(body) {
		text := strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimLeft(text, " ")
		switch {
		case len(text)-len(trimmed) > 3: // code
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		default:
			if level := level(trimmed); level > 0 {
				list = append(list, Section{Heading: headingText(trimmed), Level: level, Start: at, Text: at + len(line), End: len(body)})
			}
		}
		at += len(line)
	}
	for i := range list {
		for _, next := range list[i+1:] {
			if next.Level <= list[i].Level {
				list[i].End = next.Start
				break
			}
		}
	}
	return list
}

// level returns the level of a heading; 0 for another line.
func level(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || len(line) > n && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// headingText returns a heading without its marks.
func headingText(line string) string {
	return strings.TrimSpace(strings.TrimRight(strings.Trim(line, "#"), " \t"))
}

// Find returns the section with a heading, given with or without its marks and in any
// case. The error for a missing one has the code CodeNoSection and lists those that
// exist; the one for a heading that occurs several times has the code CodeAmbiguous.
func Find(body, heading string) (Section, error) {
	want := strings.TrimSpace(heading)
	wantLevel := level(want)
	name := want
	if wantLevel > 0 {
		name = headingText(want)
	}
	var found, all []Section
	for _, s := range Sections(body) {
		all = append(all, s)
		if strings.EqualFold(s.Heading, name) && (wantLevel == 0 || s.Level == wantLevel) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Section{}, &sequent.Error{
			Code: CodeNoSection, Field: "section",
			Msg: fmt.Sprintf("the note has no section %q", printable.Short(want, maxQuoted)), Fix: "use one of: " + headings(all),
		}
	}
	return Section{}, &sequent.Error{
		Code: CodeAmbiguous, Field: "section",
		Msg: fmt.Sprintf("the note has %d sections %q", len(found), printable.Short(want, maxQuoted)),
		Fix: "name the section around it, give its level as in ## Name, or find and replace its text",
	}
}

// headings lists headings for an error.
func headings(all []Section) string {
	if len(all) == 0 {
		return "none, the note has no headings"
	}
	const most = 20
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == most {
			fmt.Fprintf(&b, "and %d more", len(all)-most)
			break
		}
		b.WriteString(strings.Repeat("#", s.Level) + " " + printable.Short(s.Heading, maxQuoted))
	}
	return b.String()
}
