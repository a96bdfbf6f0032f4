package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
)

// A dry run reports what an import would do and changes nothing.
func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const one = `{"thought": "a", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": true}`
	first := write("1.json", `{"id": "s", "thoughtHistory": [`+one+`]}`)
	longer := write("2.json", `{"id": "s", "thoughtHistory": [`+one+`,`+one+`]}`)
	other := write("3.json", `{"id": "other", "thoughtHistory": []}`)
	a, err := Open(t.Context(), Config{Store: filepath.Join(dir, "s.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	run := func(im *importer.Importer, want ...importer.Outcome) {
		t.Helper()
		for i, file := range []string{first, longer, first, longer, other, other}[:len(want)] {
			if _, err := im.Import(t.Context(), file, func(r importer.Result) {
				if r.Outcome != want[i] {
					t.Errorf("file %d: got %s, %v, want %s", i, r.Outcome, r.Err, want[i])
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(a.Importer(ImportConfig{}), importer.Added)
	want := []importer.Outcome{importer.Unchanged, importer.Extended, importer.Unchanged, importer.Unchanged, importer.Added, importer.Unchanged}
	for range 2 {
		run(a.Importer(ImportConfig{DryRun: true}), want...)
	}
	page, err := a.Engine.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 || page.Headers[0].Len != 1 {
		t.Errorf("got sessions %+v, %v", page.Headers, err)
	}
	run(a.Importer(ImportConfig{}), want...)
}
