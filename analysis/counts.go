package analysis

import (
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
)

// Counts are numbers about sessions.
type Counts struct {
	Sessions  int                   `json:"sessions"`
	States    map[sequent.State]int `json:"states"`
	Thoughts  int                   `json:"thoughts"`
	Branches  int                   `json:"branches"`
	Revisions int                   `json:"revisions"`
	Notes     int                   `json:"notes"`   // of people
	Recalls   int                   `json:"recalls"` // thoughts that name another session
	Length    Spread                `json:"length"`  // thoughts of a session
	Seconds   Spread                `json:"seconds"` // from the first thought of a session to its last
}

// A Spread tells how a number is distributed over sessions.
type Spread struct {
	Median int `json:"median"`
	P90    int `json:"p90"` // nine of ten are at most this
	Max    int `json:"max"`
}

// A sessionCounts has the numbers of one session.
type sessionCounts struct {
	thoughts, branches, revisions, notes, recalls int
	took                                          time.Duration
}

func countSession(s *sequent.Session, log []sequent.Thought) sessionCounts {
	n := sessionCounts{thoughts: len(log), branches: len(s.Branches()), notes: len(s.Notes()), took: log[len(log)-1].At.Sub(log[0].At)}
	for _, t := range log {
		if t.Revision || t.Supersedes > 0 {
			n.revisions++
		}
	}
	return n
}

// counts returns the sums over the sessions that the query is about.
func (c *corpus) counts() Counts {
	n := Counts{States: make(map[sequent.State]int)}
	var lengths, seconds []int
	for _, s := range c.sessions {
		if !s.read || !c.about(s.header.Updated, s.header.Key) {
			continue
		}
		n.Sessions++
		n.States[s.header.State]++
		n.Thoughts += s.counts.thoughts
		n.Branches += s.counts.branches
		n.Revisions += s.counts.revisions
		n.Notes += s.counts.notes
		n.Recalls += s.counts.recalls
		lengths = append(lengths, s.counts.thoughts)
		seconds = append(seconds, int(s.counts.took/time.Second))
	}
	n.Length, n.Seconds = spread(lengths), spread(seconds)
	return n
}

func spread(all []int) Spread {
	if len(all) == 0 {
		return Spread{}
	}
	slices.Sort(all)
	at := func(share float64) int { return all[min(int(share*float64(len(all))), len(all)-1)] }
	return Spread{Median: at(0.5), P90: at(0.9), Max: all[len(all)-1]}
}
