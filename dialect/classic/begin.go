package classic

import (
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
