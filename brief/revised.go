package brief

import "strings"

import "github.com/sequent-dev/sequent"

// chains returns what replaced what, oldest first: "#4 → #6 → #14".
func (w *writer) chains() []string {
	replaced := make(map[int]bool) // thoughts that some chain has at its beginning
	by := make(map[int]int)
	for i := range w.log {
		if old := w.log[i].Supersedes; old > 0 {
			by[old] = w.log[i].Seq
		}
	}
	for _, next := range by {
		replaced[next] = true
	}
	var chains []string
	for i := range w.log {
		t := w.log[i]
		if by[t.Seq] == 0 || replaced[t.Seq] {
			continue
		}
		var chain strings.Builder
		chain.WriteString(Name(t))
		for seq := by[t.Seq]; seq > 0; seq = by[seq] {
			chain.WriteString(" → " + Name(w.log[seq-1]))
		}
		chains = append(chains, chain.String())
	}
	return chains
}

// aimless returns the revisions that do not say what they revise.
func (w *writer) aimless() []sequent.Thought {
	var found []sequent.Thought
	for _, t := range w.log {
		if t.Revision && t.Supersedes == 0 {
			found = append(found, t)
		}
	}
	return found
}

// change returns the thought that made the author revise the most at once, the latest
// of several, and the revisions that follow it without another thought in between.
func (w *writer) change() (cause int, revisions []sequent.Thought) {
	for i := 1; i < len(w.log); i++ {
		n := i
		for n < len(w.log) && w.log[n].Supersedes > 0 {
			n++
		}
		if run := w.log[i:n]; len(run) > 1 && len(run) >= len(revisions) {
			cause, revisions = i, run
		}
		i = max(i, n-1)
	}
	return cause, revisions
}
