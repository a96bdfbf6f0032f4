package classic

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/scope"
)

// maxCollisions bounds how many ids of other processes a session tries to be
// unlike. So many sessions in one second are a fault somewhere.
const maxCollisions = 1000

// begin begins the scope's next session with a thought.
func (c *classic) begin(ctx context.Context, owner string, turn *scope.Turn, d sequent.Draft) (*sequent.Session, error) {
	e := c.Engine.Owned(owner)
	second := "session-" + e.Now().Format("20060102-150405")
	for range maxCollisions {
		n := c.minted.take(owner, second)
		id := second
		if n > 1 {
			id += "-" + strconv.Itoa(n)
		}
		s, err := e.Begin(ctx, sequent.ID(id), func(c *sequent.Change) error {
			turn.Begin(c)
			_, err := c.Append(d)
			return err
		})
		switch {
		case err == nil:
			turn.Began(s.ID())
			return s, nil
		case !errors.Is(err, sequent.ErrExists):
			c.minted.giveBack(owner, second, n)
			return nil, err
		}
	}
	return nil, &sequent.Error{
		Code: sequent.CodeConflict, Msg: "too many sessions begin at the same time", Fix: "repeat the call in a second",
	}
}

// minted remembers the ids of the current second, so that a session does not
// try those that this process knows to be taken.
type minted struct {
	mu     sync.Mutex // guards what follows
	second string
	count  map[string]int // owner → ids handed out
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

// giveBack makes number n free again, unless others were taken since.
func (m *minted) giveBack(owner, second string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.second == second && m.count[owner] == n {
		m.count[owner]--
	}
}

// enumerated puts names in the order in which the contract lists them, that of
// an object's keys in JavaScript: array indexes by value, then the others as
// they were first used.
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

// arrayIndex returns the array index that a name is written as: 0 to 2^32−2,
// without leading zeros or signs.
func arrayIndex(name string) (index uint64, ok bool) {
	if name == "" || len(name) > 10 || name[0] == '0' && name != "0" || name[0] == '+' {
		return 0, false
	}
	index, err := strconv.ParseUint(name, 10, 32)
	return index, err == nil && index < 1<<32-1
}
