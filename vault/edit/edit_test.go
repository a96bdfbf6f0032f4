package edit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
)

// A desk is a vault with an editor.
type desk struct {
	*testing.T
	dir    string
	vault  *vault.Vault
	editor *edit.Editor
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	d := &desk{T: t, dir: t.TempDir()}
	for name, text := range files {
		d.put(name, text)
	}
	d.open()
	return d
}

func (d *desk) open() {
	d.Helper()
	v, err := vault.Open(vault.Config{Dir: d.dir})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = v.Close() })
	d.vault = v
	d.editor = edit.New(edit.Config{
		Vault: v, Protected: map[string]string{"thinking/sequential": "call sequential_thinking"},
		Now: func() time.Time { return time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC) },
	})
}

func (d *desk) put(name, text string) {
	d.Helper()
	file := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		d.Fatal(err)
	}
	return string(data)
}

func (d *desk) checksum(uri vault.URI) string {
	d.Helper()
	n, err := d.vault.Read(d.Context(), uri)
	if err != nil {
		d.Fatal(err)
	}
	return edit.Checksum(n)
}

func (d *desk) want(err error, code sequent.Code) {
	d.Helper()
	if sequent.CodeOf(err) != code {
		d.Errorf("got %v, want the code %q", err, code)
	}
}

const pool = "---\n# my own order\nstatus: reviewed\ntags: [db]\n---\n# The pool\n\nIntro [[checkout]].\n\n## Facts\n\n- one [[pool]]\n\n### Detail\n\nx\n\n## Open\n\nnothing\n"

func TestWrite(t *testing.T) {
	d := newDesk(t, nil)
	n, err := d.editor.Write(t.Context(), edit.Change{URI: "memory://pool", Content: "# The pool\n\nSee [[checkout]].\n", Tags: []string{"two words"}})
	if err != nil {
		t.Fatal(err)
	}
	const front = "---\ntitle: The pool\ntags:\n  - two-words\ncreated: 2026-03-14T15:09:26.000Z\nmodified: 2026-03-14T15:09:26.000Z\n---\n"
	_, err = d.editor.Write(t.Context(), edit.Change{URI: n.URI, Content: "Other [[text]].\n", Checksum: edit.Checksum(n)})
	if got := d.read("pool.md"); err != nil || got != front+"Other [[text]].\n" {
		t.Errorf("%s, %v", got, err)
	}
	_, err = d.editor.Write(t.Context(), edit.Change{URI: "memory://new", Content: "`[[code]]`"})
	d.want(err, edit.CodeLinkRequired)
	_, err = d.editor.Write(t.Context(), edit.Change{URI: "memory://thinking/Sequential/x", Content: "[[x]]"})
	d.want(err, edit.CodeProtected)
}

