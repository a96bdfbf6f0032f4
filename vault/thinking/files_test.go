package thinking_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

const (
	sessionID = sequent.ID("session-1756610546730-48291")
	fileName  = "thinking/sequential/session-1756610546730-48291.md"
)

// A desk is a vault with a store beside it.
type desk struct {
	t      *testing.T
	dir    string
	files  *thinking.Files
	engine *sequent.Engine
	now    time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), now: time.Date(2025, 8, 31, 3, 22, 26, 730_000_000, time.UTC)}
	d.engine = sequent.New(sequent.Config{Now: func() time.Time { d.now = d.now.Add(time.Second); return d.now }})
	d.files = openFiles(t, d.dir)
	return d
}

func openFiles(t *testing.T, dir string) *thinking.Files {
	t.Helper()
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return thinking.New(thinking.Config{
		Vault: v, Dialect: "test",
		Owns: func(h *sequent.Header) bool { return h.Dialect == "test" },
	})
}

// commit changes the session, or begins it, and leaves its file alone.
func (d *desk) commit(id sequent.ID, change func(*sequent.Session) error) *sequent.Session {
	d.t.Helper()
	s, err := d.engine.Ensure(d.t.Context(), id, func(s *sequent.Session) error {
		if s.Len == 0 {
			s.BeginIn("", "test")
		}
		return change(s)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// think is commit and a write of the file.
func (d *desk) think(draft sequent.Draft) *sequent.Session {
	d.t.Helper()
	s := d.commit(sessionID, thought(draft))
	if err := d.files.Write(d.t.Context(), s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func thought(d sequent.Draft) func(*sequent.Session) error {
	return func(s *sequent.Session) error {
		_, err := s.Append(d)
		return err
	}
}

// step is a plain thought.
func step(n int) sequent.Draft {
	return sequent.Draft{Number: n, Total: 5, Text: fmt.Sprintf("Step %d of [[authentication]].", n), More: true}
}

func (d *desk) read() string { return d.readFile(fileName) }

func (d *desk) readFile(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func (d *desk) write(text string) { d.writeFile(fileName, text) }

func (d *desk) writeFile(name, text string) {
	d.t.Helper()
	name = filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// edit changes the file as a person does.
func (d *desk) edit(old, new string) {
	d.t.Helper()
	text := d.read()
	if !strings.Contains(text, old) {
		d.t.Fatalf("the file does not hold %q:\n%s", old, text)
	}
	d.write(strings.Replace(text, old, new, 1))
}

// check returns what is wrong, a line each: problem, thoughts.
func (d *desk) check() []string {
	d.t.Helper()
	var list []string
	for f, err := range d.files.Check(d.t.Context(), d.engine) {
		if err != nil {
			d.t.Fatal(err)
		}
		line := string(f.Problem)
		if len(f.Thoughts) > 0 {
			line += fmt.Sprint(f.Thoughts)
		}
		if f.Err != nil {
			line += ": " + string(sequent.CodeOf(f.Err))
		}
		list = append(list, line)
	}
	return list
}

func (d *desk) wantCheck(want ...string) {
	d.t.Helper()
	if got := d.check(); !slices.Equal(got, want) {
		d.t.Errorf("check finds %q, want %q\n%s", got, want, d.read())
	}
}

func (d *desk) sync(opts thinking.Options) thinking.Report {
	d.t.Helper()
	r, err := d.files.Sync(d.t.Context(), d.engine, opts)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func TestFile(t *testing.T) {
	d := newDesk(t)
	agent := map[string]string{"agent": "blue"}
	d.commit(sessionID, func(s *sequent.Session) error {
		s.SetLabel("analysisType", "architecture")
		s.SetLabel("parent", "workflow-1756610500000")
		_, err := s.Append(sequent.Draft{Number: 0, Total: 5, Text: "Analyzing [[authentication]] flow for [[JWT|tokens]]", Note: "A [[hunch]].", More: true})
		return err
	})
	d.think(sequent.Draft{Number: 2, Total: 5, Text: "Needs [[rate-limiting]].\n\n```go\nif x {", Labels: agent, More: true})
	d.think(sequent.Draft{Number: 3, Total: 5, Text: "[[sliding-window]]", Revision: true, Revises: sequent.To(2), Labels: agent, More: true})
	d.think(sequent.Draft{Number: 3, Total: 5, Text: "[[caching]]", Branch: "T-2.1.2-swe", From: sequent.To(2), Extend: true, More: true})
	d.commit(sessionID, func(s *sequent.Session) error {
		s.Conclude("Determined [[sliding-window]].\n\n- No shortcuts.")
		return nil
	})
	d.think(sequent.Draft{Number: 5, Total: 5, Text: "Confirmed [[JWT]]", Labels: map[string]string{"agent": "blue", "conclusion": "Determined [[sliding-window]].\n\n- No shortcuts."}})
	const want = `---
title: Analyzing authentication flow for tokens
permalink: session-1756610546730-48291
type: sequential
status: completed
created: 2025-08-31T03:22:27.730Z
modified: 2025-08-31T03:22:32.730Z
analysisType: architecture
parent: "[[workflow/workflow-1756610500000]]"
completed: 2025-08-31T03:22:32.730Z
thoughtCount: 5
---

# Analyzing authentication flow for tokens

## Thought 0/5 [agent]

Analyzing [[authentication]] flow for [[JWT|tokens]]

*Thoughts: A [[hunch]].*

*2025-08-31 03:22:27 UTC* ^thought-1

## Thought 2/5 [blue]

> [!quote] As written
> Needs [[rate-limiting]].
>
> ` + "```go" + `
> if x {

*2025-08-31 03:22:28 UTC* ^thought-2

## Thought 3/5 [blue] (Revises: 2)

[[sliding-window]]

*2025-08-31 03:22:29 UTC* ^thought-3

## Thought 3/5+ [agent] (Branch: T-2.1.2-swe, from 2)

[[caching]]

*2025-08-31 03:22:30 UTC* ^thought-4

## Thought 5/5 [blue]

Confirmed [[JWT]]

*2025-08-31 03:22:32 UTC* ^thought-5

## Conclusion

Determined [[sliding-window]].

- No shortcuts.

*2025-08-31 03:22:32 UTC* ^conclusion-5
`
	if got := d.read(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	d.wantCheck()
}

func TestStates(t *testing.T) {
	d := newDesk(t)
	state := func() string {
		var keys []string
		for line := range strings.Lines(d.read()) {
			if key, value, ok := strings.Cut(line, ": "); ok && slices.Contains([]string{"status", "completed", "cancelled", "thoughtCount"}, key) {
				if key == "completed" || key == "cancelled" {
					value = ""
				}
				keys = append(keys, strings.TrimSpace(key+" "+value))
			}
		}
		return strings.Join(keys, ", ")
	}
	want := func(want string) {
		t.Helper()
		if got := state(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		d.wantCheck()
	}
	d.think(step(0))
	want("status active")
	d.think(sequent.Draft{Number: 1, Total: 1, Text: "[[done]]", Labels: map[string]string{"conclusion": "It is [[done]]."}})
	want("status completed, completed, thoughtCount 2")
	d.think(step(2))
	want("status active")
	s := d.commit(sessionID, func(s *sequent.Session) error {
		s.SetState(sequent.Cancelled)
		_, err := s.Append(sequent.Draft{Number: 3, Total: 3})
		s.SetState(sequent.Cancelled)
		return err
	})
	if err := d.files.Write(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	want("status cancelled, cancelled, thoughtCount 4")
	if got := strings.Count(d.read(), "## "); got != 5 {
		t.Errorf("%d sections\n%s", got, d.read())
	}
}

// What a person does to the file stays.
func TestEditsSurvive(t *testing.T) {
	edits := []struct {
		name     string
		old, new string
		findings []string
	}{
		{"the text of a thought", "Step 1 of", "Step one of", []string{"edited[2]"}},
		{"a heading", "## Thought 1/5 [agent]", "## Thought 1/5 [agent] and more", []string{"deleted[2]"}},
		{"the title", "title: Step 0 of authentication.", "title: Mine # the best", nil},
		{"front matter", "status: active\n", "status: active\ntags: [a, b] # of mine\nodd:   {x: 1}\n", nil},
		{"status", "status: active", "status: on hold", nil},
		{"a deleted section", "\n## Thought 1/5 [agent]\n\nStep 1 of [[authentication]].\n\n*2025-08-31 03:22:28 UTC* ^thought-2\n", "", []string{"deleted[2]"}},
		{"the last section deleted", "\n## Thought 2/5 [agent]\n\nStep 2 of [[authentication]].\n\n*2025-08-31 03:22:29 UTC* ^thought-3\n", "", []string{"deleted[3]"}},
		{"an own section", "\n## Thought 1/5", "\n## My view\n\nWell, [[maybe]].\n\n## Thought 1/5", nil},
		{"words at the end", "^thought-3\n", "^thought-3\n\nMy last word", nil},
		{"spaces and empty lines", "authentication]].\n\n*2025-08-31 03:22:28", "authentication]].   \n\n\n*2025-08-31 03:22:28", nil},
		{"no front matter", "---\ntitle", "title", nil},
		{"damaged front matter", "status: active", "status: [active", []string{"failed: front_matter_damaged"}},
		{"a section of a person's", "^thought-3\n", "^thought-3\n\n## Thought 99/99 [me]\n\nI think.\n", []string{"foreign"}},
		{"a section twice", "^thought-3\n", "^thought-3\n\n## Thought 2/5 [agent]\n\nStep 2 of [[authentication]].\n\n*2025-08-31 03:22:29 UTC* ^thought-3\n", []string{"doubled[3]"}},
	}
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			for n := range 3 {
				d.think(step(n))
			}
			d.edit(tt.old, tt.new)
			edited := d.read()
			d.wantCheck(tt.findings...)
			d.think(step(3))
			d.think(step(4))
			got, ok := strings.CutPrefix(d.read(), edited)
			if !ok {
				t.Errorf("the edit is gone:\n%s", d.read())
			}
			if strings.Count(got, "## Thought 3/5") != 1 || strings.Count(got, "## Thought 4/5") != 1 || strings.Count(got, "## ") != 2 {
				t.Errorf("this was added:\n%s", got)
			}
			before := d.read()
			d.sync(thinking.Options{})
			if d.read() != before {
				t.Errorf("sync has made of it:\n%s", d.read())
			}
			d.wantCheck(tt.findings...)
		})
	}
}

// The end of a session is told in front matter, whatever else is there.
func TestEditedFrontMatterIsKept(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.edit("type: sequential\nstatus: active\n", "# about me\ntype: sequential\nrating: 5\nstatus: on hold # for now\n\n# when\n")
	d.think(sequent.Draft{Number: 1, Total: 1, Text: "[[done]]", Labels: map[string]string{"conclusion": "[[done]]"}})
	front, _, _ := strings.Cut(d.read(), "\n---\n")
	for _, want := range []string{"# about me\ntype: sequential\nrating: 5\nstatus: completed\n\n# when\ncreated:", "thoughtCount: 2"} {
		if !strings.Contains(front, want) {
			t.Errorf("%q is not in\n%s", want, front)
		}
	}
}

func TestCRLF(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.write("\uFEFF" + strings.ReplaceAll(d.read(), "\n", "\r\n"))
	d.think(step(1))
	d.think(step(2))
	d.think(sequent.Draft{Number: 3, Total: 3, Text: "[[done]]\n\nnow", Labels: map[string]string{"conclusion": "[[done]]"}})
	text := d.read()
	if !strings.HasPrefix(text, "\uFEFF---\r\n") || strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Errorf("%q", text)
	}
	d.wantCheck()
}

// An append that was cut short, at whatever byte, is made whole.
func TestTornTail(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	whole := len(d.read())
	d.commit(sessionID, thought(step(1)))
	s := d.think(sequent.Draft{
		Number: 2, Total: 2, Text: "Two\n\nparagraphs of [[text]].", Note: "[[aside]]",
		Labels: map[string]string{"conclusion": "[[done]]\n\nfor now"},
	})
	want := d.read()
	at := strings.Index(want, "\n## Thought 1/5")
	if at < 0 || at > whole+len("completed: 2025-08-31T03:22:29.730Z\nthoughtCount: 3\n")+20 {
		t.Fatal(want)
	}
	for tail, every := range map[string]int{"": 1, "\x00\x00\x00\x00\x00": 15} {
		for cut := at; cut < len(want); cut += every {
			torn := want[:cut] + tail
			d.write(torn)
			os.Remove(filepath.Join(d.dir, ".sequent", "thinking", string(sessionID)))
			if err := d.files.Write(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if got := d.read(); got != want && got+"\n" != want {
				t.Fatalf("cut at %d:\n%q\nwas mended to\n%q\nwant\n%q", cut, torn[at:], got[at:], want[at:])
			}
		}
	}
}

func TestNoLineBreakAtTheEnd(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.write(strings.TrimRight(d.read(), "\n"))
	d.sync(thinking.Options{})
	d.think(step(1))
	d.wantCheck()
	if !strings.Contains(d.read(), "^thought-1\n\n## Thought 1/5") {
		t.Errorf("%s", d.read())
	}
}

// A person's words before the torn part stay.
func TestTornTailAfterWords(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.edit("^thought-1\n", "^thought-1\n\nMy words.\n")
	before := d.read()
	d.think(step(1))
	want := d.read()
	d.think(step(2))
	d.write(want[:len(want)-20])
	os.RemoveAll(filepath.Join(d.dir, ".sequent"))
	d.wantCheck("torn")
	d.sync(thinking.Options{})
	if got := d.read(); !strings.HasPrefix(got, want) || !strings.HasPrefix(want, before) || strings.Count(got, "## ") != 3 {
		t.Errorf("%s", got)
	}
	d.wantCheck()
}

func TestSyncWritesWhatIsMissing(t *testing.T) {
	d := newDesk(t)
	// The program died between store and file, three times.
	d.commit("session-1-new", thought(step(0)))
	d.think(step(0))
	d.commit(sessionID, thought(step(1)))
	d.commit("session-2-state", thought(step(0)))
	d.files.Write(t.Context(), must(d.engine.Session(t.Context(), "session-2-state")))
	d.commit("session-2-state", func(s *sequent.Session) error { s.SetState(sequent.Cancelled); return nil })
	d.commit("plan", thought(step(0))) // has no file, and never will

	d.wantCheck("not_written[2]", "front_old", "no_file")
	r := d.sync(thinking.Options{})
	if r.Files != 3 || r.Thoughts != 2 || r.Sessions != 3 || len(r.Left) != 0 {
		t.Errorf("%+v", r)
	}
	d.wantCheck()
	r = d.sync(thinking.Options{})
	if r.Files != 0 || r.Thoughts != 0 || r.Sessions != 3 {
		t.Errorf("again: %+v", r)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRebuildRestoresWhatWasDeleted(t *testing.T) {
	d := newDesk(t)
	for n := range 5 {
		d.think(step(n))
	}
	want := d.read()
	for _, gone := range []int{0, 2, 3, 4} {
		i := strings.Index(d.read(), fmt.Sprintf("\n## Thought %d/5", gone))
		j := strings.Index(d.read(), fmt.Sprintf("^thought-%d\n", gone+1)) + len("^thought-1\n")
		d.write(d.read()[:i] + d.read()[j:])
	}
	d.wantCheck("deleted[1 3 4 5]")
	d.edit("Step 1 of", "Step one of")
	r := d.sync(thinking.Options{RestoreDeleted: true})
	if r.Thoughts != 4 || r.Files != 1 {
		t.Errorf("%+v", r)
	}
	if got := d.read(); got != strings.Replace(want, "Step 1 of", "Step one of", 1) {
		t.Errorf("%s", got)
	}
	d.wantCheck("edited[2]")
}

// With the store lost, files are what is left.
func TestAdopt(t *testing.T) {
	d := newDesk(t)
	d.commit(sessionID, func(s *sequent.Session) error {
		s.SetLabel("analysisType", "bug")
		s.SetLabel("parent", "workflow-17")
		s.SetLabel("missing", "risks, sources")
		return nil
	})
	d.think(step(0))
	d.think(sequent.Draft{Number: 1, Total: 5, Text: "<!-- odd", Note: "*aside*", Branch: "b, c", From: sequent.To(0), More: true, Extend: true, Labels: map[string]string{"agent": "a]"}})
	d.think(sequent.Draft{Number: 2, Total: 5, Text: "[[x]]", Revision: true, Revises: sequent.To(0), More: true})
	old := d.think(sequent.Draft{Number: 3, Total: 5, Text: "[[y]]", Labels: map[string]string{"conclusion": "All of [[it]]."}})
	old = d.commit(sessionID, func(s *sequent.Session) error { s.Conclude("All of [[it]]."); return nil })
	d.files.Write(t.Context(), old)
	before := d.read()

	lost := newDesk(t)
	d.engine, d.now = lost.engine, lost.now
	d.wantCheck("not_stored")
	if r := d.sync(thinking.Options{}); r.Adopted != 1 || r.Thoughts != 0 || len(r.Left) != 0 {
		t.Errorf("%+v", r)
	}
	if d.read() != before {
		t.Errorf("the file is now\n%s", d.read())
	}
	d.wantCheck()
	got := must(d.engine.Session(t.Context(), sessionID))
	if got.State != sequent.Completed || got.Conclusion != old.Conclusion || got.Dialect != "test" || got.Title != old.Title ||
		got.Labels["analysisType"] != "bug" || got.Labels["parent"] != "workflow-17" || got.Labels["missing"] != "risks, sources" ||
		!got.Created.Equal(old.Created.Truncate(time.Millisecond)) {
		t.Errorf("header\ngot  %+v\nwant %+v", got.Header, old.Header)
	}
	for want := range old.All() {
		g, _ := got.At(want.Seq)
		if g.After != want.After || g.Supersedes != want.Supersedes || g.Text != want.Text || g.Note != want.Note ||
			g.Branch != want.Branch || g.From != want.From || g.Revises != want.Revises || g.More != want.More ||
			g.Extend != want.Extend || !g.At.Equal(want.At.Truncate(time.Second)) {
			t.Errorf("thought %d\ngot  %+v\nwant %+v", want.Seq, g, want)
		}
	}
	// It goes on.
	d.think(step(4))
	d.wantCheck()
	if got := d.read(); strings.Count(got, "## ") != 6 || !strings.HasSuffix(got, "^thought-5\n") {
		t.Errorf("%s", got)
	}
}

// Positions in the file stay those of the log, whatever is left of the file.
func TestAdoptWhatIsLeft(t *testing.T) {
	d := newDesk(t)
	for n := range 5 {
		d.think(step(n))
	}
	text := d.read()
	third := strings.Index(text, "\n## Thought 2/5")
	fourth := strings.Index(text, "\n## Thought 3/5")
	fifth := strings.Index(text, "\n## Thought 4/5")
	first := strings.Index(text, "\n## Thought 0/5")
	second := strings.Index(text, "\n## Thought 1/5")
	// The second is deleted, the fourth stands before the first, the third is
	// there twice, and the fifth was cut short.
	left := text[:first] + text[fourth:fifth] + text[first:second] + text[third:fourth] + text[third:fourth] + text[fifth:len(text)-20]
	d.write(left)
	os.RemoveAll(filepath.Join(d.dir, ".sequent"))
	d.engine = newDesk(t).engine
	if r := d.sync(thinking.Options{}); r.Adopted != 1 || r.Thoughts != 0 {
		t.Errorf("%+v", r)
	}
	s := must(d.engine.Session(t.Context(), sessionID))
	if s.Len != 4 {
		t.Errorf("%d thoughts", s.Len)
	}
	for _, n := range []int{0, 2, 3} {
		if th, _ := s.At(n + 1); th.Text != step(n).Text || th.Number != n {
			t.Errorf("thought %d is %+v", n+1, th)
		}
	}
	if th, _ := s.At(2); !strings.Contains(th.Text, "deleted") {
		t.Errorf("the deleted thought is %+v", th)
	}
	if d.read() != left {
		t.Errorf("the file is now\n%s", d.read())
	}
	d.think(sequent.Draft{Number: 4, Total: 5, Text: "Another [[thought]].", More: true})
	d.wantCheck("deleted[2]", "doubled[3]", "foreign")
	if got := d.read(); !strings.HasPrefix(got, left) || !strings.HasSuffix(got, "^thought-5\n") {
		t.Errorf("the file is now\n%s", d.read())
	}
}

func TestAdoptRefusesWhatCannotBe(t *testing.T) {
	d := newDesk(t)
	d.write("## Thought 1/2 [agent]\n\n[[x]]\n\n*2025-08-31 03:22:26 UTC* ^thought-999999999\n")
	r := d.sync(thinking.Options{})
	if len(r.Left) != 1 || r.Left[0].Problem != thinking.Failed || sequent.CodeOf(r.Left[0].Err) != sequent.CodeInvalidSession {
		t.Errorf("%+v", r)
	}
}

// A store that was set back, as from a backup, gets the last thoughts.
func TestStoreBehindFile(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	backup := must(d.engine.Session(t.Context(), sessionID))
	d.think(step(1))
	d.think(sequent.Draft{Number: 2, Total: 2, Text: "[[end]]", Labels: map[string]string{"conclusion": "[[end]]"}})
	before := d.read()

	d.engine = newDesk(t).engine
	if _, err := d.engine.Restore(t.Context(), backup.Header, slices.Collect(backup.All())); err != nil {
		t.Fatal(err)
	}
	d.wantCheck("file_ahead[2 3]", "front_old")
	if r := d.sync(thinking.Options{}); r.Adopted != 1 || len(r.Left) > 0 {
		t.Errorf("%+v", r)
	}
	if d.read() != before {
		t.Errorf("the file is now\n%s", d.read())
	}
	s := must(d.engine.Session(t.Context(), sessionID))
	if s.Len != 3 || s.State != sequent.Completed || s.Conclusion != "[[end]]" {
		t.Errorf("%+v", s.Header)
	}
	d.wantCheck()
}

// A folder of Maenifold goes on where it is.
func TestMaenifoldFolder(t *testing.T) {
	const name = "thinking/sequential/2025/08/31/session-1756610546730-48291.md"
	const text = `---
title: Sequential Thinking Session session-1756610546730-48291
permalink: session-1756610546730-48291
type: sequential
status: active
analysisType: bug
parent: '[[workflow/workflow-1756610500000]]'
---

# Sequential Thinking Session

## Thought 0/3 [agent]

First [[thought]].

*Thoughts: an [[aside]]
in two lines*

*2025-08-31 03:22:26 UTC*

## Thought 1/3 [swe] (Branch: T-1)

Second [[thought]], with

## a heading

*2025-08-31 03:23:26*

## Thought 2/3 [agent] (Revises: 0)

Third [[thought]].

*2025-08-31 03:24:26 UTC*
`
	d := newDesk(t)
	d.writeFile(name, text)
	d.writeFile("thinking/sequential/README.md", "# About\n")
	d.writeFile("thinking/sequential/session-17-note.md", "# Just a note\n")
	if got := d.check(); !slices.Equal(got, []string{"not_stored"}) {
		t.Errorf("check: %q", got)
	}
	h, log, err := d.files.Session(t.Context(), sessionID)
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 3 || log[0].Note != "an [[aside]]\nin two lines" || log[1].Branch != "T-1" || log[1].Text != "Second [[thought]], with\n\n## a heading" ||
		log[2].Supersedes != 1 || log[1].Labels["agent"] != "swe" || log[1].At.Format(time.TimeOnly) != "03:23:26" {
		t.Errorf("%+v", log)
	}
	if h.Labels["parent"] != "workflow-1756610500000" || h.Labels["analysisType"] != "bug" || h.State != sequent.Active ||
		!h.Created.Equal(time.UnixMilli(1756610546730)) {
		t.Errorf("%+v", h)
	}
	if _, err := d.engine.Restore(t.Context(), h, log); err != nil {
		t.Fatal(err)
	}
	d.think(step(3))
	d.think(step(4))
	got := d.readFile(name)
	if !strings.HasPrefix(got, text) || strings.Count(got, "## Thought") != 5 || !strings.HasSuffix(got, "^thought-5\n") {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat(filepath.Join(d.dir, fileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is another file: %v", err)
	}
	if got := d.check(); len(got) > 0 {
		t.Errorf("check: %q", got)
	}
	os.RemoveAll(filepath.Join(d.dir, ".sequent"))
	if got := d.check(); len(got) > 0 {
		t.Errorf("check without marks: %q", got)
	}
}

func TestSessionWithoutFile(t *testing.T) {
	d := newDesk(t)
	if _, _, err := d.files.Session(t.Context(), sessionID); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for _, id := range []sequent.ID{"", "x", "session-", "session-x", "session-1-../../x", "session-1/x", "session-1-" + sequent.ID(strings.Repeat("x", 200)), "Session-1"} {
		if _, _, err := d.files.Session(t.Context(), id); sequent.CodeOf(err) != sequent.CodeInvalidSession {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestFileOfAnotherSession(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	before := d.read()
	other := newDesk(t)
	other.dir, other.files = d.dir, d.files
	other.now = other.now.Add(24 * time.Hour)
	s := other.commit(sessionID, thought(sequent.Draft{Number: 1, Total: 9, Text: "other", More: true}))
	if err := d.files.Write(t.Context(), s); !errors.Is(err, sequent.ErrExists) {
		t.Errorf("%v", err)
	}
	if d.read() != before {
		t.Errorf("%s", d.read())
	}
}

// A file that is gone is written again, with all thoughts.
func TestFileRemoved(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.think(step(1))
	if err := os.RemoveAll(filepath.Join(d.dir, "thinking")); err != nil {
		t.Fatal(err)
	}
	d.wantNoFile()
	d.think(step(2))
	if got := d.read(); strings.Count(got, "## Thought") != 3 {
		t.Errorf("%s", got)
	}
	d.wantCheck()
}

func (d *desk) wantNoFile() {
	d.t.Helper()
	if got := d.check(); !slices.Equal(got, []string{"no_file"}) {
		d.t.Errorf("check finds %q", got)
	}
}

// Snapshots may come in any order.
func TestOldSnapshot(t *testing.T) {
	d := newDesk(t)
	old := d.commit(sessionID, thought(step(0)))
	middle := d.commit(sessionID, thought(step(1)))
	d.think(sequent.Draft{Number: 2, Total: 2, Text: "[[end]]", Labels: map[string]string{"conclusion": "[[end]]"}})
	want := d.read()
	for _, s := range []*sequent.Session{old, middle} {
		if err := d.files.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.read(); got != want {
		t.Errorf("%s", got)
	}
	d.wantCheck()
}

func TestTwoFiles(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.writeFile("thinking/sequential/2025/08/31/"+string(sessionID)+".md", d.read())
	d.wantCheck("two_files")
	d.think(step(1))
	if !strings.Contains(d.read(), "Step 1") {
		t.Error("the file in use was changed")
	}
}

func TestCheckAndSyncCanBeGivenUp(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range d.files.Check(ctx, d.engine) {
		if sequent.CodeOf(err) != sequent.CodeCanceled {
			t.Errorf("%v", err)
		}
	}
	if _, err := d.files.Sync(ctx, d.engine, thinking.Options{}); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("%v", err)
	}
}
