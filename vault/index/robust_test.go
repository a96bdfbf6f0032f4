package index_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
)

func (b *box) db() string { return b.path(".sequent/index.db") }

func TestSync(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{
		"a.md":       "[[One]] and [[Two]]",
		"b.md":       "[[one]], [[Three|3]], `[[code]]`",
		"c.md":       "---\nparent: \"[[workflow/x]]\"\nrelated: [[One]]\n# [[comment]]\n---\nno links",
		"d.md":       "[[alone]]",
		"e.md":       "nothing",
		".hidden.md": "[[hidden]]",
		"f.txt":      "[[text]]",
	})
	var told []index.Progress
	r, err := b.Sync(t.Context(), func(p index.Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	// Concepts: one, two, three, workflow-x, alone. Relations: one with each of the three.
	check := func(r index.Report, want string) {
		t.Helper()
		got := fmt.Sprintf("notes %d, changed %d, removed %d, concepts %d, relations %d, orphans %d, unreadable %d",
			r.Notes, r.Changed, r.Removed, r.Concepts, r.Relations, r.Orphans, len(r.Unreadable))
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check(r, "notes 5, changed 5, removed 0, concepts 5, relations 3, orphans 1, unreadable 0")
	if len(told) != 1 || told[0] != (index.Progress{Stage: "reading", Done: 5, Total: 5}) {
		t.Errorf("told %+v", told)
	}
	check(b.sync(), "notes 5, changed 0, removed 0, concepts 5, relations 3, orphans 1, unreadable 0")

	b.write("a.md", "[[Two]] only")
	b.remove("d.md")
	b.write("g.md", "[[two]] [[five]]")
	check(b.sync(), "notes 5, changed 2, removed 1, concepts 5, relations 3, orphans 0, unreadable 0")
}

// What cannot be read is reported, and is not found.
func TestUnreadableNotes(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{
		"good.md": "fine words", "damaged.md": "---\n: [ : x\n---\nfine [[link]]", "binary.md": "\x00\xff\xfe fine \xc3",
		"large.md": "fine" + strings.Repeat(" ", vault.MaxBytes), "links.md": "fine " + strings.Repeat("[[a]]", vault.MaxLinks+1),
		"wide.md": "\xFF\xFEf\x00i\x00n\x00e\x00",
	})
	want := []sequent.Code{vault.CodeTooLarge, vault.CodeTooLarge, vault.CodeNotText}
	if runtime.GOOS != "windows" {
		b.write("bad|name.md", "fine")
		want = append(want, vault.CodeInvalidURI)
	}
	check := func(notes int, found string) {
		t.Helper()
		r := b.sync()
		var codes []sequent.Code
		for _, err := range r.Unreadable {
			codes = append(codes, sequent.CodeOf(err))
		}
		slices.Sort(codes)
		slices.Sort(want)
		if !slices.Equal(codes, want) || r.Notes != notes {
			t.Errorf("%+v", r)
		}
		got := strings.Fields(b.text("fine"))
		if slices.Sort(got); strings.Join(got, " ") != found {
			t.Errorf("found %q, want %q", got, found)
		}
	}
	check(3, "binary damaged good")
	b.write("good.md", strings.Repeat("fine", vault.MaxBytes))
	want = append(want, vault.CodeTooLarge)
	check(2, "binary damaged")
}

// A damaged index is rebuilt by whichever call finds it.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(b *box) error{
		"no database": func(b *box) error { return os.WriteFile(b.db(), []byte("this is no database, but a text"), 0o600) },
		"empty":       func(b *box) error { return os.WriteFile(b.db(), nil, 0o600) },
		"cut off":     func(b *box) error { return os.Truncate(b.db(), 5000) },
		"overwritten": func(b *box) error {
			data, err := os.ReadFile(b.db())
			if err != nil {
				return err
			}
			for i := 4096; i < len(data); i++ {
				data[i] ^= 0x5a
			}
			return os.WriteFile(b.db(), data, 0o600)
		},
		"removed":        func(b *box) error { return os.Remove(b.db()) },
		"folder removed": func(b *box) error { return os.RemoveAll(b.path(".sequent")) },
		"old format":     func(b *box) error { return execute(b.db(), "PRAGMA user_version=1") },
		"word missing":   func(b *box) error { return execute(b.db(), "DROP TABLE words") },
	} {
		for _, open := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, open %v", name, open), func(t *testing.T) {
				t.Parallel()
				if open && runtime.GOOS == "windows" {
					t.Skip("SKIP: Windows keeps others from changing an open file")
				}
				b := newBox(t, index.Config{}, library)
				for i := range 80 {
					b.write(fmt.Sprintf("n%d.md", i), fmt.Sprintf("words of number%d in [[concept %d]]", i, i%7))
				}
				b.sync()
				if !open {
					if err := b.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if err := damage(b); err != nil {
					t.Fatal(err)
				}
				if !open {
					b = &box{t: t, dir: b.dir}
					b.open(index.Config{})
				}
				b.write("new.md", "words that are new")
				if got := b.text("number17 new"); got != "new n17" && got != "n17 new" {
					t.Errorf("found %q", got)
				}
			})
		}
	}
}

