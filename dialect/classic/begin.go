package classic

import (
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent"
)

// minted has the numbers of the ids that this process has given out in the current second, by
// owner, so that a session does not try them again.
type minted struct {
	mu     sync.Mutex // guards the fields below
	second string
	used   map[string]int
}

// ids returns a function that returns the ids of the current second, one after the other, and a
// function that records the last of them as used.
func (m *minted) ids(owner, second string) (next func() (sequent.ID, error), use func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.second != second {
		m.second, m.used = second, make(map[string]int)
	}
	n := m.used[owner]
	next = func() (sequent.ID, error) {
		if n++; n == 1 {
			return sequent.ID(second), nil
		}
		return sequent.ID(second + "-" + strconv.Itoa(n)), nil
	}
	return next, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.second == second {
			m.used[owner] = max(m.used[owner], n)
		}
	}
}
