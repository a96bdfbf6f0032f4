package judged_test

import (
	"math"
	"os"
	"path/filepath"
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

func TestSection(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("head\n<!-- begin x -->\nold\n<!-- end x -->\nfoot\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text          string
		update, equal, fail bool
	}{
		{"x", "old\n", false, true, false},
		{"x", "new\n", false, false, false},
		{"x", "new\n", true, true, false},
		{"x", "new\n", false, true, false},
		{"y", "new\n", true, false, true},
	} {
		equal, err := judged.Section(file, test.name, test.text, test.update)
		if equal != test.equal || (err != nil) != test.fail {
			t.Errorf("Section(%q, %q, %t) = %t, %v", test.name, test.text, test.update, equal, err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "head\n<!-- begin x -->\nnew\n<!-- end x -->\nfoot\n" {
		t.Errorf("the page is %q, %v", got, err)
	}
}
