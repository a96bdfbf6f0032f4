package standard

import (
	"context"
	"maps"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/reference"
	"github.com/sequent-dev/sequent/tool"
)

// Labels of a first thought say which sessions its reply names. They are recorded so that the reply
// to a repeated call is the same. That of an earlier session is a reference: a session that is
// deleted must not be quoted in another one.
const (
	labelOpen    = name + ".open"    // the session that was left open
	labelEarlier = name + ".earlier" // the one on the same problem
	labelCommits = name + ".commits" // how many commits there are since then: "1 commit"
)

// labels returns the labels of the step as the first thought of a session.
func (st *step) labels() map[string]string {
	labels := map[string]string{labelEarlier: st.earlier, labelCommits: st.commits}
	if st.open != nil {
		labels[labelOpen] = named(st.open, st.now)
	}
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// thoughtOf returns the reference to a thought that a label has.
func thoughtOf(label string) (reference.Reference, bool) {
	for r := range reference.Readings(label) {
		if r.Seq > 0 {
			return r, true
		}
	}
	return reference.Reference{}, false
}

// lookBack looks for an earlier session on the problem of a step that begins one.
func (d *server) lookBack(ctx context.Context, c tool.Caller, st *step) {
	if d.noEarlier {
		return
	}
	s, err := analysis.Earlier(ctx, d.engine.Owned(c.Owner), c.Scope.Project, st.Thought)
	if err != nil || s == nil { // the thought is worth more than the offer
		return
	}
	if st.open != nil && st.open.ID == s.ID() { // the notice names it
		return
	}
	st.earlier = reference.Reference{Session: s.ID(), Seq: s.Len()}.String()
	if o := s.Origin(); d.commits != nil && o.Commit != "" {
		if n, ok := d.commits(o.Project, o.Commit); ok {
			st.commits = printable.Count(n, "commit", "commits")
		}
	}
}

// earlier returns what the reply to the first thought of a session says about an earlier one on the
// same problem: its id, its age, how many commits are younger, and what it came to when it was found.
// It is empty if no such session was found, or if it was deleted since.
func (d *server) earlier(ctx context.Context, owner string, s *sequent.Session) string {
	t, _ := s.At(1)
	r, ok := thoughtOf(t.Labels[labelEarlier])
	if !ok {
		return ""
	}
	old, err := d.engine.Owned(owner).Session(ctx, r.Session)
	if err != nil || old.Len() < r.Seq || old.Created().After(t.At) {
		return ""
	}
	old = old.Upto(r.Seq)
	last, _ := old.Last()
	said := ", " + printable.Ago(t.At.Sub(last.At))
	if n := t.Labels[labelCommits]; n != "" {
		said += ", " + n + " since"
	}
	if old.State() != sequent.Completed {
		said += ", unfinished"
	}
	_, came := analysis.Ending(old)
	return withClause(string(r.Session), said+": ", came)
}

// maxEarlier limits the member earlier of a reply, its name and quotes included, in tokens as they are estimated
// here. In o200k these are at most 45.
const maxEarlier = 42

// withClause returns what is said of a session, with as much of the first clause of its conclusion as there is room
// for. It is empty if there is no room for a few words, because the id is long.
func withClause(id, said, conclusion string) string {
	const longest, shortest = 160, 24 // bytes
	const name = 5                    // tokens of ,"earlier":""
	room := maxEarlier - name - (3*len(id)+3)/4 - tokens(said)
	for n := longest; n >= shortest; n -= 4 {
		if clause := brief.Clause(conclusion, n); tokens(clause) <= room {
			return id + said + clause
		}
	}
	return ""
}

// tokens estimates the o200k tokens of a text: one for every five letters and every three digits of a run, one for
// the space before a number, and one for another character, or more if it has more than two bytes.
func tokens(text string) (n int) {
	run, per := 0, 0
	space := false
	for _, r := range text {
		kind := 1
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			kind = 5
		case r >= '0' && r <= '9':
			kind = 3
		}
		switch {
		case r == ' ':
			per = 0
		case kind == 1:
			n += max(1, utf8.RuneLen(r)-1)
			per = 0
		case kind == per && run%kind != 0:
			run++
		default:
			if n++; kind == 3 && space {
				n++
			}
			run, per = 1, kind
		}
		space = r == ' '
	}
	return n
}
