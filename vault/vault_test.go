package vault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// open opens a vault in a temporary folder.
func open(t *testing.T) (*vault.Vault, string) {
	t.Helper()
	dir := t.TempDir()
	return openIn(t, vault.Config{Dir: dir}), dir
}

func openIn(t *testing.T, cfg vault.Config) *vault.Vault {
	t.Helper()
	v, err := vault.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// put writes a file without the vault.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func second[T any](_ T, err error) error { return err }

func TestCreateReadUpdateDelete(t *testing.T) {
	v, dir := open(t)
	ctx := t.Context()
	n := &vault.Note{URI: "memory://tech/auth patterns", Body: "\n# Auth\n"}
	if err := errors.Join(n.Front.Set("title", "Auth: patterns"), v.Create(ctx, n)); err != nil {
		t.Fatal(err)
	}
	if n.URI != "memory://tech/auth%20patterns.md" {
		t.Errorf("the URI is %s", n.URI)
	}
	const want = "---\ntitle: \"Auth: patterns\"\n---\n\n# Auth\n"
	if got := get(t, dir, "tech/auth patterns.md"); got != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}
	if err := v.Create(ctx, n); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a second Create: %v", err)
	}
	if _, err := v.Update(ctx, n.URI, func(n *vault.Note) error {
		n.Body += "More.\n"
		return n.Front.Set("count", 3)
	}); err != nil {
		t.Fatal(err)
	}
	got, err := v.Read(ctx, "memory://tech/auth%20patterns")
	if err != nil || got.Front.Get("count") != "3" || got.Body != "\n# Auth\nMore.\n" || got.Info.Size == 0 {
		t.Fatalf("read %+v, %v", got, err)
	}
	if err := v.Delete(ctx, n.URI, nil); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{v.Delete(ctx, n.URI, nil), second(v.Read(ctx, n.URI)), second(v.Stat(ctx, n.URI)), second(v.Update(ctx, n.URI, nil))} {
		if !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("after Delete: %v", err)
		}
	}
}

func TestOpen(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "a", "b")
	if _, err := vault.Open(vault.Config{}); sequent.CodeOf(err) != vault.CodeUnavailable {
		t.Errorf("no folder: %v", err)
	}
	v := openIn(t, vault.Config{Dir: missing})
	info, err := os.Stat(missing)
	if err != nil || info.Mode().Perm()&0o077 != 0 && !onWindows {
		t.Errorf("the folder that was made: %v, %v", info, err)
	}
	for range v.Walk(t.Context(), "") {
		t.Error("an empty vault has a note")
	}
	if entries, err := os.ReadDir(missing); err != nil || len(entries) > 0 {
		t.Errorf("before the first write, the folder holds %v, %v", entries, err)
	}
	if err := v.Create(t.Context(), &vault.Note{URI: "memory://x"}); err != nil {
		t.Error(err)
	}
	if _, err := vault.Open(vault.Config{Dir: filepath.Join(missing, "x.md")}); sequent.CodeOf(err) != vault.CodeUnavailable {
		t.Errorf("a file: %v", err)
	}
}

