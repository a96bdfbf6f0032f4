package sequent

import (
	"math"
	"testing"
)

// FuzzNumbering compares a numbering with a map. Each pair of bytes is a number
// and whether it is used or taken back.
func FuzzNumbering(f *testing.F) {
	f.Add([]byte{1, 1, 2, 1, 3, 1, 40, 1, 20, 1, 40, 1, 0, 1, 3, 0, 250, 1, 251, 1, 252, 1, 252, 0})
	f.Add([]byte{1, 1, 40, 1, 20, 1, 24, 1, 13, 1, 4, 0, 3, 0, 2, 0}) // taken back when the list has grown
	odd := []int{math.MinInt, math.MaxInt, -1, math.MinInt + 1, math.MaxInt - 1, 1 << 40}
	f.Fuzz(func(t *testing.T, steps []byte) {
		var x numbering
		want := make(map[int]int)
		type step struct{ number, before int }
		var done []step
		for i := 0; i+1 < len(steps); i += 2 {
			number := int(steps[i])
			if number >= 250 {
				number = odd[number-250]
			}
			if steps[i+1] == 0 && len(done) > 0 { // as a ledger takes back: the last first
				last := done[len(done)-1]
				done = done[:len(done)-1]
				x.set(last.number, last.before)
				want[last.number] = last.before
			} else {
				done = append(done, step{number, want[number]})
				x.set(number, i+1)
				want[number] = i + 1
			}
			for n, seq := range want {
				if got := x.latest(n); got != seq {
					t.Fatalf("after %v the latest with number %d is %d, want %d", steps[:i+2], n, got, seq)
				}
			}
			for n := -3; n < 300; n++ {
				if got := x.latest(n); got != want[n] {
					t.Fatalf("after %v the latest with number %d is %d, want %d", steps[:i+2], n, got, want[n])
				}
			}
		}
	})
}
