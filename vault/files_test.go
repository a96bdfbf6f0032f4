package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

func TestFilesThatAreNoNotes(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "workflows/b.json", "{}")
	put(t, dir, "workflows/a.json", "[]")
	put(t, dir, "workflows/.hidden", "")
	put(t, dir, "workflows/deeper/c.json", "")
	names, err := v.List(t.Context(), "workflows")
	if err != nil || !slices.Equal(names, []string{"a.json", "b.json"}) {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := v.List(t.Context(), "none/such"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := v.List(t.Context(), "workflows/a.json"); sequent.CodeOf(err) != vault.CodeNotANote {
		t.Errorf("a file is listed: %v", err)
	}
	data, err := v.ReadFile(t.Context(), "workflows/a.json")
	if err != nil || string(data) != "[]" {
		t.Errorf("%q, %v", data, err)
	}
	for path, code := range map[string]sequent.Code{
		"workflows": vault.CodeNotANote, "workflows/none": vault.CodeNotFound, "../x": vault.CodeInvalidURI, ".sequent/id": vault.CodeInvalidURI,
	} {
		if _, err := v.ReadFile(t.Context(), path); sequent.CodeOf(err) != code {
			t.Errorf("ReadFile(%s): %v, want %s", path, err, code)
		}
	}
}

func TestState(t *testing.T) {
	v, dir := open(t)
	if _, err := v.ReadState(t.Context(), "things", "one"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"long enough", "short"} {
		if err := v.WriteState("things", "one", []byte(text)); err != nil {
			t.Fatal(err)
		}
		data, err := v.ReadState(t.Context(), "things", "one")
		if err != nil || string(data) != text {
			t.Errorf("%q, %v", data, err)
		}
	}
	root, err := v.State()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if data, err := root.ReadFile("things/one"); err != nil || string(data) != "short" {
		t.Errorf("%q, %v", data, err)
	}
	if got := get(t, dir, ".sequent/.gitignore"); got != "*\n" {
		t.Errorf("%q", got)
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

func TestHeld(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "a.md", "\r\none\r\n")
	err := v.Hold(t.Context(), "memory://a", func(h *vault.Held) error {
		n, err := h.Read()
		if err != nil || n.LineBreak() != "\r\n" {
			t.Errorf("%+v, %v", n, err)
		}
		info, err := h.Append("two\r\n", n.Info)
		if err != nil {
			return err
		}
		if _, err := h.Append("three\r\n", n.Info); sequent.CodeOf(err) != vault.CodeConflict {
			t.Errorf("a note that has changed: %v", err)
		}
		if now, err := h.Stat(); err != nil || now != info || now.Size != int64(len("\r\none\r\ntwo\r\n")) {
			t.Errorf("%+v, %v, want %+v", now, err, info)
		}
		return nil
	})
	if got := get(t, dir, "a.md"); err != nil || got != "\r\none\r\ntwo\r\n" {
		t.Errorf("%q, %v", got, err)
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
