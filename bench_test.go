package sequent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// BenchmarkAppend measures what one more thought costs a session that has some
// already: the goal is that the 10,000th costs no more than 1.2 times the 10th.
// Each round appends as many thoughts as the session had, but at most 1,000, to
// a session of that length.
func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("x", 200)
	for _, have := range []int{10, 10_000, 90_000} {
		b.Run(fmt.Sprint("after=", have), func(b *testing.B) {
			b.ReportAllocs()
			e := sequent.New(sequent.Config{Limits: sequent.Limits{Thoughts: -1}})
			id, n := sequent.ID(""), 0
			round := min(have, 1000)
			for i := 0; b.Loop(); i++ {
				if i%round == 0 {
					b.StopTimer()
					if id != "" {
						if err := e.Delete(b.Context(), id); err != nil {
							b.Fatal(err)
						}
					}
					id, n = sequent.ID(fmt.Sprint("s", i)), 0
					for n < have {
						if _, err := e.Ensure(b.Context(), id, func(c *sequent.Change) error {
							for range min(500, have-n) {
								n++
								if _, err := c.Append(sequent.Draft{Number: n, Total: n, Text: text}); err != nil {
									return err
								}
							}
							return nil
						}); err != nil {
							b.Fatal(err)
						}
					}
					b.StartTimer()
				}
				n++
				if _, err := e.Update(b.Context(), id, add(sequent.Draft{Number: n, Total: n, Text: text})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
