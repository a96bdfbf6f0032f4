package index

import (
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/words"
)

// A concepts table numbers concepts. Snapshots share one: it only grows, and
// concepts that no note mentions any more do no harm.
type concepts struct {
	mu      sync.RWMutex
	names   []string
	numbers map[string]int32
	spelled map[string]int32 // by the words of the name
}

// find returns the number of a concept.
func (c *concepts) find(name string) (int32, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n, ok := c.numbers[name]
	return n, ok
}

// findSpelled returns the number of the first concept whose name has these words.
func (c *concepts) findSpelled(tokens []string) (int32, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n, ok := c.spelled[strings.Join(tokens, " ")]
	return n, ok
}

// all returns the names of all concepts, by number.
func (c *concepts) all() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.names
}

func (c *concepts) name(n int32) string { return c.all()[n] }

// intern returns the numbers of concepts, and numbers new ones.
func (c *concepts) intern(names []string) []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	numbers := make([]int32, 0, len(names))
	for _, name := range names {
		n, ok := c.numbers[name]
		if !ok {
			n = int32(len(c.names))
			c.names = append(c.names, name)
			c.numbers[name] = n
			spelled := strings.Join(words.Tokens(name), " ")
			if _, taken := c.spelled[spelled]; !taken && spelled != "" {
				c.spelled[spelled] = n
			}
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// A census is the size of the graph.
type census struct {
	concepts, relations, orphans int
	partial                      bool // there are more relations
}

// countBudget limits the links that count visits for relations, to about 0.3 s. A note
// with n links costs n².
const countBudget = 1 << 27

// count counts the concepts that notes mention, the pairs of them that a note
// mentions together, and the concepts that are in no pair. It stops counting pairs when
// the budget is used up.
func (s *snapshot) count() census {
	var out census
	last := int64(0)
	for id := range s.notes {
		last = max(last, id)
	}
	links := make([][]int32, last+1) // by note; a slice, because a map takes half as long again
	for id, n := range s.notes {
		links[id] = n.concepts
	}
	budget := countBudget
	seen := make([]int32, len(s.mentions)) // by concept: one more than the concept that it was last paired with
	for i, notes := range s.mentions {
		if len(notes) == 0 {
			continue
		}
		c := int32(i)
		out.concepts++
		alone := true
		for _, id := range notes {
			alone = alone && len(links[id]) == 1 // a note's concepts differ
			if budget -= len(links[id]); budget < 0 {
				out.partial = true
				continue
			}
			for _, other := range links[id] {
				if other > c && seen[other] != c+1 { // pairs with a smaller one have been counted
					seen[other] = c + 1
					out.relations++
				}
			}
		}
		if alone {
			out.orphans++
		}
	}
	return out
}
