package record

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sequent-dev/sequent"
)

// AddRefused adds the refusals of owners to the sums of their sessions, and sorts them
// by owner.
func AddRefused(sums []sequent.Usage, refused map[string]int64) []sequent.Usage {
	owners := make(map[string]sequent.Usage, len(sums)+len(refused))
	for _, u := range sums {
		owners[u.Owner] = u
	}
	for owner, n := range refused {
		u := owners[owner]
		u.Owner, u.Refused = owner, n
		owners[owner] = u
	}
	return slices.SortedFunc(maps.Values(owners), func(a, b sequent.Usage) int { return cmp.Compare(a.Owner, b.Owner) })
}
