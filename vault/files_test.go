package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

func TestFilesThatAreNoNotes(t *testing.T) {
	v, dir := open(t)
	for _, name := range []string{"b.json", "a.JSON", ".hidden.json", "deeper/c.json", "x.md"} {
		put(t, dir, "workflows/"+name, name)
	}
	var failed []error
	files := func(folder string) map[string][]byte {
		return v.Files(t.Context(), folder, ".json", func(err error) { failed = append(failed, err) })
	}
	if got := files("workflows"); len(got) != 2 || string(got["b.json"]) != "b.json" || len(files("none/such")) > 0 || len(failed) > 0 {
		t.Errorf("%q, %v", got, failed)
	}
	put(t, dir, "workflows/large.json", strings.Repeat("x", 2<<20))
	if files("workflows"); len(failed) != 1 || sequent.CodeOf(failed[0]) != vault.CodeTooLarge {
		t.Errorf("%v", failed)
	}
}

// The temporary files of killed writers are removed.
func TestAbandonedFiles(t *testing.T) {
	v, dir := open(t)
	put(t, dir, ".sequent/tmp/old", "x")
	put(t, dir, ".sequent/tmp/young", "x")
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, ".sequent", "tmp", "old"), past, past); err != nil {
		t.Fatal(err)
	}
	if err := v.Create(t.Context(), &vault.Note{URI: "memory://a"}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".sequent", "tmp"))
	if err != nil || len(entries) != 1 || entries[0].Name() != "young" {
		t.Errorf("%v, %v", entries, err)
	}
}

// An editor that saves in place empties the file first. The test's clock stands still
// while it writes.
func TestEmptyNoteIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, dir := open(t)
		put(t, dir, "a.md", "")
		go func() {
			f, err := os.OpenFile(filepath.Join(dir, "a.md"), os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("of a person\n")
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Error(err)
			}
		}()
		_, err := v.Update(t.Context(), "memory://a", func(n *vault.Note) error { n.Body += "of a program\n"; return nil })
		if got := get(t, dir, "a.md"); err != nil || got != "of a person\nof a program\n" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