func TestPermissions(t *testing.T) {
	if onWindows {
		t.Skip("SKIP: Windows has no permission bits")
	}
	v, dir := open(t)
	if err := v.Create(t.Context(), &vault.Note{URI: "memory://a/b/c"}); err != nil {
		t.Fatal(err)
	}
	change := func(n *vault.Note) error { n.Body = "two"; return nil }
	for name, mode := range map[string]fs.FileMode{"mine": 0o664, "fixed": 0o444} {
		put(t, dir, name+".md", "one")
		if err := os.Chmod(filepath.Join(dir, name+".md"), mode); err != nil {
			t.Fatal(err)
		}
		_, err := v.Update(t.Context(), vault.URI("memory://"+name), change)
		if want := map[string]sequent.Code{"fixed": vault.CodeReadOnly}[name]; sequent.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]fs.FileMode{
		"a": 0o700, "a/b": 0o700, "a/b/c.md": 0o600, ".sequent": 0o700, ".sequent/lock": 0o600, "mine.md": 0o664, "fixed.md": 0o444,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// Walk yields the notes, and continues beside what cannot be one.
func TestWalk(t *testing.T) {
	v, dir := open(t)
	names := []string{
		"b.md", "a.md", "A/B/c d.md", "A/Z.MD", "Ünï.md", "picture.png", ".obsidian/x.md", ".git/y.md", "A/.hidden.md", "A/.deep/x.md",
	}
	bad := []string{"10:30.md", "CON.md", "bad\xff.md", "turn\u202eed.md", "dots.../x.md"}
	if onWindows {
		bad = nil // it has no such names
	}
	for _, name := range append(names, bad...) {
		put(t, dir, name, "x")
	}
	var got []string
	refused := 0
	for info, err := range v.Walk(t.Context(), "") {
		switch {
		case err == nil:
			got = append(got, string(info.URI))
			if info.Size != 1 || info.Modified.IsZero() {
				t.Errorf("%+v", info)
			}
		case sequent.CodeOf(err) != vault.CodeInvalidURI || !strings.Contains(err.Error(), "rename it"):
			t.Errorf("refused with %v", err)
		default:
			refused++
		}
	}
	want := []string{"memory://%C3%9Cn%C3%AF.md", "memory://A/B/c%20d.md", "memory://A/Z.MD", "memory://a.md", "memory://b.md"}
	if slices.Sort(got); !slices.Equal(got, want) || refused != len(bad) {
		t.Errorf("%d are refused, got\n%q\nwant\n%q", refused, got, want)
	}
	for info, err := range v.Walk(t.Context(), "A/B") {
		if err != nil || info.URI != "memory://A/B/c%20d.md" {
			t.Errorf("in A/B: %v, %v", info, err)
		}
	}
	for info, err := range v.Walk(t.Context(), "none/such") {
		t.Errorf("in a folder that is not there: %v, %v", info, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range v.Walk(ctx, "") {
		last = err
	}
	if sequent.CodeOf(last) != sequent.CodeCanceled {
		t.Errorf("given up: %v", last)
	}
}

func TestRecent(t *testing.T) {
	v, dir := open(t)
	for i, name := range []string{"b/x.txt", "b/newest.md", "b/new.md", "old.md"} {
		put(t, dir, name, "text")
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]string{"": "b/newest.md b/new.md old.md", "b/": "b/newest.md b/new.md", "c": ""} {
		list, err := v.Recent(t.Context(), folder)
		var got []string
		for _, n := range list {
			got = append(got, n.URI.Path())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("Recent(%q) = %q, %v, want %q", folder, got, err, want)
		}
	}
}

// Changes by other programs during an update are not lost.
func TestUpdateBesideOthers(t *testing.T) {
	v, dir := open(t)
	refusal := &sequent.Error{Code: "refused"}
	for _, test := range []struct {
		name   string
		change func(n *vault.Note, call int) error
		want   string // of the file, which holds "one\n" at first
		code   sequent.Code
	}{
		{"saved once", func(n *vault.Note, call int) error {
			if call == 1 {
				put(t, dir, "a.md", "one\nof a person\n")
			}
			n.Body += "of a program\n"
			return nil
		}, "one\nof a person\nof a program\n", ""},
		{"saved again and again", func(n *vault.Note, call int) error {
			put(t, dir, "a.md", strings.Repeat("x", call))
			n.Body = "of a program"
			return nil
		}, strings.Repeat("x", 20), vault.CodeConflict},
		{"refused", func(n *vault.Note, _ int) error { n.Body = "of a program"; return refusal }, "one\n", "refused"},
	} {
		put(t, dir, "a.md", "one\n")
		calls := 0
		_, err := v.Update(t.Context(), "memory://a", func(n *vault.Note) error { calls++; return test.change(n, calls) })
		if got := get(t, dir, "a.md"); got != test.want || sequent.CodeOf(err) != test.code {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// An editor that saves in place empties the file first. The test's clock stands still
// while it writes.
func TestEmptyNoteIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, dir := open(t)
		put(t, dir, "a.md", "")
		go func() {
			if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("of a person\n"), 0o600); err != nil {
				t.Error(err)
			}
		}()
		_, err := v.Update(t.Context(), "memory://a", func(n *vault.Note) error { n.Body += "of a program\n"; return nil })
		if got := get(t, dir, "a.md"); err != nil || got != "of a person\nof a program\n" {
			t.Errorf("%q, %v", got, err)
		}
	})
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

func TestLimit(t *testing.T) {
	v, dir := open(t)
	full := strings.Repeat("x", vault.MaxBytes)
	put(t, dir, "huge.md", full+"x")
	put(t, dir, "full.md", full)
	ctx := t.Context()
	if _, err := v.Read(ctx, "memory://full"); err != nil {
		t.Error(err)
	}
	more := func(n *vault.Note) error { n.Body += "x"; return nil }
	for _, err := range []error{
		second(v.Read(ctx, "memory://huge")), second(v.Update(ctx, "memory://full", more)),
		v.Create(ctx, &vault.Note{URI: "memory://new", Body: full + "x"}),
	} {
		if sequent.CodeOf(err) != vault.CodeTooLarge {
			t.Errorf("%v", err)
		}
	}
	if get(t, dir, "full.md") != full {
		t.Error("a refused update has changed the note")
	}
}

// A vault that is opened twice behaves like two processes, because a file lock belongs
// to an open file.
func TestUpdatesTakeTurns(t *testing.T) {
	const writers, changes = 6, 10
	dir := t.TempDir()
	vaults := []*vault.Vault{openIn(t, vault.Config{Dir: dir}), openIn(t, vault.Config{Dir: dir})}
	put(t, dir, "log.md", "\n")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range changes {
				if _, err := vaults[w%2].Update(t.Context(), "memory://log", func(note *vault.Note) error {
					note.Body += fmt.Sprintf("%d.%d\n", w, n)
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	lines := strings.Fields(get(t, dir, "log.md"))
	if slices.Sort(lines); len(lines) != writers*changes || len(slices.Compact(lines)) != writers*changes {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

func TestWaitingHasAnEnd(t *testing.T) {
	dir := t.TempDir()
	v := openIn(t, vault.Config{Dir: dir})
	impatient := openIn(t, vault.Config{Dir: dir})
	impatient.SetLockTimeout(20 * time.Millisecond)
	put(t, dir, "a.md", "x")
	if _, err := v.Update(t.Context(), "memory://a", func(*vault.Note) error {
		if err := impatient.Create(t.Context(), &vault.Note{URI: "memory://b"}); sequent.CodeOf(err) != vault.CodeBusy {
			t.Errorf("held by another process: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := v.Create(ctx, &vault.Note{URI: "memory://b"}); sequent.CodeOf(err) != sequent.CodeCanceled {
			t.Errorf("given up: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// A caller that timed out holds nothing.
	if err := impatient.Create(t.Context(), &vault.Note{URI: "memory://b"}); err != nil {
		t.Error(err)
	}
}
