package thinking

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// The keys of front matter.
const (
	keyTitle     = "title"
	keyPermalink = "permalink"
	keyType      = "type"
	keyStatus    = "status"
	keyCreated   = "created"
	keyModified  = "modified"
	keyAnalysis  = "analysisType"
	keyParent    = "parent"
	keyCompleted = "completed"
	keyCancelled = "cancelled"
	keyThoughts  = "thoughtCount" // how much of the log has been written
	keyMissing   = "missing"
)

// written returns how many thoughts of the log a note has had.
func written(f *vault.Front) int {
	n, err := strconv.Atoi(f.Get(keyThoughts))
	if err != nil {
		return 0
	}
	return n
}

// behind reports whether front matter has an earlier state than that of a header.
func behind(f *vault.Front, h sequent.Header) bool {
	return written(f) < h.Len || f.Time(keyModified).Before(h.Updated.Truncate(time.Millisecond))
}

// newNote returns the note of a session, without its thoughts.
func newNote(uri vault.URI, s *sequent.Session) (*vault.Note, error) {
	n := &vault.Note{URI: uri, Body: "\n# " + title(s) + "\n"}
	return n, n.Front.SetAll(keyTitle, title(s), keyPermalink, s.ID(), keyType, "sequential", keyStatus, s.State(), keyCreated, s.Created())
}

// writeState writes the session's state into front matter, unless a person has deleted or
// damaged that, or the state is not newer.
func writeState(f *vault.Front, s *sequent.Session) error {
	if !f.Present() || f.Err() != nil || !behind(f, s.Header()) {
		return nil
	}
	status := string(s.State())
	var completed, cancelled any
	switch s.State() {
	case sequent.Completed:
		completed = s.Updated()
	case sequent.Cancelled:
		cancelled = s.Updated()
	case sequent.Active:
		// A person may have written another word for it.
		if now := f.Get(keyStatus); now != "" && !slices.Contains(closed, sequent.State(now)) {
			status = now
		}
	}
	var lacks any
	if text := s.Label(LabelMissing); text != "" {
		lacks = strings.Split(text, ", ")
	}
	return f.SetAll(keyStatus, status, keyModified, s.Updated(), keyAnalysis, s.Label(LabelAnalysisType),
		keyParent, workflowLink(s.Label(LabelParent)), keyCompleted, completed, keyCancelled, cancelled,
		keyThoughts, s.Len(), keyMissing, lacks)
}

var closed = []sequent.State{sequent.Completed, sequent.Cancelled, sequent.Abandoned}

// ownNote refuses a note with the permalink of another session: a copy, or on a
// case-insensitive file system the note of a session with a similar id.
func ownNote(f *vault.Front, id sequent.ID) error {
	if other := sequent.ID(f.Get(keyPermalink)); !ValidID(other) || other == id {
		return nil
	}
	return sequent.Errorf(sequent.CodeSessionExists, "sessionId", "move the file to another folder, or rename it if it is a copy",
		"the file of %s in the vault belongs to another session", id)
}

// compare returns the positions of thoughts that a note was never given, and of those that
// a person has deleted from it.
func compare(n *vault.Note, list []Section, s *sequent.Session) (missing, deleted []int) {
	last := 0                  // of the log in the note
	have := make(map[int]bool) // false for a section that is not of this log
	had, at := written(&n.Front), n.Front.Time(keyModified)
	for _, sec := range list {
		t, ok := s.At(sec.Seq)
		own := ok && (sec.At.IsZero() || sec.At.Unix() == t.At.Unix() || sec.Draft.Text == t.Text)
		have[sec.Seq] = have[sec.Seq] || own
		if own {
			last = max(last, sec.Seq)
		}
	}
	for seq := omittedIn(n.Body) + 1; seq <= s.Len(); seq++ {
		t, _ := s.At(seq)
		own, other := have[seq]
		switch {
		case own || empty(s, t):
		case !other && (seq < last || seq <= had && !t.At.Truncate(time.Millisecond).After(at)):
			deleted = append(deleted, seq)
		default:
			missing = append(missing, seq)
		}
	}
	return missing, deleted
}

// empty reports whether a thought has nothing to read: a call that cancels can leave all texts
// out, and front matter has when it did.
func empty(s *sequent.Session, t sequent.Thought) bool {
	return t.Text == "" && t.Note == "" && conclusionOf(s, t) == ""
}

// edited reports whether a section differs from what the log says, but for spaces at the
// ends of lines, which editors remove.
func edited(s *sequent.Session, sec Section) bool {
	t, _ := s.At(sec.Seq)
	conclusion := trimmed(conclusionOf(s, t))
	now := sequent.Thought{Seq: t.Seq, At: t.At, Draft: sec.Draft}
	for _, d := range []*sequent.Draft{&t.Draft, &now.Draft} {
		d.Text, d.Note = trimmed(d.Text), trimmed(d.Note)
	}
	return render(now, trimmed(sec.Draft.Labels[LabelConclusion])) != render(t, conclusion)
}

