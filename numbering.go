package sequent

// A numbering finds the latest thought of a line with a number. Authors mostly
// count, so that a list does for a map.
type numbering struct {
	base int           // the number of list[0]
	list []int32       // Seq by number; 0 for none
	odd  map[int]int32 // the same for numbers that do not fit the list
}

// gap is how many numbers an author may skip before the list has no place for
// the next.
const gap = 16

// latest returns the Seq of the latest thought with a number, 0 for none.
func (x *numbering) latest(number int) int {
	if i, ok := x.place(number); ok && i < len(x.list) && x.list[i] > 0 {
		return int(x.list[i])
	}
	return int(x.odd[number])
}

// set says which thought is the latest with a number; 0 for none.
func (x *numbering) set(number, seq int) {
	if len(x.list) == 0 {
		x.base = number
	}
	i, ok := x.place(number)
	switch {
	case ok:
		for len(x.list) <= i {
			x.list = append(x.list, 0)
		}
		x.list[i] = int32(seq)
		delete(x.odd, number) // which has it if the list was shorter then
	case seq == 0:
		delete(x.odd, number)
	default:
		if x.odd == nil {
			x.odd = make(map[int]int32)
		}
		x.odd[number] = int32(seq)
	}
}

// place returns where the list has a number, or could have it.
func (x *numbering) place(number int) (int, bool) {
	if number < x.base {
		return 0, false
	}
	i := uint(number) - uint(x.base) // which cannot overflow
	return int(i), i < uint(len(x.list)+gap)
}
