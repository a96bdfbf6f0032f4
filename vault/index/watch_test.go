package index_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/index"
)

// watch runs Watch until the test ends.
func (b *box) watch() {
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { b.Watch(ctx) })
	b.t.Cleanup(func() { stop(); done.Wait() })
}

// becomes waits until a query finds the notes.
func (b *box) becomes(query, want string) {
	b.t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = b.text(query); got == want {
			return
		}
	}
	b.t.Fatalf("%s: got %q for 20 seconds, want %q", query, got, want)
}

func (b *box) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

// covers: 001/sync-needed
func TestWatch(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{Debounce: 20 * time.Millisecond, Rescan: time.Hour}, map[string]string{
		"a.md": "first words", "dir/b.md": "second words",
	})
	b.watch()
	b.becomes("words", "a dir/b")
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}

	b.write("a.md", "changed in place")
	b.becomes("changed", "a")
	b.becomes("first", "")

	b.write("dir/c.md", "third words")
	b.becomes("third", "dir/c")

	// Editors write a new file and rename it.
	b.write("dir/.c.md.swp", "third swap")
	b.write("dir/c.md~", "third backup")
	b.write("dir/4913.tmp", "saved third")
	must(os.Rename(b.path("dir/4913.tmp"), b.path("dir/c.md")))
	b.becomes("third", "dir/c")
	b.becomes("saved", "dir/c")

	must(os.Rename(b.path("dir/c.md"), b.path("dir/d.md")))
	b.becomes("third", "dir/d")

	b.remove("dir/d.md")
	b.becomes("third", "")

	// New folders, with notes that were in them before they were watched and later ones.
	b.write("new/deep/folder/e.md", "fourth words")
	b.becomes("fourth", "new/deep/folder/e")
	b.write("new/deep/folder/f.md", "fifth words")
	b.becomes("fifth", "new/deep/folder/f")

	must(os.Rename(b.path("new"), b.path("renamed")))
	b.becomes("fourth fifth", "renamed/deep/folder/e renamed/deep/folder/f")
	b.write("renamed/deep/folder/e.md", "sixth words")
	b.becomes("sixth", "renamed/deep/folder/e")

	b.remove("renamed")
	b.becomes("fifth sixth", "")

	// A folder that is moved into the vault, and out of it.
	outside := t.TempDir()
	must(os.MkdirAll(filepath.Join(outside, "x"), 0o700), os.WriteFile(filepath.Join(outside, "x", "g.md"), []byte("seventh"), 0o600))
	must(os.Rename(filepath.Join(outside, "x"), b.path("x")))
	b.becomes("seventh", "x/g")
	must(os.Rename(b.path("x"), filepath.Join(outside, "y")))
	b.becomes("seventh", "")

	// Files that are not notes are not indexed.
	b.write(".obsidian/h.md", "eighth")
	b.write("eighth.txt", "eighth")
	b.write("i.md", "ninth")
	b.becomes("ninth", "i")
	if got := b.text("eighth"); got != "" {
		t.Errorf("found %s", got)
	}
}

// Changes that the operating system does not report are found by the rescan.
func TestRescan(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{Debounce: time.Hour, Rescan: 30 * time.Millisecond}, map[string]string{"a.md": "first"})
	b.watch()
	b.becomes("first", "a")
	b.write("b.md", "second")
	b.becomes("second", "b")
}

// Watch reads nothing before its turn, and others do not wait for it.
func TestTurn(t *testing.T) {
	t.Parallel()
	var held atomic.Int64
	come, asked := make(chan error), make(chan bool)
	b := newBox(t, index.Config{Debounce: time.Hour, Rescan: 30 * time.Millisecond, Turn: func(ctx context.Context) (func(), error) {
		var err error
		select {
		case asked <- true:
			err = <-come
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		held.Add(1)
		return func() { held.Add(-1) }, nil
	}}, map[string]string{"a.md": "first"})
	b.watch()
	<-asked
	b.synced = true // only by Watch
	if got := b.text("first"); got != "" {
		t.Errorf("found %s before the turn", got)
	}
	b.sync()
	if got := b.text("first"); got != "a" {
		t.Errorf("after a Sync beside Watch, found %q", got)
	}
	b.write("b.md", "second")
	come <- errors.New("not now")
	<-asked
	if got := b.text("second"); got != "" {
		t.Errorf("found %s without a turn", got)
	}
	come <- nil
	for deadline := time.After(20 * time.Second); b.text("second") == ""; {
		select {
		case <-asked:
			come <- nil
		case <-deadline:
			t.Fatal("Watch does not find the note")
		case <-time.After(10 * time.Millisecond):
		}
	}
	for deadline := time.Now().Add(20 * time.Second); held.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d turns last", held.Load())
		}
	}
}
