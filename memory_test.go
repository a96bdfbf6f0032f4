package sequent_test

import (
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{Open: func(t *testing.T) sequent.Store { return sequent.NewMemoryStore() }})
}

// A bare store can do nothing but what a Store must.
type bare struct{ sequent.Store }

// What a store cannot do, the package does slowly.
func TestBareStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return bare{sequent.NewMemoryStore()} },
		// A watch that reads each second is told late, and of each change.
		Skip: func(group, name string) bool {
			return group == "Watch" || group == "Shared"
		},
	})
}
