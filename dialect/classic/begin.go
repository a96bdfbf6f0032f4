package classic

import (
	"slices"
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent"
)

// newID returns a function that returns the ids of the current second, one after the
// other, and a function that makes the last of them free again.
func (c *classic) newID(owner string) (next func() (sequent.ID, error), giveBack func()) {
	second, n := "session-"+c.Engine.Now().Format("20060102-150405"), 0
	next = func() (sequent.ID, error) {
		n = c.minted.take(owner, second)
		if n == 1 {
			return sequent.ID(second), nil
		}
		return sequent.ID(second + "-" + strconv.Itoa(n)), nil
	}
	return next, func() {
		if n > 0 {
			c.minted.giveBack(owner, second, n)
		}
	}
}

// minted has the numbers that were used in the current second, so that a session does not
// try ids that this process has taken.
type minted struct {
	mu     sync.Mutex // guards the fields below
	second string
	count  map[string]int // number of ids by owner
}

// take returns the next number of an id.
func (m *minted) take(owner, second string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.second != second {
		m.second, m.count = second, make(map[string]int)
	}
	m.count[owner]++
	return m.count[owner]
}

// giveBack makes the number n free again, unless later numbers were taken.
func (m *minted) giveBack(owner, second string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.second == second && m.count[owner] == n {
		m.count[owner]--
	}
}

// enumerated sorts names in the order of the contract, which is that of the keys of a
// JavaScript object: array indexes by value, then the other names in the order of their
// first use.
func enumerated(names []string) []string {
	slices.SortStableFunc(names, func(a, b string) int {
		i, isIndex := arrayIndex(a)
		j, other := arrayIndex(b)
		switch {
		case isIndex && other && i < j, isIndex && !other:
			return -1
		case isIndex && other && i > j, !isIndex && other:
			return 1
		}
		return 0
	})
	return names
}

// arrayIndex returns the array index that a name represents: 0 to 2^32−2, without leading
// zeros or signs.
func arrayIndex(name string) (index uint64, ok bool) {
	if name == "" || len(name) > 10 || name[0] == '0' && name != "0" || name[0] == '+' {
		return 0, false
	}
	index, err := strconv.ParseUint(name, 10, 32)
	return index, err == nil && index < 1<<32-1
}
