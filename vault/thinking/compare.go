package thinking

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A comparison is the difference between a session and its file.
type comparison struct {
	session *sequent.Session
	body    string // of the note, without NUL bytes at its end
	rewrite bool   // the body was cut
	breaks  string // the line breaks of the file
	front   string // the state in the front matter

	sections []fileSection // of the file, with their positions in the log
	add      string        // text to append
	missing  []int         // positions that were never written completely
	deleted  []int         // positions that were written and are not there
	edited   []int         // positions with a changed section
	doubled  []int         // positions with several sections
	foreign  int           // sections without a thought in the log
	ahead    []fileSection // sections that continue the log
	torn     bool          // the file ends in a part of a section
}

// compare compares a session with its file. It fails if the file belongs to another
// session.
func compare(n *vault.Note, s *sequent.Session, m mark) (*comparison, error) {
	c := &comparison{session: s, body: n.Body, breaks: n.LineBreak(), front: frontKeyOf(&n.Front)}
	if cut := strings.TrimRight(c.body, "\x00"); cut != c.body {
		// Some file systems show an incomplete append as NUL bytes.
		c.body, c.rewrite, c.torn = cut, true, true
	}
	c.sections = parse(c.body)
	assignPositions(c.sections)
	c.checkLast()
	if err := c.sameSession(&n.Front); err != nil {
		return nil, err
	}
	written := m.seqOf(s)
	c.count(written)
	c.findAddition(written)
	return c, nil
}

// assignPositions sets the positions of sections without block ids by their order. Such
// files were written by another program.
func assignPositions(list []fileSection) {
	first := len(list)
	for i, s := range list {
		if s.Seq > 0 {
			first = i
			break
		}
	}
	if first < len(list) && list[first].Seq != first+1 {
		return
	}
	for i := range first {
		if !list[i].closed() {
			return // a person wrote it
		}
		list[i].Seq = i + 1
	}
}

// checkLast removes the position of a last section that ends in the middle of a line, if
// it is wrong: an incomplete write of ^thought-12 can end in ^thought-1.
func (c *comparison) checkLast() {
	if len(c.sections) == 0 || strings.HasSuffix(c.body, "\n") {
		return
	}
	last := &c.sections[len(c.sections)-1]
	t, ok := c.session.At(last.Seq)
	if last.end == len(c.body) && (!ok || t.Number != last.Draft.Number || t.At.Unix() != last.At.Unix()) {
		last.Seq = 0
	}
}

// sameSession refuses the file of another session: its permalink has another id, as on a
// case-insensitive file system, or none of its sections agrees with the log in time or
// text. People edit texts, but a changed time in every section means that there are two
// sessions with one id.
func (c *comparison) sameSession(f *vault.Front) error {
	if err := ownFile(f, c.session.ID()); err != nil {
		return err
	}
	compared := 0
	for _, sec := range c.sections {
		t, ok := c.session.At(sec.Seq)
		if !ok || sec.At.IsZero() {
			continue
		}
		if t.At.Unix() == sec.At.Unix() || t.Text != "" && t.Text == sec.Draft.Text {
			return nil
		}
		compared++
	}
	if compared == 0 {
		return nil
	}
	return errOtherSession(c.session.ID())
}

// ownFile refuses a file with the permalink of another session.
func ownFile(f *vault.Front, id sequent.ID) error {
	if other := sequent.ID(f.Get(keyPermalink)); ValidID(other) && other != id {
		return errOtherSession(id)
	}
	return nil
}

func errOtherSession(id sequent.ID) error {
	return &sequent.Error{
		Code: sequent.CodeSessionExists, Field: "sessionId",
		Msg: fmt.Sprintf("the file of %s in the vault belongs to another session", id),
		Fix: "move the file to another folder, or rename it if it is a copy",
	}
}

// count sorts the positions of the log by what the file has of them.
func (c *comparison) count(written int) {
	have := make(map[int]bool, len(c.sections))
	highest := 0
	for _, sec := range c.sections {
		t, ok := c.session.At(sec.Seq)
		switch {
		case !ok && sec.Seq == c.session.Len()+len(c.ahead)+1 && sec.closed():
			c.ahead = append(c.ahead, sec)
			continue
		case !ok:
			c.foreign++
			continue
		case have[sec.Seq]:
			c.doubled = append(c.doubled, sec.Seq)
			continue
		}
		have[sec.Seq] = true
		highest = max(highest, sec.Seq)
		if !c.shows(sec, t) {
			c.edited = append(c.edited, sec.Seq)
		}
	}
	highest = max(highest, min(written, c.session.Len()))
	for seq := 1; seq <= c.session.Len(); seq++ {
		switch {
		case have[seq]:
		case seq <= highest:
			c.deleted = append(c.deleted, seq)
		default:
			c.missing = append(c.missing, seq)
		}
	}
}

// shows reports whether a section is unchanged.
func (c *comparison) shows(sec fileSection, t sequent.Thought) bool {
	want := parse(section(c.session, t))
	return len(want) == 1 && sameDraft(trimmed(sec.Draft), trimmed(want[0].Draft))
}

