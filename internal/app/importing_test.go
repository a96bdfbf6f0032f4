package app

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
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
	run := func(im *archive.Importer, want ...archive.Outcome) {
		t.Helper()
		for i, file := range []string{first, longer, first, longer, other, other}[:len(want)] {
			if err := im.Import(t.Context(), file, func(r archive.Result) {
				if r.Outcome != want[i] {
					t.Errorf("file %d: got %s, %v, want %s", i, r.Outcome, r.Err, want[i])
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(a.Importer(ImportConfig{}), archive.Added)
	want := []archive.Outcome{archive.Unchanged, archive.Extended, archive.Unchanged, archive.Unchanged, archive.Added, archive.Unchanged}
	for range 2 {
		run(a.Importer(ImportConfig{DryRun: true}), want...)
	}
	page, err := a.Engine.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 || page.Headers[0].Len != 1 {
		t.Errorf("got sessions %+v, %v", page.Headers, err)
	}
	run(a.Importer(ImportConfig{}), want...)
}

// An abandoned session of Maenifold stays abandoned, also when its notes are brought into
// agreement. A permalink that is no id does not become one.
func TestImportMarkdown(t *testing.T) {
	dir := t.TempDir()
	const note = "---\ntitle: x\npermalink: %s\ntype: sequential\nstatus: %s\ncreated: 2025-08-31T03:22:26Z\n---\n\n# x\n\n" +
		"## Thought 0/5 [agent]\n\nAnalyzing [[authentication]]\n\n*2025-08-31 03:22:26*\n\n## Session Abandoned\n\nIt was inactive.\n"
	folder := filepath.Join(dir, "vault", "thinking", "sequential")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Config{Store: filepath.Join(dir, "s.db"), Vault: filepath.Join(dir, "vault")})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for id, front := range map[string][2]string{
		"session-1756610546730-48291": {"session-1756610546730-48291", "abandoned"},
		"session-1756610546731-1":     {"../..", "Abandoned"},
		"session-1756610546732-1":     {"session-1756610546732-1", "active"},
	} {
		file := filepath.Join(folder, id+".md")
		if err := os.WriteFile(file, fmt.Appendf(nil, note, front[0], front[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := a.Importer(ImportConfig{}).Import(t.Context(), file, func(r archive.Result) {
			if r.Err != nil || string(r.Key.ID) != id {
				t.Errorf("%s is imported as %q, %v", id, r.Key.ID, r.Err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		page, err := a.Engine.Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 3 {
			t.Fatalf("%+v, %v", page.Headers, err)
		}
		for _, h := range page.Headers {
			want := sequent.Abandoned
			if h.ID == "session-1756610546732-1" {
				want = sequent.Active
			}
			if h.State != want {
				t.Errorf("%s is %s, want %s", h.ID, h.State, want)
			}
		}
	}
	check()
	v, err := a.Vaults(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, rebuild := range []bool{false, true} {
		own, err := v.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Sync(t.Context(), rebuild, nil); err != nil {
			t.Fatal(err)
		}
		check()
	}
}
