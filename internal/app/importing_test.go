package app

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

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
		if err := a.Importer().Import(t.Context(), file, func(r archive.Result) {
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
	v, err := a.Vaults()
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
