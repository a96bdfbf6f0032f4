package thinking

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A comparison is of a file with the session that it shows.
type comparison struct {
	session *sequent.Session
	body    string // of the note; without what cannot be text at its end
	rewrite bool   // it has to be cut
	breaks  string // what its lines end in
	front   string // what its front matter tells

	sections []Section // of the file, those of the log with their positions
	add      string    // what is to be added at the end
	missing  []int     // positions that were never written, whole or in part
	deleted  []int     // that were written, and are not there
	edited   []int     // whose sections say something else
	doubled  []int     // that are there more than once
	foreign  int       // sections that are of no thought in the log
	ahead    []Section // those of them that go on where the log ends
	torn     bool      // the file ends in a part of a section
}

// compare finds out what a file has and lacks. It is an error if the file
// belongs to another session.
func compare(n *vault.Note, s *sequent.Session, m mark) (*comparison, error) {
	c := &comparison{session: s, body: n.Body, breaks: n.LineBreak(), front: frontKeyOf(&n.Front)}
	if cut := strings.TrimRight(c.body, "\x00"); cut != c.body {
		// What a file system shows of an append that it did not finish.
		c.body, c.rewrite, c.torn = cut, true, true
	}
	c.sections = Parse(c.body)
	place(c.sections)
	c.doubtLast()
	if err := c.sameSession(&n.Front); err != nil {
		return nil, err
	}
	written := m.seqOf(s)
	c.count(written)
	c.plan(written)
	return c, nil
}

// place gives sections without block ids the positions that follow from their
// order: those of a file that another program has written.
func place(list []Section) {
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
			return // no program has written that
		}
		list[i].Seq = i + 1
	}
}

// doubtLast takes the position from a last section that ends in the middle of a
// line, if it cannot be its own: of the id of thought 12 only ^thought-1 has been
// written.
func (c *comparison) doubtLast() {
	if len(c.sections) == 0 || strings.HasSuffix(c.body, "\n") {
		return
	}
	last := &c.sections[len(c.sections)-1]
	t, ok := c.session.At(last.Seq)
	if last.end == len(c.body) && (!ok || t.Number != last.Draft.Number || t.At.Unix() != last.At.Unix()) {
		last.Seq = 0
	}
}

// sameSession refuses the file of another session. That is one whose permalink
// names another, where a system does not tell names by case; or one whose
// sections are of other thoughts than those of the log. People edit texts: that
// they change the time of a thought as well is less likely than that there are
// two sessions of one id.
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
	return anothersFile(c.session.ID())
}

// ownFile refuses a file whose permalink is the id of another session.
func ownFile(f *vault.Front, id sequent.ID) error {
	if other := sequent.ID(f.Get(keyPermalink)); ValidID(other) && other != id {
		return anothersFile(id)
	}
	return nil
}

func anothersFile(id sequent.ID) error {
	return &sequent.Error{
		Code: sequent.CodeSessionExists, Field: "sessionId",
		Msg: fmt.Sprintf("the file of %s in the vault is of another session", id),
		Fix: "move the file to another folder, or if it is a copy give it another name",
	}
}

// count finds out which thoughts the file shows.
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

// shows reports whether a section says what the thought said.
func (c *comparison) shows(sec Section, t sequent.Thought) bool {
	want := Parse(section(c.session, t))
	return len(want) == 1 && sameDraft(trimmed(sec.Draft), trimmed(want[0].Draft))
}

// trimmed returns a draft without spaces at the ends of lines, which editors
// take off.
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

// sameDraft reports whether two drafts say the same in a file.
func sameDraft(a, b sequent.Draft) bool {
	return a.Number == b.Number && a.Total == b.Total && a.Text == b.Text && a.Note == b.Note && a.Branch == b.Branch &&
		a.From == b.From && a.Revises == b.Revises && a.Revision == b.Revision && a.More == b.More && a.Extend == b.Extend &&
		a.Labels[LabelAgent] == b.Labels[LabelAgent] && a.Labels[LabelConclusion] == b.Labels[LabelConclusion]
}

// plan finds what is to be added: the missing sections, but for the part of
// the first that the file ends in already.
func (c *comparison) plan(written int) {
	rest := ""
	if len(c.missing) > 0 {
		rest = sections(c.session, c.missing[0]-1)
	}
	conclusion, begun := c.lostConclusion(written)
	if begun && overlap(c.body, c.broken(conclusion)) == 0 {
		conclusion = "" // it is a person's
	}
	text := c.broken(conclusion + rest)
	if n := overlap(c.body, text); n > 0 {
		c.torn, c.add = true, text[n:]
		c.settle()
		return
	}
	switch {
	case text == "" || c.body == "":
	case !strings.HasSuffix(c.body, "\n"):
		text = c.breaks + text
	case strings.HasSuffix(c.body, "\n"+c.breaks):
		text = strings.TrimPrefix(text, c.breaks) // there is an empty line
	}
	c.add = text
}

// broken returns a text with the line breaks of the file.
func (c *comparison) broken(text string) string {
	if c.breaks == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", c.breaks)
}

// settle takes back what was thought of a section that turned out to be torn.
func (c *comparison) settle() {
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

// lostConclusion returns the conclusion of the last thought in the file, if it
// was not written with it, and whether the file has something in its place.
func (c *comparison) lostConclusion(written int) (text string, begun bool) {
	seq := c.session.Len() - len(c.missing) // the last before the missing ones
	i := slices.IndexFunc(c.sections, func(s Section) bool { return s.Seq > 0 && s.Seq == seq })
	if i < 0 || seq <= written || c.sections[i].concluded {
		return "", false
	}
	t, _ := c.session.At(seq)
	return conclusionSection(t, conclusionOf(c.session, t)), c.sections[i].Draft.Labels[LabelConclusion] != ""
}

// overlap returns the length of the longest beginning of text that body ends
// in, if it is more than a line break.
func overlap(body, text string) int {
	for n := min(len(text), len(body)); n > 1; n-- {
		if text[:n] != "\r\n" && strings.HasSuffix(body, text[:n]) {
			return n
		}
	}
	return 0
}

// restored returns the body with the deleted sections back in their places:
// each before the first section that comes after it in the log, else at the end.
func (c *comparison) restored() string {
	body := c.body + c.add
	list := Parse(body)
	place(list)
	at := make(map[int]*strings.Builder) // where in the body → what goes there
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
		text := c.broken(section(c.session, t))
		next := slices.IndexFunc(list, func(s Section) bool { return s.Seq > seq && s.Seq <= c.session.Len() })
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
