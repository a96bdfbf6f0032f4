package archive_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// files returns the paths below a directory, with slashes.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWriteSession(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Documents", "thinking")
	s := worked(t)
	for range 2 { // the second time over the first
		if err := archive.Dir(dir).WriteSession(s); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, dir); !slices.Equal(got, []string{"session-20250428-145302/session.json"}) {
		t.Errorf("got the files %q", got)
	}
	name := filepath.Join(dir, "session-20250428-145302", "session.json")
	if got, err := os.ReadFile(name); err != nil || string(got) != string(archive.SessionFile(s)) {
		t.Errorf("got %v\n%s", err, got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{name: 0o600, filepath.Dir(name): 0o700, dir: 0o700, filepath.Dir(dir): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

// An id is a name below the directory, whatever it is: each its own, none
// anywhere else.
func TestWriteSessionNames(t *testing.T) {
	keys := []sequent.Key{key("..."), key(".."), key("."), key("a/b"), key("a"), key("A"), key(`a\b`), key("/etc"), key("CON"), key("con"),
		key("nul.txt"), key("com1"), key("a "), key("a."), key("c:x"), key("é"), key("e\u0301"), key("~"), key("%"), key("%61"), key("-"),
		key(strings.Repeat("x", 128)), key(strings.Repeat("日", 127) + "本"), key(strings.Repeat("日", 128)), key("session.json"),
		{Owner: "me", ID: "a"}, {Owner: "..", ID: ".."}, {Owner: "session.json", ID: "a"}, key("@me"), key("@me/a"),
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "store")
	seen := make(map[string]bool)
	for i, k := range keys {
		s := recorded(t, k, sequent.Draft{Number: 1, Total: 1, Text: fmt.Sprint(i), Final: true})
		before := files(t, parent)
		if err := archive.Dir(dir).WriteSession(s); err != nil {
			t.Errorf("id %q: %v", k, err)
			continue
		}
		for _, name := range files(t, parent) {
			if slices.Contains(before, name) {
				continue
			}
			if folded := strings.ToLower(name); !strings.HasPrefix(name, "store/") || seen[folded] {
				t.Errorf("id %q was written to %q", k, name)
			} else {
				seen[folded] = true
			}
			for elem := range strings.SplitSeq(name, "/") {
				if len(elem) > 255 || strings.ContainsAny(elem, `\:*?"<>|`) || strings.Trim(elem, " ") != elem {
					t.Errorf("id %q was written to %q, which not every system can have", k, name)
				}
			}
		}
	}
	if len(seen) != len(keys) {
		t.Errorf("%d sessions were written to %d files", len(keys), len(seen))
	}
}

// A link put in the place of a folder leads nowhere.
func TestWriteSessionFollowsNoLinkOut(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "a")); err != nil {
		t.Skipf("SKIP: this system has no symbolic links for us: %v", err)
	}
	s := recorded(t, key("a"), sequent.Draft{Number: 1, Total: 1, Text: "a", Final: true})
	if err := archive.Dir(dir).WriteSession(s); err == nil {
		t.Error("a link out of the directory was followed")
	}
	if got := files(t, outside); len(got) > 0 {
		t.Errorf("written outside: %q", got)
	}
}

// Remove removes what WriteSession made, and nothing else.
func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "thinking")
	d := archive.Dir(dir)
	s := worked(t)
	k := s.Key()
	if name, err := d.File(k); name != "" || err != nil {
		t.Errorf("File before the directory exists = %q, %v, want none", name, err)
	}
	if err := d.Remove(k); err != nil {
		t.Errorf("Remove before the directory exists: %v", err)
	}
	for _, other := range []string{"", "mine.txt"} {
		if err := d.WriteSession(s); err != nil {
			t.Fatal(err)
		}
		name, err := d.File(k)
		if err != nil || filepath.Base(name) != "session.json" {
			t.Fatalf("File = %q, %v, want the session's file", name, err)
		}
		folder := filepath.Dir(name)
		for _, file := range []string{other, ".session.json-abc.tmp"} {
			if file != "" {
				if err := os.WriteFile(filepath.Join(folder, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := d.Remove(k); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(folder)
		if other == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the empty folder is kept: %v, %v", entries, err)
		}
		if other != "" && (len(entries) != 1 || entries[0].Name() != other) {
			t.Errorf("the folder has %v, want %s only", entries, other)
		}
	}
}