func TestForeignFile(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{"a.md": "words"})
	b.write(".sequent/x", "")
	if err := os.Symlink(filepath.Join(b.dir, "elsewhere"), b.db()); err != nil {
		t.Skip("SKIP: no symbolic links here:", err)
	}
	_, err := b.Search(t.Context(), index.Query{Text: "words"}, nil)
	wantCode(t, err, index.CodeUnavailable, "")
	if _, err := os.Stat(b.path("elsewhere")); err == nil {
		t.Error("the link was followed")
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, library)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err1 := b.Sync(ctx, nil)
	_, err2 := b.Search(ctx, index.Query{Text: "words"}, nil)
	_, err3 := b.Context(ctx, index.ContextQuery{Concept: "jwt"})
	for _, err := range []error{err1, err2, err3} {
		if sequent.CodeOf(err) != sequent.CodeCanceled {
			t.Errorf("error %v", err)
		}
	}
	if got := b.text("zebra"); got != "only title" {
		t.Errorf("after it found %q", got)
	}
}

// A search finds notes as they are now, whoever has changed them: if the system tells what
// has changed, and if it does not.
//
// covers: 001/sync-needed
func TestChangesAreSeen(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		t.Run(fmt.Sprintf("told %v", told), func(t *testing.T) {
			t.Parallel()
			testChangesAreSeen(t, told)
		})
	}
}

