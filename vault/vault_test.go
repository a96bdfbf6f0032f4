package vault_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
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

func TestCreateReadUpdateDelete(t *testing.T) {
	v, dir := open(t)
	ctx := t.Context()
	n := &vault.Note{URI: "memory://tech/auth patterns", Body: "\n# Auth\n"}
	if err := n.Front.Set("title", "Auth: patterns"); err != nil {
		t.Fatal(err)
	}
	if err := v.Create(ctx, n); err != nil {
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
	_, err := v.Update(ctx, n.URI, func(n *vault.Note) error {
		n.Body += "More.\n"
		return n.Front.Set("count", 3)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Read(ctx, "memory://tech/auth%20patterns")
	if err != nil {
		t.Fatal(err)
	}
	if got.Front.Get("count") != "3" || got.Body != "\n# Auth\nMore.\n" || got.Info.Size == 0 {
		t.Errorf("read %+v", got)
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

func second[T any](_ T, err error) error { return err }

func TestOpenWritesNothing(t *testing.T) {
	v, dir := open(t)
	for range v.Walk(t.Context(), "") {
		t.Error("an empty vault has a note")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestOpen(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "a", "b")
	if _, err := vault.Open(vault.Config{Dir: missing}); sequent.CodeOf(err) != vault.CodeUnavailable {
		t.Errorf("a missing folder: %v", err)
	}
	v := openIn(t, vault.Config{Dir: missing, Create: true})
	info, err := os.Stat(missing)
	if err != nil || info.Mode().Perm()&0o077 != 0 && !onWindows {
		t.Errorf("the folder that was made: %v, %v", info, err)
	}
	if err := v.Create(t.Context(), &vault.Note{URI: "memory://x"}); err != nil {
		t.Error(err)
	}
	file := filepath.Join(missing, "x.md")
	if _, err := vault.Open(vault.Config{Dir: file}); sequent.CodeOf(err) != vault.CodeUnavailable {
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
	put(t, dir, "mine.md", "one")
	if err := os.Chmod(filepath.Join(dir, "mine.md"), 0o664); err != nil {
		t.Fatal(err)
	}
	_, err := v.Update(t.Context(), "memory://mine", func(n *vault.Note) error { n.Body = "two"; return nil })
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"a": 0o700, "a/b": 0o700, "a/b/c.md": 0o600, ".sequent": 0o700, ".sequent/lock": 0o600, "mine.md": 0o664,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestWalk(t *testing.T) {
	v, dir := open(t)
	for _, name := range []string{
		"b.md", "a.md", "A/B/c d.md", "A/Z.MD", "Ünï.md", "picture.png",
		".obsidian/x.md", ".git/y.md", ".trash/z.md", "A/.hidden.md", "A/.deep/x.md",
	} {
		put(t, dir, name, "x")
	}
	if err := v.Create(t.Context(), &vault.Note{URI: "memory://new"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for info, err := range v.Walk(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(info.URI))
		if info.URI != "memory://new.md" && (info.Size != 1 || info.Modified.IsZero()) {
			t.Errorf("%+v", info)
		}
	}
	want := []string{
		"memory://A/B/c%20d.md", "memory://A/Z.MD", "memory://a.md", "memory://b.md", "memory://new.md", "memory://%C3%9Cn%C3%AF.md",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
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

func TestWalkGoesOnBesideWhatItCannotName(t *testing.T) {
	if onWindows {
		t.Skip("SKIP: Windows has no such names")
	}
	v, dir := open(t)
	for _, name := range []string{"a.md", "10:30.md", "CON.md", "bad\xff.md", "turn\u202eed.md", "dots.../x.md", "z.md"} {
		put(t, dir, name, "x")
	}
	var good []string
	var refused []error
	for info, err := range v.Walk(t.Context(), "") {
		if err != nil {
			refused = append(refused, err)
			continue
		}
		good = append(good, info.URI.Path())
	}
	if !slices.Equal(good, []string{"a.md", "z.md"}) || len(refused) != 5 {
		t.Errorf("notes %q, refused %v", good, refused)
	}
	for _, err := range refused {
		if sequent.CodeOf(err) != vault.CodeInvalidURI || !strings.Contains(err.Error(), "rename it") {
			t.Errorf("refused with %v", err)
		}
	}
}

// A change that another program makes during an update is not lost.
func TestUpdateSeesOthersChanges(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "a.md", "one\n")
	calls := 0
	_, err := v.Update(t.Context(), "memory://a", func(n *vault.Note) error {
		if calls++; calls == 1 {
			put(t, dir, "a.md", "one\nof a person\n")
		}
		n.Body += "of a program\n"
		return nil
	})
	if got := get(t, dir, "a.md"); err != nil || got != "one\nof a person\nof a program\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUpdateGivesUp(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "a.md", "")
	_, err := v.Update(t.Context(), "memory://a", func(n *vault.Note) error {
		put(t, dir, "a.md", n.Body+"x")
		n.Body = "mine"
		return nil
	})
	if sequent.CodeOf(err) != vault.CodeConflict || strings.Contains(get(t, dir, "a.md"), "mine") {
		t.Errorf("%v", err)
	}
}

func TestRefusedChangeWritesNothing(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "a.md", "one")
	refusal := errors.New("no")
	_, err := v.Update(t.Context(), "memory://a", func(n *vault.Note) error { n.Body = "two"; return refusal })
	if !errors.Is(err, refusal) || get(t, dir, "a.md") != "one" {
		t.Errorf("%v", err)
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

func TestRecent(t *testing.T) {
	v, dir := open(t)
	for i, name := range []string{"old.md", "b/newest.md", "b/new.md", "b/x.txt", ".hidden.md"} {
		put(t, dir, name, "text")
		age := []time.Duration{3, 1, 2, 0, 0}[i] * time.Hour
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"", 10, "b/newest.md b/new.md old.md"},
		{"", 2, "b/newest.md b/new.md"},
		{"", 0, ""},
		{"b/new.", 10, "b/new.md"},
		{"c", 10, ""},
	} {
		list, err := v.Recent(t.Context(), test.prefix, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range list {
			got = append(got, n.URI.Path())
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("Recent(%q, %d) = %q, want %q", test.prefix, test.limit, got, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Recent(ctx, "", 1); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("after cancellation: %v", err)
	}
}

func TestMaxNotes(t *testing.T) {
	dir := t.TempDir()
	v := openIn(t, vault.Config{Dir: dir, MaxNotes: 2})
	put(t, dir, "by hand.md", "x")
	create := func(uri vault.URI, want sequent.Code) {
		t.Helper()
		if err := v.Create(t.Context(), &vault.Note{URI: uri}); sequent.CodeOf(err) != want {
			t.Errorf("%s: %v", uri, err)
		}
	}
	create("memory://one", "")
	create("memory://two", sequent.CodeQuotaExceeded)
	if err := v.Room(t.Context()); sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
		t.Errorf("Room: %v", err)
	}
	if err := v.Delete(t.Context(), "memory://one", nil); err != nil {
		t.Fatal(err)
	}
	create("memory://two", "")
	if err := os.Remove(filepath.Join(dir, "by hand.md")); err != nil { // by a person
		t.Fatal(err)
	}
	create("memory://three", "")
}