// trimmed returns a text without spaces at the ends of lines and lines at its end.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// merge writes into a note what it lacks of a session. What a person has written or
// deleted stays so; with all, deleted thoughts come back.
func merge(n *vault.Note, s *sequent.Session, all bool, limit int64) error {
	if err := ownNote(&n.Front, s.ID()); err != nil {
		return err
	}
	list := Sections(n.Body)
	add, deleted := compare(n, list, s)
	if all {
		add = append(add, deleted...)
		slices.Sort(add)
	}
	omitted := omittedIn(n.Body)
	if len(add) > 0 {
		if first := newest(s, add[0]-1, limit); first >= add[0] { // not all of them fit
			omitted = max(omitted, first)
		}
	}
	insert(n, list, s, slices.DeleteFunc(add, func(seq int) bool { return seq <= omitted }))
	if err := writeState(&n.Front, s); err != nil {
		return err
	}
	if omitted > omittedIn(n.Body) || !fits(int64(len(n.Bytes())), links(n.Body), limit) {
		shorten(n, s, max(omitted, newest(s, 0, limit)))
	}
	return nil
}

// insert writes the sections of thoughts into a note with the given sections: each before
// the first later thought, or at the end.
func insert(n *vault.Note, list []Section, s *sequent.Session, add []int) {
	var b, end strings.Builder
	done := 0
	for _, seq := range add {
		t, _ := s.At(seq)
		next := slices.IndexFunc(list, func(sec Section) bool { return sec.Seq > seq && sec.Seq <= s.Len() })
		if next < 0 {
			end.WriteString(section(s, t))
			continue
		}
		b.WriteString(n.Body[done:list[next].Start])
		b.WriteString(strings.ReplaceAll(section(s, t)[1:]+"\n", "\n", n.LineBreak()))
		done = list[next].Start
	}
	n.Body = b.String() + n.Body[done:]
	if end.Len() > 0 {
		n.AddSection(end.String()[1:])
	}
}

// The note of a session that would be larger than a note may be has the newest thoughts, in
// half of the limit so that the next ones find room, and says how many it leaves out.

// omittedForm matches the line that says how many thoughts are left out.
var omittedForm = lazyregexp.New(`(?m)^\*\d+ earlier thoughts? .*\* \^omitted-(\d{1,15})[ \t\r]*\n?`)

// omittedIn returns how many thoughts of the log a body says that it leaves out.
func omittedIn(body string) int {
	if !strings.Contains(body, "^omitted-") { // the expression takes long for a long body
		return 0
	}
	m := omittedForm().FindStringSubmatch(body)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // 15 digits
	return n
}

// links returns the number of links in a text, at least if they are too many.
func links(text string) int {
	if n := strings.Count(text, "[["); n <= vault.MaxLinks/2 {
		return n
	}
	return len(wikilink.Parse([]byte(text)))
}

// fits reports whether a note may have a size and a number of links.
func fits(bytes int64, links int, limit int64) bool { return bytes <= limit && links <= vault.MaxLinks }

// newest returns after how many thoughts, at least n, those begin that a shortened note has.
func newest(s *sequent.Session, n int, limit int64) int {
	bytes, count := int64(0), 0
	for seq := s.Len(); seq > n; seq-- {
		t, _ := s.At(seq)
		text := section(s, t)
		bytes, count = bytes+int64(len(text)), count+links(text)
		if seq < s.Len() && !fits(2*bytes, 2*count, limit) {
			return seq
		}
	}
	return n
}

// shorten removes the sections of the first thoughts, except those that a person has
// edited, and adds the line that says so.
func shorten(n *vault.Note, s *sequent.Session, omitted int) {
	var b strings.Builder
	done := 0
	for _, sec := range Sections(n.Body) {
		if sec.Seq > 0 && sec.Seq <= omitted && !edited(s, sec) {
			b.WriteString(n.Body[done:sec.Start])
			done = sec.End
		}
	}
	b.WriteString(n.Body[done:])
	rest := omittedForm().ReplaceAllString(b.String(), "")
	at := len(rest)
	if list := Sections(rest); len(list) > 0 {
		at = list[0].Start
	}
	noun := "thoughts are"
	if omitted == 1 {
		noun = "thought is"
	}
	line := fmt.Sprintf("\n\n*%d earlier %s not in this note: sequent show %s has them.* ^omitted-%d\n\n", omitted, noun, s.ID(), omitted)
	n.Body = strings.TrimRight(rest[:at], "\r\n") + strings.ReplaceAll(line, "\n", n.LineBreak()) + rest[at:]
}
