package findings

import (
	"cmp"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// A Reading is a session with what readers are told of its thoughts.
type Reading struct {
	*sequent.Session
	Standings []sequent.Standing      // by Seq - 1
	Lines     map[string]sequent.Line // by label
	Lengths   map[string]int          // by label: thoughts of the line itself
	Notes     map[int][]sequent.Note  // by Seq: what people said
	Found     map[int][]string        // by Seq; see [Texts]
	Revisions [][2]int                // Seqs of what was replaced, and by what
	Concluded int                     // Seq of the thought that concluded the session, also if it is disputed; 0 for none
}

// Read returns the reading of a session.
func Read(s *sequent.Session) *Reading {
	r := &Reading{
		Session: s, Standings: s.Standings(), Lines: make(map[string]sequent.Line), Lengths: make(map[string]int),
		Notes: make(map[int][]sequent.Note), Found: Texts(s),
	}
	for _, l := range s.Lines() {
		r.Lines[l.Label] = l
	}
	for _, n := range s.Notes() {
		r.Notes[n.Seq] = append(r.Notes[n.Seq], n)
	}
	for t := range s.All() {
		r.Lengths[t.Branch]++
		if t.Supersedes > 0 {
			r.Revisions = append(r.Revisions, [2]int{t.Supersedes, t.Seq})
		}
		if st := r.Standings[t.Seq-1].State; st == sequent.Concluded || st == sequent.Disputed && t.Final {
			r.Concluded = t.Seq
		}
	}
	return r
}

// Standing returns that of a thought.
func (r *Reading) Standing(t *sequent.Thought) sequent.Standing { return r.Standings[t.Seq-1] }

// Relations says what a thought does to another one and what was done to it, each in some words: "replaces #4". The name
// of a thought is as the reader knows it.
func (r *Reading) Relations(t *sequent.Thought, name func(sequent.Thought) string) (all []string) {
	old, replaces := r.At(t.Supersedes)
	number, named := t.Revises.Number()
	switch {
	case replaces:
		all = append(all, "replaces "+name(old))
	case named:
		all = append(all, fmt.Sprintf("replaces %d, which is not recorded", number))
	case t.Revision:
		all = append(all, "revision")
	}
	switch st := r.Standing(t); st.State {
	case sequent.Superseded:
		by, _ := r.At(st.By)
		all = append(all, "replaced by "+name(by))
	case sequent.Disputed:
		all = append(all, "! disputed")
	}
	return all
}

// Part returns the thoughts that hold on both of two lines, before these part, and those that each has of its own.
func (r *Reading) Part(one, other string) (both, a, b []sequent.Step) {
	a, b = r.Effective(one), r.Effective(other)
	n := 0
	for n < min(len(a), len(b)) && a[n].Seq == b[n].Seq {
		n++
	}
	return a[:n], a[n:], b[n:]
}

// Noted returns what a person said about a thought, after the kind and who it was: "wrong (Kim): the log says otherwise".
func Noted(n sequent.Note) string {
	said := map[sequent.NoteKind]string{sequent.Wrong: "wrong ", sequent.Approval: "approved "}[n.Kind] + "(" + cmp.Or(n.From, "a person") + ")"
	if n.Text != "" {
		said += ": " + n.Text
	}
	return said
}
