package sequent_test

import (
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func TestPageSize(t *testing.T) {
	for limit, want := range map[int][2]int{-1: {100, 20}, 0: {100, 20}, 1: {1, 1}, 5000: {5000, 1000}} {
		q, s := sequent.Query{Limit: limit}, sequent.SearchQuery{Limit: limit}
		if got := [2]int{q.PageSize(), s.PageSize()}; got != want {
			t.Errorf("page sizes for a limit of %d are %d, want %d", limit, got, want)
		}
	}
}

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(*testing.T) sequent.Store { return sequent.NewMemoryStore() },
	})
}
