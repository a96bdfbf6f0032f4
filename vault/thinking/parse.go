package thinking

import (
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/vault/internal/block"
)

// A fileSection is a thought in a file.
type fileSection struct {
	Draft sequent.Draft // with More unless concluded; agent and conclusion are labels
	At    time.Time     // to the second, UTC; zero without a time
	Seq   int           // the position in the log from the block id; 0 without one

	start, end int  // offsets in the body: of the heading and after the last line
	concluded  bool // the section of its conclusion is complete
}

// closed reports whether the section has its last line.
func (s *fileSection) closed() bool { return !s.At.IsZero() || s.Seq > 0 }

var (
	headingForm = lazyregexp.New(`^## +Thought +(-?\d{1,15})/(\?|\d{1,15})(\+?)(?: +\[(.*?)\])?((?: +\(.*\))?)\s*$`)
	quotedAgent = lazyregexp.New("^## +Thought +(-?\\d{1,15})/(\\?|\\d{1,15})(\\+?) +\\[(`\"(?:[^\"\\\\]|\\\\.)*\"`)\\]((?: +\\(.*\\))?)\\s*$")
	conclusion  = lazyregexp.New(`^## +Conclusion\s*$`)
	abandoned   = lazyregexp.New(`^## +Session Abandoned\s*$`)
	lastLine    = lazyregexp.New(`^(?:[*_](\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: UTC)?[*_])?(?:(?:^|\s+)\^(thought|conclusion)-(\d{1,15}))?\s*$`)
	branchMark  = lazyregexp.New(`^ +\(Branch: (.*?)(?:, from (-?\d{1,15}))?\)$`)
	fromMark    = lazyregexp.New(`^ +\(From: (-?\d{1,15})\)$`)
	revisesMark = lazyregexp.New(` +\((?:Revises: (-?\d{1,15})|Revision)\)$`)
)

// parse returns the sections in the body of a session file, in order. It skips other text,
// such as a person's remark between two sections. Every text can be parsed.
func parse(body string) []fileSection {
	var list []fileSection
	var p piece
	at := 0
	for line := range strings.Lines(body) {
		raw := strings.TrimRight(line, "\r\n")
		text := strings.TrimRight(raw, " \t")
		draft, isThought := parseHeading(text)
		switch {
		case isThought:
			list = p.end(list, at)
			p = piece{open: true, section: fileSection{Draft: draft, start: at}}
		case isHeading(text) && conclusion().MatchString(text):
			list = p.end(list, at)
			p = piece{open: true, concludes: true, section: fileSection{start: at}}
		case isHeading(text) && abandoned().MatchString(text):
			list = p.end(list, at)
			p = piece{}
		case p.open:
			if p.line(raw, text, at+len(line)) {
				list = p.end(list, at+len(line))
				p = piece{}
			}
		}
		at += len(line)
	}
	return p.end(list, at)
}

// A piece is a section that is being parsed.
type piece struct {
	open      bool
	concludes bool // it is a conclusion
	section   fileSection
	lines     []string // after the heading
	stamped   int      // number of lines before the time; without a block id, more lines may follow
	after     int      // offset after the line with the time
}

// line adds the next line, given with and without spaces at its end. It reports whether
// that was the last line.
func (p *piece) line(raw, text string, end int) bool {
	var m []string
	if strings.HasPrefix(text, "*") || strings.HasPrefix(text, "_") || strings.Contains(text, "^") {
		m = lastLine().FindStringSubmatch(text)
	}
	if m == nil {
		p.lines = append(p.lines, raw)
		return false
	}
	if m[1] != "" {
		if at, err := time.Parse(timeForm, m[1]); err == nil {
			p.section.At = at
		}
		p.stamped, p.after = len(p.lines), end
	}
	if m[2] != "" && (m[2] == "conclusion") == p.concludes {
		p.section.Seq, _ = strconv.Atoi(m[3])
		p.section.end = end
		if m[1] != "" || p.after == 0 {
			p.stamped, p.after = len(p.lines), end
		}
		return true
	}
	p.lines = append(p.lines, raw)
	return false
}

