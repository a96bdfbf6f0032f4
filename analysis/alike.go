package analysis

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/textsearch"
)

// A stems numbers the stems of words, so that sets of them are small.
type stems map[string]uint32

// set returns the stems of the content words among tokens, sorted.
func (s stems) set(tokens []string) []uint32 {
	var ids []uint32
	for _, t := range tokens {
		if textsearch.IsFunctionWord(t) || len(t) == 1 && (t[0] < '0' || t[0] > '9') {
			continue
		}
		stem := textsearch.Stem(t)
		id, ok := s[stem]
		if !ok {
			id = uint32(len(s))
			s[strings.Clone(stem)] = id
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// generic are words that problems of every kind begin with.
var generic = words(`let us start begin first think thinking analyze analyse understand problem question issue task user users want wants need
	needs look figure out step steps plan approach goal work working try please want going now here get make find help ll re ve don t s also just new use
	using used still when while after before during again way thing things show shows see`)

func words(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// common returns how many elements two sorted sets have in common.
func common(a, b []uint32) (n int) {
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			n++
		}
	}
	return n
}

// Two texts are compared if they share minShared stems. A stem of more than maxPostings texts says
// little. maxCompared limits the pairs that share a stem.
const (
	minShared   = 3
	maxPostings = 2000
	maxCompared = 5_000_000
	tooMuch     = "The sessions have too much in common to compare all of them."
)

// groups returns the indexes of texts that are alike, in groups of more than one: those that share
// stems and for which alike is true, and what is like one of these.
func (c *corpus) groups(ctx context.Context, texts [][]uint32, alike func(i, j int) bool) (found [][]int) {
	postings := make(map[uint32][]int)
	group := make([]int, len(texts)) // a member of the group with a lower index, or the text itself
	root := func(i int) int {
		for ; group[i] != i; i = group[i] {
			group[i] = group[group[i]]
		}
		return i
	}
	shared := make(map[int]int)
	for i, stems := range texts {
		if ctx.Err() != nil {
			return nil
		}
		group[i] = i
		clear(shared)
		for _, w := range stems {
			before := postings[w]
			if postings[w] = append(before, i); len(before) >= maxPostings {
				continue
			}
			if c.compared += len(before); c.compared > maxCompared {
				if !strings.HasSuffix(c.notice, tooMuch) {
					c.say(tooMuch)
				}
				continue
			}
			for _, j := range before {
				shared[j]++
			}
		}
		for j, n := range shared {
			if n >= minShared && alike(i, j) {
				a, b := root(i), root(j)
				group[max(a, b)] = min(a, b)
			}
		}
	}
	members := make(map[int][]int)
	for i := range texts {
		members[root(i)] = append(members[root(i)], i)
	}
	for i := range texts {
		if len(members[i]) > 1 {
			found = append(found, members[i])
		}
	}
	return found
}

// recurring returns the assumptions of more than one session: those that share most stems and all
// numbers.
func (c *corpus) recurring(ctx context.Context) (found []Finding) {
	var all []*assumption
	var texts [][]uint32
	for _, s := range c.sessions {
		for i := range s.assumed {
			all, texts = append(all, &s.assumed[i]), append(texts, s.assumed[i].stems)
		}
	}
	const share = 0.6
	for _, members := range c.groups(ctx, texts, func(i, j int) bool {
		a, b := all[i], all[j]
		n := common(a.stems, b.stems)
		return a.negated == b.negated && a.numbers == b.numbers && float64(n) >= share*float64(len(a.stems)+len(b.stems)-n)
	}) {
		slices.SortFunc(members, func(i, j int) int { return all[i].use.At.Compare(all[j].use.At) })
		var f Finding
		for _, i := range members {
			use := all[i].use
			if !slices.ContainsFunc(f.Parts, func(p Part) bool { return p.key() == use.key() }) {
				f.Parts = append(f.Parts, use)
			}
		}
		if f.Title = fmt.Sprintf("in %d sessions", len(f.Parts)); len(f.Parts) > 1 {
			found = append(found, f)
		}
	}
	return found
}

// A rarity weighs stems: those that few of some texts have weigh more.
type rarity struct {
	texts     int
	frequency map[uint32]int
}

func newRarity() *rarity { return &rarity{frequency: make(map[uint32]int)} }

// add counts the stems of a text.
func (r *rarity) add(stems []uint32) {
	r.texts++
	for _, w := range stems {
		r.frequency[w]++
	}
}

// of returns how rare a stem is: 1 if one text has it, less if several have it.
func (r *rarity) of(stem uint32) float64 {
	n := float64(r.texts)
	return math.Log(1+n/float64(r.frequency[stem])) / math.Log(1+n)
}

// shared returns how many stems of a problem a text has, and their weight.
func (r *rarity) shared(problem, text []uint32) (n int, weight float64) {
	for _, w := range problem {
		if _, ok := slices.BinarySearch(text, w); ok {
			n++
			weight += math.Pow(r.of(w), 3)
		}
	}
	return n, weight
}

// problems returns the problems of more than one session: those that begin with mostly the same words, of which
// rare ones weigh more. A longer beginning may say more than the other one.
func (c *corpus) problems(ctx context.Context) (found []Finding) {
	rare := newRarity()
	var asked [][]uint32
	for _, s := range c.sessions {
		rare.add(s.asked)
		asked = append(asked, s.asked)
	}
	const share = 0.5
	same := func(a, b []uint32) bool {
		_, weight := rare.shared(a, b)
		_, one := rare.shared(a, a)
		_, other := rare.shared(b, b)
		return weight >= share*min(one, other)
	}
	for _, members := range c.groups(ctx, asked, func(i, j int) bool {
		a, b := c.sessions[i], c.sessions[j]
		return a.header.Owner == b.header.Owner && same(a.asked, b.asked)
	}) {
		slices.SortFunc(members, func(i, j int) int {
			return c.sessions[i].header.Created.Compare(c.sessions[j].header.Created)
		})
		f := Finding{Title: fmt.Sprintf("in %d sessions", len(members))}
		for _, i := range members {
			s := c.sessions[i]
			says := "ended with"
			if s.header.State != sequent.Completed {
				says = "is " + string(s.header.State) + " at"
			}
			f.Parts = append(f.Parts, Part{"was", s.problem})
			if s.end.Seq != s.problem.Seq {
				f.Parts = append(f.Parts, Part{says, s.end})
			}
		}
		found = append(found, f)
	}
	return found
}
