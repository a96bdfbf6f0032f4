package transfer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A copy fills a file that was set back to an earlier state beside its newer index, and
// refuses a session that went on differently there.
func TestCopyOntoRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(name string) *sqlite.Store {
		t.Helper()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, name), Sync: sqlite.Normal})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	think := func(s sequent.Store, id string, words ...string) {
		t.Helper()
		e := sequent.New(sequent.Config{Store: s})
		for _, word := range words {
			if _, err := e.Ensure(t.Context(), sequent.ID(id), func(c *sequent.Change) error {
				_, err := c.Append(sequent.Draft{Text: "heron " + word, More: true})
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := func(s sequent.Store) string {
		t.Helper()
		hits, err := s.Search(t.Context(), sequent.SearchQuery{Text: "heron", Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, h := range hits.Hits {
			all = append(all, string(h.Key.ID)+strings.TrimPrefix(h.Thought.Text, "heron"))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	from, to := open("from.db"), open("to.db")
	think(from, "a", "1", "2")
	think(from, "b", "1", "2")
	copyAll(t, from, to)
	backup := filepath.Join(dir, "backup.db")
	if _, err := sqlite.Backup(t.Context(), sqlite.BackupConfig{From: filepath.Join(dir, "to.db"), To: backup}); err != nil {
		t.Fatal(err)
	}
	think(from, "a", "3", "4")
	think(from, "b", "3", "4")
	think(from, "c", "1")
	copyAll(t, from, to)
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(backup)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "to.db"), old, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	to = open("to.db")
	if got := found(to); got != "a 1, a 2, b 1, b 2" {
		t.Errorf("set back, search finds %s", got)
	}
	think(to, "b", "other") // while it was set back
	sum, told := copyAll(t, from, to)
	if sum.Added != 1 || sum.Extended != 1 || sum.Failed != 1 || sum.Thoughts != 3 {
		t.Errorf("Copy = %+v, %+v; want c added, a extended, b refused", sum, told)
	}
	for _, r := range told {
		if r.Outcome == importer.Failed && (r.Key.ID != "b" || sequent.CodeOf(r.Err) != sequent.CodeSessionExists) {
			t.Errorf("Copy of %q: %v", r.Key, r.Err)
		}
	}
	want := "a 1, a 2, a 3, a 4, b 1, b 2, b other, c 1"
	for i := range 2 {
		if got := found(to); got != want {
			t.Errorf("after the copy, opened %d times, search finds %s, want %s", i, got, want)
		}
		for _, id := range []sequent.ID{"a", "b", "c"} {
			v, err := sequent.New(sequent.Config{Store: to}).Verify(t.Context(), id)
			if err != nil || v.Fault != nil {
				t.Errorf("Verify(%s) = %v, %v", id, v.Fault, err)
			}
			if source, err := sequent.New(sequent.Config{Store: from}).Verify(t.Context(), id); err != nil || (source.Head == v.Head) != (id != "b") {
				t.Errorf("%s has the head %v, and %v where it was copied from, %v", id, v.Head, source.Head, err)
			}
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		to = open("to.db")
	}
	for _, s := range []*sqlite.Store{from, to} {
		if err := s.Close(); err != nil {
			t.Error(fmt.Errorf("Close: %w", err))
		}
	}
}
