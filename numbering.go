package sequent

// A numbering finds the latest thought of a line with a number. Most authors
// count up, so most numbers are in a slice.
type numbering struct {
	base   int           // the number of dense[0]
	dense  []int32       // Seq by number; 0 for none
	sparse map[int]int32 // the same for numbers that are not in dense
}

// maxGap is how many numbers an author may skip before the next one goes into
// the map.
const maxGap = 16

// latest returns the Seq of the latest thought with a number, 0 for none.
func (x *numbering) latest(number int) int {
	if i, ok := x.index(number); ok && i < len(x.dense) && x.dense[i] > 0 {
		return int(x.dense[i])
	}
	return int(x.sparse[number])
}

// set sets the latest thought with a number; Seq 0 means none.
func (x *numbering) set(number, seq int) {
	if len(x.dense) == 0 {
		x.base = number
	}
	i, ok := x.index(number)
	switch {
	case ok:
		for len(x.dense) <= i {
			x.dense = append(x.dense, 0)
		}
		x.dense[i] = int32(seq)
		delete(x.sparse, number) // where it is if dense was shorter then
	case seq == 0:
		delete(x.sparse, number)
	default:
		if x.sparse == nil {
			x.sparse = make(map[int]int32)
		}
		x.sparse[number] = int32(seq)
	}
}

// index returns the index in dense that a number has or may get.
func (x *numbering) index(number int) (int, bool) {
	if number < x.base {
		return 0, false
	}
	i := uint(number) - uint(x.base) // does not overflow
	return int(i), i < uint(len(x.dense)+maxGap)
}
