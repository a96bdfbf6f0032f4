package sequent_test

import (
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(*testing.T) sequent.Store { return sequent.NewMemoryStore() },
	})
}
