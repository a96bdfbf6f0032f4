package wiki

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// How well conclusions are read. One set was written before the code that reads
// them, one after it, and one after all improvements.
func TestMissing(t *testing.T) {
	reads := newBook()
	for _, set := range []struct {
		file  string
		least [parts]int // so many must be right
	}{
		{"conclusions.txt", [parts]int{51, 51, 51, 51, 51}},
		{"later.txt", [parts]int{20, 20, 20, 20, 20}},
		{"unseen.txt", [parts]int{14, 14, 12, 10, 16}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "confession", set.file))
		if err != nil {
			t.Fatal(err)
		}
		files := txtar.Parse(data).Files
		var right [parts]int
		for _, f := range files {
			name, lacks, ok := strings.Cut(f.Name, " lacks ")
			if !ok {
				t.Fatalf("conclusion %q has no label", f.Name)
			}
			want := strings.Fields(strings.TrimPrefix(lacks, "nothing"))
			var got []string
			for _, p := range reads.missing(string(f.Data)) {
				got = append(got, p.key())
			}
			for p := range parts {
				if slices.Contains(got, p.key()) == slices.Contains(want, p.key()) {
					right[p]++
				}
			}
			if !slices.Equal(got, want) {
				t.Logf("%s %s lacks %v, and is read as if it lacked %v", set.file, name, want, got)
			}
		}
		for p := range parts {
			t.Logf("%s: %-10s is read right in %d of %d", set.file, p.key(), right[p], len(files))
			if right[p] < set.least[p] {
				t.Errorf("%s: %s is read right in %d of %d, want at least %d", set.file, p.key(), right[p], len(files), set.least[p])
			}
		}
	}
}

// Whatever a conclusion is made of, reading it ends and does not panic.
func FuzzMissing(f *testing.F) {
	for _, seed := range []string{"", "\n", "# ", "- [x] ", "**", "Risks:", "a. b; c!", "[[a]]", "\xff", "結論：速い。", strings.Repeat("a: ", 100)} {
		f.Add(seed)
	}
	reads := newBook()
	f.Fuzz(func(t *testing.T, conclusion string) {
		for _, p := range reads.missing(conclusion) {
			if p.key() == "" || p.String() == "" {
				t.Errorf("%q lacks %d", conclusion, p)
			}
		}
	})
}
