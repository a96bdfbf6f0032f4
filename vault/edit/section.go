package edit

import (
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault/wikilink"
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

// Sections returns the sections of a note's body in order. Headings in code are
// none. Sections of lower levels are also part of those around them.
func Sections(body string) []Section {
	var list []Section
	var open [7]int // by level: the index of the section that is not closed, plus 1
	for at, line := range wikilink.Lines(body) {
		line, end := strings.TrimSpace(line), at+len(line)
		if n := level(line); n > 0 {
			for l := n; l < len(open); l++ {
				if open[l] > 0 {
					list[open[l]-1].End = at
				}
				open[l] = 0
			}
			open[n] = len(list) + 1
			list = append(list, Section{Heading: headingText(line), Level: n, Start: at, Text: end, End: len(body)})
		}
	}
	return list
}

// level returns the level of a heading; 0 for another line.
func level(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || len(line) > n && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// headingText returns a heading without its marks.
func headingText(line string) string { return strings.TrimSpace(strings.Trim(line, "#")) }

// Find returns the section with a heading, given with or without its marks and in any
// case. The error for a missing one has the code CodeNoSection and lists those that
// exist; the one for a heading that occurs several times has the code CodeAmbiguous.
func Find(body, heading string) (found Section, err error) {
	const maxListed = 20
	want := strings.TrimSpace(heading)
	shown := printable.Short(want, maxQuoted)
	count := 0
	var all []string
	for _, s := range Sections(body) {
		all = append(all, strings.Repeat("#", s.Level)+" "+printable.Short(s.Heading, maxQuoted))
		if strings.EqualFold(s.Heading, headingText(want)) && (level(want) == 0 || s.Level == level(want)) {
			found = s
			count++
		}
	}
	switch count {
	case 0:
		fix := "leave section out: there is none"
		if len(all) > 0 {
			fix = "use one of: " + strings.Join(all[:min(len(all), maxListed)], ", ")
		}
		err = sequent.Errorf(CodeNoSection, "section", fix, "the note has no section %q", shown)
	case 1:
	default:
		err = sequent.Errorf(CodeAmbiguous, "section", "name the section around it, give its level as in ## Name, or find and replace its text",
			"the note has %d sections %q", count, shown)
	}
	return found, err
}
