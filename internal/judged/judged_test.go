package judged_test

import (
	"math"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/judged"
)

func TestNDCG(t *testing.T) {
	t.Parallel()
	q := judged.Query{Grades: map[string]int{"a": 3, "b": 2, "c": 1}}
	for _, test := range []struct {
		got  string
		want float64
	}{
		{"a b c", 1},
		{"a b c x y", 1},
		{"", 0},
		{"x y z", 0},
		{"c b a", (1 + 3/math.Log2(3) + 7/2.0) / (7 + 3/math.Log2(3) + 1/2.0)},
		{"x x x x x x x x x x a", 0},
	} {
		if got := q.NDCG(strings.Fields(test.got)); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%q: %v, want %v", test.got, got, test.want)
		}
	}
}
