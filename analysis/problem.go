package analysis

import (
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
)

// Two sessions are about the same problem if each has most of the words that the other
// begins with: on average sameProblem of their weight, where rare words weigh more, and
// minShared words at least.
const (
	sameProblem = 0.55
	minShared   = 3
)

// problems returns the problems of more than one session.
func (c *corpus) problems() []Problem {
	frequency := make(map[uint32]int)
	postings := make(map[uint32][]int) // sessions that begin with a word
	for i, s := range c.sessions {
		for _, w := range s.whole {
			frequency[w]++
		}
		for _, w := range s.head {
			postings[w] = append(postings[w], i)
		}
	}
	weight := func(w uint32) float64 {
		n := math.Log(1 + float64(len(c.sessions))/float64(frequency[w]))
		return n * n
	}
	// contained returns how much of a head is in a text, and how many words.
	contained := func(head, whole []uint32) (share float64, n int) {
		all := 0.0
		for _, w := range head {
			all += weight(w)
			if _, ok := slices.BinarySearch(whole, w); ok {
				share += weight(w)
				n++
			}
		}
		return share / max(all, 1e-9), n
	}
	groups := newGroups(len(c.sessions))
	shared := make(map[int]int)
	for i, s := range c.sessions {
		clear(shared)
		for _, w := range s.head {
			if len(postings[w]) > maxPostings {
				continue
			}
			for _, j := range postings[w] {
				if j >= i {
					break
				}
				shared[j]++
			}
		}
		for j, n := range shared {
			other := c.sessions[j]
			if n < minShared || other.header.Owner != s.header.Owner {
				continue
			}
			there, n := contained(s.head, other.whole)
			back, m := contained(other.head, s.whole)
			if min(n, m) >= minShared && (there+back)/2 >= sameProblem {
				groups.join(i, j)
			}
		}
	}
	var found []Problem
	for _, members := range groups.all() {
		if len(members) < 2 {
			continue
		}
		slices.SortFunc(members, func(i, j int) int {
			return c.sessions[i].header.Created.Compare(c.sessions[j].header.Created)
		})
		var p Problem
		var keys []sequent.Key
		for _, i := range members {
			s := c.sessions[i]
			p.Sessions = append(p.Sessions, Occurrence{Problem: s.problem, State: s.header.State, End: s.end})
			keys = append(keys, s.header.Key)
		}
		if c.about(p.latest().End.At, keys...) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b Problem) int { return b.latest().End.At.Compare(a.latest().End.At) })
	return found
}

func (p *Problem) latest() *Occurrence { return &p.Sessions[len(p.Sessions)-1] }

// A groups joins indexes to groups.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) root(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(i, j int) {
	a, b := g.root(i), g.root(j)
	g[max(a, b)] = min(a, b)
}

// all returns the members of each group with more than one, in order.
func (g groups) all() [][]int {
	members := make(map[int][]int)
	for i := range g {
		members[g.root(i)] = append(members[g.root(i)], i)
	}
	var all [][]int
	for i := range g {
		if m := members[i]; len(m) > 1 {
			all = append(all, m)
		}
	}
	return all
}