func testChangesAreSeen(t *testing.T, told bool) {
	outside := t.TempDir()
	same := time.Now().Add(time.Minute) // as recent as can be, however slow this test runs
	b := newBox(t, index.Config{}, map[string]string{"a.md": "first words", "dir/b.md": "second", ".obsidian/h.md": "words", "h.txt": "words"})
	if !told {
		b.Unwatch()
	}
	rename := func(from, to string) func() error { return func() error { return os.Rename(from, to) } }
	write := func(name, text string) func() error { return func() error { b.write(name, text); return nil } }
	for _, step := range []struct {
		do          func() error
		query, want string
	}{
		{nil, "words second", "dir/b a"},
		{write("a.md", "changed in place"), "first changed", "a"},
		{func() error { b.write("dir/c.md~", "third"); b.write("dir/.c.swp", "third"); return nil }, "third", ""},
		{rename(b.path("dir/c.md~"), b.path("dir/c.md")), "third", "dir/c"}, // as editors save
		{rename(b.path("dir"), b.path("moved")), "second third", "moved/b moved/c"},
		{rename(b.path("moved"), filepath.Join(outside, "x")), "second third", ""},
		{rename(filepath.Join(outside, "x"), b.path("back")), "second third", "back/b back/c"},
		{write("back/c.md", "fourth"), "third fourth", "back/c"},
		{write("new/deep/d.md", "fifth"), "fifth", "new/deep/d"},
		{write("new/deep/e.md", "sixth"), "sixth", "new/deep/e"},
		{rename(b.path(".obsidian"), b.path("shown")), "words", "shown/h"},
		{func() error { b.remove("shown/h.md"); return nil }, "words", ""},
		{func() error { b.remove("back"); return nil }, "second third", ""},
		{func() error { // more events than a system keeps
			for i := range 20_000 {
				if err := os.Chtimes(b.path([]string{"a.md", "h.txt"}[i%2]), same, same); err != nil {
					return err
				}
			}
			b.write("f.md", "seventh")
			return nil
		}, "seventh", "f"},
		// Another program discards the index, and is killed.
		{func() error {
			if runtime.GOOS != "windows" {
				return os.Remove(b.db())
			}
			return nil
		}, "seventh", "f"},
		// Twice within one tick of the file system's clock, without changing its length.
		{func() error { b.write("a.md", "apple"); return os.Chtimes(b.path("a.md"), same, same) }, "apple grape", "a"},
		{func() error { b.write("a.md", "grape"); return os.Chtimes(b.path("a.md"), same, same) }, "grape", "a"},
	} {
		if step.do != nil {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.text(step.query); got != step.want {
			t.Errorf("%s: found %q, want %q", step.query, got, step.want)
		}
	}
}

// A search does not look at all notes if the system tells what has changed. A change that
// it cannot tell of, by another name of the file, is found by a sync.
func TestSearchReadsWhatChanged(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{"a.md": "first"})
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Link(b.path("a.md"), other); err != nil {
		t.Skip("SKIP: no hard links here:", err)
	}
	if b.text("first"); !b.Watched() {
		t.Skip("SKIP: nothing tells here what has changed")
	}
	if err := os.WriteFile(other, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.text("second"); got != "" {
		t.Errorf("found %q, so all notes were looked at", got)
	}
	b.sync()
	if got := b.text("second"); got != "a" {
		t.Errorf("after a sync found %q", got)
	}
}

// execute runs SQL on a database file.
func execute(path, text string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		return err
	}
	_, err = db.Exec(text)
	return errors.Join(err, db.Close())
}

// Deleted text is in no file of the index, also while the index is open.
func TestDeletedTextIsErased(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 300 {
		files[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("# Note %d\n\n%s", i, strings.Repeat(fmt.Sprintf("filler%d words ", i), 50))
	}
	files["secret.md"] = "---\ntitle: Zqjxkvbpw\ntags: [zqjgrfmth]\nkey: zqjdlsnrc\n---\nThe pass phrase is zqjwyphtb zqjmkoqlsed."
	files["changed.md"] = "It was zqjbafugh before."
	erased := []string{"qjxkvbpw", "qjgrfmth", "qjdlsnrc", "qjwyphtb", "qjmkoqls", "qjbafugh"} // FTS5 may share the first letter
	b := newBox(t, index.Config{}, files)
	b.sync()
	if got := b.text("zqjwyphtb zqjbafugh"); got != "changed secret" {
		t.Fatalf("found %q", got)
	}
	found := func() (all []string) {
		t.Helper()
		names, err := filepath.Glob(b.path(".sequent/*"))
		if err != nil || len(names) == 0 {
			t.Fatalf("files of the index: %v, %v", names, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range erased {
				if bytes.Contains(bytes.ToLower(data), []byte(text)) {
					all = append(all, text+" in "+filepath.Base(name))
				}
			}
		}
		return all
	}
	if n := len(found()); n < len(erased) {
		t.Fatalf("this test can fail only if all %d texts are in the index at first; %d are", len(erased), n)
	}
	b.remove("secret.md")
	b.write("changed.md", "It is different now.")
	b.sync()
	if all := found(); len(all) > 0 {
		t.Errorf("there are still %q", all)
	}
	if got := b.text("zqjwyphtb zqjbafugh"); got != "" {
		t.Errorf("found %q", got)
	}
}