// trimmed returns a draft without spaces at line ends, which editors remove.
func trimmed(d sequent.Draft) sequent.Draft {
	trim := func(text string) string {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t\r")
		}
		return strings.TrimRight(strings.Join(lines, "\n"), "\n")
	}
	d.Text, d.Note = trim(d.Text), trim(d.Note)
	d.Labels = map[string]string{LabelAgent: d.Labels[LabelAgent], LabelConclusion: trim(d.Labels[LabelConclusion])}
	if d.Labels[LabelAgent] == "" {
		d.Labels[LabelAgent] = DefaultAgent
	}
	return d
}

// sameDraft reports whether two drafts are equal in a file.
func sameDraft(a, b sequent.Draft) bool {
	return a.Number == b.Number && a.Total == b.Total && a.Text == b.Text && a.Note == b.Note && a.Branch == b.Branch &&
		a.From == b.From && a.Revises == b.Revises && a.Revision == b.Revision && a.More == b.More && a.Extend == b.Extend &&
		a.Labels[LabelAgent] == b.Labels[LabelAgent] && a.Labels[LabelConclusion] == b.Labels[LabelConclusion]
}

// findAddition sets the text to append: the missing sections, without the part of the
// first one that the file already ends in.
func (c *comparison) findAddition(written int) {
	rest := ""
	if len(c.missing) > 0 {
		rest = sections(c.session, c.missing[0]-1)
	}
	conclusion, begun := c.lostConclusion(written)
	if begun && overlap(c.body, withBreaks(conclusion, c.breaks)) == 0 {
		conclusion = "" // a person wrote it
	}
	text := withBreaks(conclusion+rest, c.breaks)
	if n := overlap(c.body, text); n > 0 {
		c.torn, c.add = true, text[n:]
		c.excludeTorn()
		return
	}
	switch {
	case text == "" || c.body == "":
	case !strings.HasSuffix(c.body, "\n"):
		text = c.breaks + text
	case strings.HasSuffix(c.body, "\n"+c.breaks):
		text = strings.TrimPrefix(text, c.breaks) // the body ends in an empty line
	}
	c.add = text
}

// excludeTorn removes an incomplete last section from the edited and foreign ones.
func (c *comparison) excludeTorn() {
	last := c.sections[max(len(c.sections)-1, 0):]
	if len(last) == 0 {
		return
	}
	if last[0].Seq == 0 && c.foreign > 0 {
		c.foreign--
	}
	if !last[0].concluded {
		c.edited = slices.DeleteFunc(c.edited, func(seq int) bool { return seq == last[0].Seq })
	}
}

// lostConclusion returns the conclusion of the last thought in the file if it was not
// written, and whether the file has another text in its place.
func (c *comparison) lostConclusion(written int) (text string, begun bool) {
	seq := c.session.Len() - len(c.missing) // the last one in the file
	i := slices.IndexFunc(c.sections, func(s fileSection) bool { return s.Seq > 0 && s.Seq == seq })
	if i < 0 || seq <= written || c.sections[i].concluded {
		return "", false
	}
	t, _ := c.session.At(seq)
	return conclusionSection(t, conclusionOf(c.session, t)), c.sections[i].Draft.Labels[LabelConclusion] != ""
}

// overlap returns the length of the longest beginning of text that body ends in, unless
// that is only a line break.
func overlap(body, text string) int {
	for n := min(len(text), len(body)); n > 1; n-- {
		if text[:n] != "\r\n" && strings.HasSuffix(body, text[:n]) {
			return n
		}
	}
	return 0
}

// restored returns the body with the deleted sections: each before the first later section
// of the log, or at the end.
func (c *comparison) restored() string {
	body := c.body + c.add
	list := parse(body)
	assignPositions(list)
	at := make(map[int]*strings.Builder) // insertions by their offset in the body
	into := func(i int) *strings.Builder {
		if at[i] == nil {
			at[i] = new(strings.Builder)
		}
		return at[i]
	}
	for _, seq := range c.deleted {
		t, ok := c.session.At(seq)
		if !ok {
			continue
		}
		text := withBreaks(section(c.session, t), c.breaks)
		next := slices.IndexFunc(list, func(s fileSection) bool { return s.Seq > seq && s.Seq <= c.session.Len() })
		if next >= 0 {
			into(list[next].start).WriteString(strings.TrimPrefix(text, c.breaks) + c.breaks)
			continue
		}
		end := into(len(body))
		if end.Len() == 0 && !strings.HasSuffix(body, "\n") {
			end.WriteString(c.breaks)
		}
		end.WriteString(text)
	}
	var b strings.Builder
	done := 0
	for _, i := range slices.Sorted(maps.Keys(at)) {
		b.WriteString(body[done:i])
		b.WriteString(at[i].String())
		done = i
	}
	b.WriteString(body[done:])
	return b.String()
}
