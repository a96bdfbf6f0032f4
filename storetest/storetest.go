// Package storetest checks implementations of [sequent.Store].
//
// A store's own tests need a [Harness] and one call of [Run]; what remains for
// them is what only that store has: its files, its network, its faults.
package storetest

import (
	"testing"

	"github.com/sequent-dev/sequent"
)

// A Harness opens the store under test. The suite closes what it opens.
type Harness struct {
	// Open returns a new, empty store.
	Open func(t *testing.T) sequent.Store

	// Reopen closes s and opens its data again. It is nil for stores that
	// forget.
	Reopen func(t *testing.T, s sequent.Store) sequent.Store

	// Second opens another handle on the data of s, which stays open; as
	// another process would. It is nil for stores that cannot be shared.
	Second func(t *testing.T, s sequent.Store) sequent.Store
}

// Run runs the suite. Each test gets a store of its own.
func Run(t *testing.T, h Harness) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Load", loadTests},
		{"Commit", commitTests},
		{"Values", valueTests},
		{"Delete", deleteTests},
		{"List", listTests},
		{"Sweep", sweepTests},
		{"Wait", waitTests},
		{"Writers", writerTests},
		{"Shared", sharedTests},
		{"Search", searchTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(t, h)
				})
			}
		})
	}
}

// A test is one promise of a store.
type test struct {
	name string
	run  func(t *testing.T, h Harness)
}

// open returns a new store that is closed with the test.
func (h Harness) open(t *testing.T) sequent.Store {
	t.Helper()
	return closed(t, h.Open(t))
}

// second returns another handle on the data of s, or skips the test.
func (h Harness) second(t *testing.T, s sequent.Store) sequent.Store {
	t.Helper()
	if h.Second == nil {
		t.Skip("this store cannot be shared")
	}
	return closed(t, h.Second(t, s))
}

func closed(t *testing.T, s sequent.Store) sequent.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}
