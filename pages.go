package sequent

import "iter"

// A pages is a sequence that grows without moving what it holds, so that an
// append costs the same at any length, and readers of a prefix need not know
// that it grows. Its length is its owner's to keep.
type pages[T any] []*[pageLen]T

// pageLen weighs what a short session leaves unused against what a long one
// spends on pointers.
const pageLen = 16

// set puts v at place i, which is at most one beyond the last.
func (p *pages[T]) set(i int, v T) {
	if i/pageLen == len(*p) {
		*p = append(*p, new([pageLen]T))
	}
	(*p)[i/pageLen][i%pageLen] = v
}

func (p pages[T]) at(i int) *T { return &p[i/pageLen][i%pageLen] }

// slice yields the places from i to before j.
func (p pages[T]) slice(i, j int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for ; i < j; i++ {
			if !yield(*p.at(i)) {
				return
			}
		}
	}
}
