package archive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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

// covers: 004/own-directory
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

// What is in the way is an error, and what was there is still there.
func TestWriteSessionFails(t *testing.T) {
	s := recorded(t, key("a"), sequent.Draft{Number: 1, Total: 1, Text: "a", Final: true})

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := archive.Dir(file).WriteSession(s); err == nil {
		t.Error("a file was taken for a directory")
	}
	if err := archive.Dir(filepath.Join(file, "x")).WriteSession(s); err == nil {
		t.Error("a directory was made in a file")
	}

	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "a", "session.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := archive.Dir(dir).WriteSession(s); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("left behind: %q", got)
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

// A reader sees a complete file of one of several concurrent writers.
func TestWriteSessionIsAtomic(t *testing.T) {
	dir := archive.Dir(t.TempDir())
	var states []*sequent.Session
	var drafts []sequent.Draft
	for n := range 4 {
		drafts = append(drafts, sequent.Draft{Number: n + 1, Total: 4, Text: strings.Repeat("x", 50_000), Final: true})
		states = append(states, recorded(t, key("a"), drafts...))
	}
	if err := dir.WriteSession(states[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var writers, reader sync.WaitGroup
	for _, s := range states {
		writers.Go(func() {
			for range 10 {
				if err := dir.WriteSession(s); err != nil && runtime.GOOS != "windows" { // where a reader may be in the way
					t.Error(err)
				}
			}
		})
	}
	reader.Go(func() {
		for {
			data, err := os.ReadFile(filepath.Join(string(dir), "a", "session.json"))
			var file struct{ ThoughtHistory []json.RawMessage }
			if err == nil {
				err = json.Unmarshal(data, &file)
			}
			if n := len(file.ThoughtHistory); err != nil || n < 1 || n > len(states) ||
				string(data) != string(archive.SessionFile(states[n-1])) {
				t.Errorf("read %d bytes with %d thoughts: %v", len(data), n, err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	reader.Wait()
	if got := files(t, string(dir)); len(got) != 1 {
		t.Errorf("left behind: %q", got)
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
