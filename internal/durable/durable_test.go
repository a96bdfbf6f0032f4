package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/durable"
)

func open(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func TestWriteTemp(t *testing.T) {
	root, dir := open(t)
	text := func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }
	if err := durable.WriteTemp(root, "a", 0o640, text); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) != "text" || err != nil {
		t.Errorf("the file has %q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v; want 0640", info.Mode(), err)
	}
	if err := durable.WriteTemp(root, "a", 0o600, text); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing file: got %v, want ErrExist", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) != "text" || err != nil {
		t.Errorf("afterwards the file has %q, %v", got, err)
	}
	failed := errors.New("failed")
	if err := durable.WriteTemp(root, "b", 0o600, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of write", err)
	}
	if _, err := root.Lstat("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an error the file is there: %v", err)
	}
	if err := errors.Join(durable.SyncDir(root, "."), durable.SyncPath(dir)); err != nil {
		t.Error(err)
	}
}

// A file is replaced as a whole. What a killed writer of it left behind is removed, unless it may
// still be in use.
func TestWriteFile(t *testing.T) {
	root, dir := open(t)
	if err := root.Mkdir("d", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{".a-OLD.tmp": 2 * time.Hour, ".a-NEW.tmp": 0, ".b-OLD.tmp": 2 * time.Hour, "a": 2 * time.Hour} {
		path := filepath.Join(dir, "d", name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, time.Time{}, time.Now().Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.WriteFile(root, "d/a", 0o600, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	if err := durable.WriteFile(root, "d/a", 0o600, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of write", err)
	}
	var left []string
	entries, err := os.ReadDir(filepath.Join(dir, "d"))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != ".a-NEW.tmp .b-OLD.tmp a" || err != nil {
		t.Errorf("left are %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "d", "a")); string(got) != "new" || err != nil {
		t.Errorf("the file has %q, %v", got, err)
	}
}
