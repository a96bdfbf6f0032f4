package brief

import (
	"strings"

	"github.com/sequent-dev/sequent"
)

// chains returns what replaced what, oldest first: "#4 → #6 → #14".
func (w *writer) chains() (chains []string) {
	by := make(map[int]int)
	for i := range w.log {
		by[w.log[i].Supersedes] = w.log[i].Seq
	}
	delete(by, 0)
	for i := range w.log {
		t := &w.log[i]
		if by[t.Seq] == 0 || by[t.Supersedes] == t.Seq { // it stands, or is within a chain
			continue
		}
		var chain strings.Builder
		chain.WriteString(Name(*t))
		for seq := by[t.Seq]; seq > 0; seq = by[seq] {
			chain.WriteString(" → " + Name(w.log[seq-1]))
		}
		chains = append(chains, chain.String())
	}
	return chains
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