// end adds the section to the list.
func (p *piece) end(list []fileSection, at int) []fileSection {
	if !p.open {
		return list
	}
	p.open = false
	lines := p.lines
	if p.section.end == 0 { // no block id
		p.section.end = at
		if p.after > 0 {
			p.section.end = p.after
		}
	}
	if p.after > 0 {
		lines = lines[:p.stamped]
	}
	if p.concludes {
		return p.conclude(list, block.Plain(trimEmpty(lines)))
	}
	text, note := cutNote(trimEmpty(lines))
	p.section.Draft.Text, p.section.Draft.Note = block.Plain(text), note
	return append(list, p.section)
}

// conclude adds a conclusion to its thought.
func (p *piece) conclude(list []fileSection, text string) []fileSection {
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		// A thought of another program has no position apart from its order.
		if own := s.Seq == p.section.Seq || s.Seq == 0 && p.section.Seq == i+1; p.section.Seq != 0 && !own {
			continue
		}
		if s.Draft.Labels[LabelConclusion] == "" && text != "" {
			s.Draft.Labels[LabelConclusion] = text
			s.Draft.More = false
			s.concluded = p.section.Seq != 0
		}
		return list
	}
	return list
}

func isHeading(line string) bool { return strings.HasPrefix(line, "## ") }

// parseHeading parses the heading of a thought.
func parseHeading(line string) (sequent.Draft, bool) {
	if !isHeading(line) {
		return sequent.Draft{}, false
	}
	m := quotedAgent().FindStringSubmatch(line)
	if m == nil {
		m = headingForm().FindStringSubmatch(line)
	}
	if m == nil {
		return sequent.Draft{}, false
	}
	d := sequent.Draft{Extend: m[3] != "" || m[2] == "?", More: true, Labels: map[string]string{}}
	d.Number, _ = strconv.Atoi(m[1])
	d.Total, _ = strconv.Atoi(m[2])
	if agent := nameOf(m[4]); agent != "" {
		d.Labels[LabelAgent] = agent
	}
	marks := m[5]
	if r := revisesMark().FindStringSubmatchIndex(marks); r != nil {
		d.Revision = true
		if r[2] >= 0 {
			d.Revises = refTo(marks[r[2]:r[3]])
		}
		marks = marks[:r[0]]
	}
	if b := branchMark().FindStringSubmatch(marks); b != nil {
		d.Branch, d.From = nameOf(b[1]), refTo(b[2])
	} else if f := fromMark().FindStringSubmatch(marks); f != nil {
		d.From = refTo(f[1])
	}
	return d, true
}

func refTo(number string) sequent.Ref {
	n, err := strconv.Atoi(number)
	if err != nil {
		return sequent.Ref{}
	}
	return sequent.To(n)
}

// cutNote divides the lines of a section into text and remarks, which are its last block.
func cutNote(lines []string) (text []string, note string) {
	for i := len(lines) - 1; i >= 0; i-- {
		if i > 0 && strings.TrimSpace(lines[i-1]) != "" {
			continue
		}
		line, last := strings.TrimSpace(lines[i]), strings.TrimSpace(lines[len(lines)-1])
		if plain, ok := strings.CutPrefix(line, "_"); ok && strings.HasPrefix("*"+plain, block.ThoughtsAre) && strings.HasSuffix(last, "_") {
			// A Markdown formatter has changed *this* to _this_.
			note = strings.TrimSpace(strings.Join(lines[i:], "\n"))
			return trimEmpty(lines[:i]), strings.TrimSuffix(strings.TrimPrefix("*"+note[1:], block.ThoughtsAre), "_")
		}
		switch {
		case line == block.NoteInside:
			if inner, n := block.Unquote(lines[i+1:]); n == len(lines)-i-1 {
				return trimEmpty(lines[:i]), inner
			}
			return lines, ""
		case strings.HasPrefix(line, block.ThoughtsAre) && strings.HasSuffix(last, "*") && (line != last || len(line) > len(block.ThoughtsAre)):
			note = strings.TrimSpace(strings.Join(lines[i:], "\n"))
			return trimEmpty(lines[:i]), strings.TrimSuffix(strings.TrimPrefix(note, block.ThoughtsAre), "*")
		}
	}
	return lines, ""
}

func trimEmpty(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
