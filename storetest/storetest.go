// Package storetest tests implementations of [sequent.Store].
//
// A store's tests call [Run] with a [Harness]. Further tests are only needed for
// what is particular to the store: its files, its network, its failures.
package storetest

import (
	"testing"

	"github.com/sequent-dev/sequent"
)

// A Harness opens the store under test. The suite closes what it opens.
type Harness struct {
	// Open returns a new, empty store.
	Open func(t *testing.T) sequent.Store

	// Reopen closes s and opens its data again. It is nil for stores that are
	// not persistent.
	Reopen func(t *testing.T, s sequent.Store) sequent.Store

	// Second opens another Store on the data of s, like another process would. It
	// leaves s open. It is nil for stores that cannot be shared.
	Second func(t *testing.T, s sequent.Store) sequent.Store

	// Skip reports whether to leave out a test, by the names of its group and its own,
	// for a store that needs long for many writes. It is nil to run all.
	Skip func(group, name string) bool
}

// Run runs the suite. Each test opens its own store.
func Run(t *testing.T, h Harness) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Load", loadTests},
		{"Commit", commitTests},
		{"Fields", fieldTests},
		{"Chain", chainTests},
		{"Delete", deleteTests},
		{"List", listTests},
		{"Sweep", sweepTests},
		{"Watch", watchTests},
		{"Writers", writerTests},
		{"Shared", sharedTests},
		{"Search", searchTests},
		{"Usage", usageTests},
		{"Owner", ownerTests},
		{"Values", keptTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				if h.Skip != nil && h.Skip(group.name, test.name) {
					continue
				}
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(t, h)
				})
			}
		})
	}
}

// A test checks one property of a store.
type test struct {
	name string
	run  func(t *testing.T, h Harness)
}

// open returns a new store that is closed at the end of the test.
func (h Harness) open(t *testing.T) sequent.Store {
	t.Helper()
	return closeAtEnd(t, h.Open(t))
}

// second returns another Store on the data of s, or skips the test.
func (h Harness) second(t *testing.T, s sequent.Store) sequent.Store {
	t.Helper()
	if h.Second == nil {
		t.Skip("this store cannot be shared")
	}
	return closeAtEnd(t, h.Second(t, s))
}

// reopen closes s and opens its data again, if the store is persistent. The store
// that it returns is closed at the end of the test; s must not be.
func (h Harness) reopen(t *testing.T, s sequent.Store) sequent.Store {
	t.Helper()
	if h.Reopen != nil {
		s = h.Reopen(t, s)
	}
	return closeAtEnd(t, s)
}

func closeAtEnd(t *testing.T, s sequent.Store) sequent.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}
