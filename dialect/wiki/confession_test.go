package wiki

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMissing measures how many conclusions are read as a person reads them. The
// sets were written before an earlier, much longer list of words, after it, and after
// its last change.
func TestMissing(t *testing.T) {
	for _, set := range []struct {
		file  string
		least [len(parts)]int // right answers
	}{
		{"conclusions.txt", [len(parts)]int{50, 49, 48, 50, 48}},
		{"later.txt", [len(parts)]int{18, 19, 17, 17, 18}},
		{"unseen.txt", [len(parts)]int{14, 13, 14, 14, 15}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "confession", set.file))
		if err != nil {
			t.Fatal(err)
		}
		files := txtar.Parse(data).Files
		var right [len(parts)]int
		for _, f := range files {
			name, lacks, ok := strings.Cut(f.Name, " lacks ")
			if !ok {
				t.Fatalf("conclusion %q has no label", f.Name)
			}
			want := strings.Fields(strings.TrimPrefix(lacks, "nothing"))
			got := missing(string(f.Data))
			for i, p := range parts {
				if slices.Contains(got, p.name) == slices.Contains(want, p.name) {
					right[i]++
				}
			}
			if !slices.Equal(got, want) {
				t.Logf("%s %s lacks %v, and is read as if it lacked %v", set.file, name, want, got)
			}
		}
		for i, p := range parts {
			t.Logf("%s: %-10s is read right in %d of %d", set.file, p.name, right[i], len(files))
			if right[i] < set.least[i] {
				t.Errorf("%s: %s is read right in %d of %d, want at least %d", set.file, p.name, right[i], len(files), set.least[i])
			}
		}
	}
}

// No conclusion makes the reader panic.
func FuzzMissing(f *testing.F) {
	for _, seed := range []string{"", "\n", "# ", "- [x] ", "**", "Risks:", "a. b; c!", "[[a]]", "\xff", "結論：速い。", strings.Repeat("a: ", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, conclusion string) { missing(conclusion) })
}
