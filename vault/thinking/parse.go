package thinking

import (
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/vault"
)

// A Section is a thought, with the conclusion that follows it, in the body of a session's
// note.
type Section struct {
	Seq   int           // position in the log; 0 if the note does not tell
	Draft sequent.Draft // Final if concluded; agent and conclusion are labels
	At    time.Time     // to the second, UTC; zero without a time

	Start, Heading, End int // offsets in the body: of the heading, after its line, after the last line
}

var (
	headingForm = lazyregexp.New("^## +(?:Thought +(-?\\d{1,15})/(\\?|\\d{1,15})(\\+?)(?: +\\[(`\"(?:[^\"\\\\]|\\\\.)*\"`|.*?)\\])?((?: +\\(.*\\))?)" +
		"|Conclusion|Session Abandoned)$")
	lastLine    = lazyregexp.New(`^(?:[*_](\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: UTC)?[*_])?(?:(?:^|\s+)\^(thought|conclusion)-(\d{1,15}))?$`)
	remarksForm = lazyregexp.New(`(?s)(?:^|\n[ \t]*\n)[*_]Thoughts: (.+)[*_]$`)
	marksForm   = lazyregexp.New(`^(?: +\(Branch: (.*?)(?:, from (-?\d{1,15}))?\)| +\(From: (-?\d{1,15})\))?(?: +\((Revises: (-?\d{1,15})|Revision)\))?$`)
)

// Sections returns the thoughts in the body of a session's note, in the order of the note.
// It skips other text, such as a person's remark between two thoughts. Every text can be
// parsed.
func Sections(body string) []Section {
	var list []Section
	var heading []string // of the part of the body that begins at start
	start, at := 0, 0
	end := func() {
		switch {
		case heading == nil:
		case heading[1] != "":
			list = append(list, parseThought(heading, body[start:at], start))
		case strings.HasSuffix(heading[0], "Conclusion"):
			conclude(list, body[start:at], start)
		}
	}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "## ") {
			if m := headingForm().FindStringSubmatch(strings.TrimRight(line, " \t\r\n")); m != nil {
				end()
				heading, start = m, at
			}
		}
		at += len(line)
	}
	end()
	setPositions(list)
	return list
}

// setPositions sets the positions of sections without block ids by their order. Such
// files were written by another program.
func setPositions(list []Section) {
	for i := range list {
		if s := &list[i]; s.Seq != 0 && s.Seq != i+1 || s.At.IsZero() {
			return // a person wrote it, or moved it
		} else if s.Seq == 0 {
			s.Seq = i + 1
		}
	}
}

// cut divides a part of the body, which begins with a heading, into its text and its last
// line, which has the time and perhaps a block id of the kind. What follows that line is
// not part of it.
func cut(part, kind string) (text string, at time.Time, seq, end int) {
	done := min(strings.Index(part+"\n", "\n")+1, len(part))
	from, to := done, len(part)
	end = to
	for line := range strings.Lines(part[from:]) {
		start := done
		done += len(line)
		var m []string
		if line[0] == '*' || line[0] == '_' || strings.Contains(line, "^") { // the expression takes long for a long text
			m = lastLine().FindStringSubmatch(strings.TrimRight(line, " \t\r\n"))
		}
		own := m != nil && m[2] == kind
		if m != nil && m[1] != "" {
			at, _ = time.Parse(time.DateTime, m[1]) // zero if it is no time
			to, end = start, done
		}
		if own {
			if seq, _ = strconv.Atoi(m[3]); to > start { // 15 digits
				to = start
			}
			end = done
			break
		}
	}
	return strings.Trim(strings.ReplaceAll(part[from:to], "\r\n", "\n"), "\n"), at, seq, end
}

// parseThought parses a thought, whose heading matches headingForm as m.
func parseThought(m []string, part string, start int) Section {
	d := sequent.Draft{Extend: m[3] != "" || m[2] == "?", Labels: map[string]string{}}
	d.Number, _ = strconv.Atoi(m[1])
	d.Total, _ = strconv.Atoi(m[2])
	if agent := nameOf(m[4]); agent != "" {
		d.Labels[LabelAgent] = agent
	}
	if marks := marksForm().FindStringSubmatch(m[5]); marks != nil {
		d.Branch, d.From = nameOf(marks[1]), refTo(marks[2]+marks[3])
		d.Revision, d.Revises = marks[4] != "", refTo(marks[5])
	}
	first, _, _ := strings.Cut(part, "\n")
	s := Section{Draft: d, Start: start, Heading: start + min(len(first)+1, len(part))}
	text, at, seq, end := cut(part, "thought")
	s.Draft.Text, s.Draft.Note = cutRemarks(text)
	s.At, s.Seq, s.End = at, seq, start+end
	return s
}

// conclude adds a conclusion to its thought.
func conclude(list []Section, part string, start int) {
	text, _, seq, end := cut(part, "conclusion")
	text = vault.Plain(text)
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		// A thought of another program has no position apart from its order.
		if own := s.Seq == seq || s.Seq == 0 && seq == i+1; seq != 0 && !own {
			continue
		}
		if s.Draft.Labels[LabelConclusion] == "" && text != "" {
			s.Draft.Labels[LabelConclusion], s.Draft.Final = text, true
			if i == len(list)-1 {
				s.End = start + end
			}
		}
		return
	}
}

func refTo(number string) sequent.Ref {
	n, err := strconv.Atoi(number)
	if err != nil {
		return sequent.Ref{}
	}
	return sequent.To(n)
}

// cutRemarks divides the text of a section into the thought and remarks, which are its last
// block.
func cutRemarks(text string) (thought, remarks string) {
	if i := strings.LastIndex("\n\n"+text, "\n\n"+vault.NoteInside); i >= 0 {
		if inner, ok := vault.Inside(vault.NoteInside, text[i:]); ok {
			return vault.Plain(strings.TrimRight(text[:i], "\n")), inner
		}
	} else if !strings.Contains(text, "Thoughts: ") { // the expression takes long for a long text
		return vault.Plain(text), ""
	} else if m := remarksForm().FindStringSubmatchIndex(text); m != nil {
		return vault.Plain(strings.TrimRight(text[:m[0]], "\n")), text[m[2]:m[3]]
	}
	return vault.Plain(text), ""
}
