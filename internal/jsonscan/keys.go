package jsonscan

import (
	"slices"
	"strconv"
)

// SortKeys puts names, which are in the order of their first use, into the order of an object's
// keys in JavaScript, in place, and returns them: array indexes by value, then the other names
// in their order.
func SortKeys(names []string) []string {
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