func TestChanges(t *testing.T) {
	type call func(*desk, edit.Change) (*vault.Note, error)
	appended := func(d *desk, c edit.Change) (*vault.Note, error) { return d.editor.Append(t.Context(), c) }
	replaced := func(d *desk, c edit.Change) (*vault.Note, error) { return d.editor.Replace(t.Context(), c) }
	found := func(d *desk, c edit.Change) (*vault.Note, error) { return d.editor.FindReplace(t.Context(), c) }
	const links = "Intro [[checkout]].\n\n## Facts\n\n- one [[pool]]\n"
	const facts = "## Facts\n\n- one [[pool]]\n\n### Detail\n\nx\n\n"
	for _, test := range []struct {
		name   string
		call   call
		change edit.Change
		from   string // of the note
		to     string
		code   sequent.Code
	}{
		{"append", appended, edit.Change{Content: "More [[a]]."}, "nothing\n", "nothing\n\nMore [[a]].\n", ""},
		{"append to a section", appended, edit.Change{Section: "facts", Content: "- two [[a]]"}, "x\n\n## Open", "x\n\n- two [[a]]\n\n## Open", ""},
		{"append to the last section", appended, edit.Change{Section: "Open", Content: "- two [[a]]"}, "nothing\n", "nothing\n\n- two [[a]]\n", ""},
		{"append without a link", appended, edit.Change{Content: "More."}, "", "", edit.CodeLinkRequired},
		{"append nothing", appended, edit.Change{}, "", "", edit.CodeInvalid},
		{"replace a section", replaced, edit.Change{Section: "## Facts", Content: "New [[a]].\n"}, facts, "## Facts\n\nNew [[a]].\n\n", ""},
		{"replace a section and its heading", replaced, edit.Change{Section: "Facts", Content: "## Truths\n\nNew [[a]]."}, facts, "## Truths\n\nNew [[a]].\n\n", ""},
		{"replace a subsection", replaced, edit.Change{Section: "Detail", Content: "y [[a]]"}, "### Detail\n\nx\n", "### Detail\n\ny [[a]]\n", ""},
		{"replace no section", replaced, edit.Change{Section: "Missing", Content: "y [[a]]"}, "", "", edit.CodeNoSection},
		{"replace a section of another level", replaced, edit.Change{Section: "# Facts", Content: "y [[a]]"}, "", "", edit.CodeNoSection},
		{"replace without a section", replaced, edit.Change{Content: "y [[a]]"}, "", "", edit.CodeInvalid},
		{"find and replace", found, edit.Change{Find: "nothing", Content: "something"}, "nothing", "something", ""},
		{"find and remove", found, edit.Change{Find: "- one [[pool]]\n", Content: ""}, "- one [[pool]]\n", "", ""},
		{"find in a section", found, edit.Change{Find: "x", Section: "Detail", Content: "z"}, "\nx\n", "\nz\n", ""},
		{"find what is not there", found, edit.Change{Find: "status: reviewed", Content: "z"}, "", "", edit.CodeNoText},
		{"find what is there twice", found, edit.Change{Find: "pool", Content: "z"}, "", "", edit.CodeAmbiguous},
		{"find the rest with the links", found, edit.Change{Find: links, Content: "no"}, "", "", edit.CodeLinkRequired},
		{"another checksum", found, edit.Change{Find: "nothing", Content: "z", Checksum: "0123456789ab"}, "", "", edit.CodeChanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"pool.md": pool})
			c := test.change
			c.URI = "memory://pool"
			_, err := test.call(d, c)
			d.want(err, test.code)
			want := pool
			if test.code == "" {
				want = strings.Replace(pool, test.from, test.to, 1)
				want = strings.Replace(want, "tags: [db]\n", "tags: [db]\nmodified: 2026-03-14T15:09:26.000Z\n", 1)
			}
			if got := d.read("pool.md"); got != want {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// An agent's text gets the line breaks of the note.
func TestLineBreaks(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "[[one]]\r\n\r\ntwo\r\nlines\r\n"})
	for _, find := range []string{"two\nlines", "2\r\nlines"} {
		_, err := d.editor.FindReplace(t.Context(), edit.Change{URI: "memory://a", Find: find, Content: "2\r\nlines"})
		d.want(err, "")
	}
	_, err := d.editor.Append(t.Context(), edit.Change{URI: "memory://a", Content: "a\n\r\n[[b]]\r\n"})
	d.want(err, "")
	if got, want := d.read("a.md"), "[[one]]\r\n\r\n2\r\nlines\r\n\r\na\r\n\r\n[[b]]\r\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestDelete(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "[[one]]"})
	d.want(d.editor.Delete(t.Context(), "memory://a", ""), edit.CodeChecksumRequired)
	d.want(d.editor.Delete(t.Context(), "memory://a", "0"), edit.CodeChanged)
	d.want(d.editor.Delete(t.Context(), "memory://b", "0"), vault.CodeNotFound)
	sum := d.checksum("memory://a")
	d.put("a.md", "[[two]]")
	d.want(d.editor.Delete(t.Context(), "memory://a", sum), edit.CodeChanged)
	d.want(d.editor.Delete(t.Context(), "memory://a", d.checksum("memory://a")), "")
	if _, err := os.Stat(filepath.Join(d.dir, "a.md")); err == nil {
		t.Error("the note is still there")
	}
}

// A person saves the note while the tool changes it: the tool's change is made again, on
// what the person has saved, and refused if it was meant for the note before.
func TestBesideAPerson(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "---\ntitle: a\n---\n[[start]]\n"})
	saves := 0
	e := edit.New(edit.Config{Vault: d.vault, Now: func() time.Time { // called within the change
		if saves++; saves <= 3 {
			d.put("a.md", fmt.Sprintf("---\ntitle: a\n---\n[[start]]\n\nSave %d of a person.\n", saves))
		}
		return time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	}})
	c := edit.Change{URI: "memory://a", Content: "By the tool. [[x]]", Checksum: d.checksum("memory://a")}
	_, err := e.Append(t.Context(), c)
	d.want(err, edit.CodeChanged)
	if got := d.read("a.md"); !strings.HasSuffix(got, "Save 1 of a person.\n") {
		t.Errorf("%q", got)
	}
	c.Checksum = ""
	_, err = e.Append(t.Context(), c)
	if got := d.read("a.md"); err != nil || !strings.HasSuffix(got, "\nSave 3 of a person.\n\nBy the tool. [[x]]\n") {
		t.Errorf("%q, %v", got, err)
	}
}

// A note has at most 1 MiB and 10,000 links. Two million brackets took 1.2 GB.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"near.md": strings.Repeat("[[a]] ", 9_990)})
	for name, content := range map[string]string{
		"brackets": "[[a]] " + strings.Repeat("[", 2_000_000),
		"links":    strings.Repeat("[[a]] ", vault.MaxLinks+1),
		"unread":   strings.Repeat("x", 1<<20+1), // its lack of a link is not looked for
	} {
		uri := vault.URI("memory://" + name)
		_, err := d.editor.Write(t.Context(), edit.Change{URI: uri, Content: content})
		d.want(err, vault.CodeTooLarge)
		if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Field != "content" || e.Fix == "" {
			t.Errorf("%s: %#v, want the field and what to do", name, err)
		}
		if _, err := d.vault.Stat(t.Context(), uri); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("%s: the note was written", name)
		}
	}
	_, err := d.editor.Append(t.Context(), edit.Change{URI: "memory://near", Content: strings.Repeat("[[b]] ", 11)})
	d.want(err, vault.CodeTooLarge)
	_, err = d.editor.Append(t.Context(), edit.Change{URI: "memory://near", Content: strings.Repeat("[[b]] ", 10)})
	if err != nil {
		t.Errorf("the last links that a note may have: %v", err)
	}
}
