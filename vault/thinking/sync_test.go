package thinking_test

import (
	"context"
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

func TestSync(t *testing.T) {
	d := newDesk(t)
	// The program was killed between store and file, three times.
	d.commit("session-1-new", thought(step(0)))
	d.think(step(0))
	d.commit(sessionID, thought(step(1)))
	d.files.Write(t.Context(), d.commit("session-2-state", thought(step(0))))
	d.commit("session-2-state", func(c *sequent.Change) error { c.SetState(sequent.Cancelled); return nil })
	// What has no note, and notes that have no session.
	d.commit("plan", thought(step(0)))
	d.writeFile("thinking/sequential/README.md", "# About\n")
	d.writeFile("thinking/sequential/session-17-note.md", "# Just a note\n")
	d.writeFile("thinking/sequential/session-18.md", "## Thought 1/2 [agent]\n\n[[x]]\n\n*2025-08-31 03:22:26 UTC* ^thought-999999999\n")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.files.Sync(ctx, d.engine, false); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("given up: %v", err)
	}
	if r := d.sync(false); r.Notes != 3 || len(r.Failed) != 0 {
		t.Errorf("%+v", r)
	}
	d.wantSame()
	if r := d.sync(true); r.Read > 0 || r.Notes > 0 || len(r.Failed) != 1 || sequent.CodeOf(r.Failed[0].Err) != sequent.CodeInvalidSession {
		t.Errorf("a rebuild gives %+v", r)
	}
	// A vault that is read-only or full ends a sync.
	d.commit(sessionID, thought(step(2)))
	if err := os.Chmod(filepath.Join(d.dir, fileName), 0o400); err != nil {
		t.Fatal(err)
	}
	if r, err := d.files.Sync(t.Context(), d.engine, false); sequent.CodeOf(err) != vault.CodeReadOnly {
		t.Errorf("%+v, %v", r, err)
	}
}

// Sessions are restored from files into an empty store.
func TestAdopt(t *testing.T) {
	d := newDesk(t)
	d.commit(sessionID, func(c *sequent.Change) error {
		c.SetLabel("analysisType", "bug")
		c.SetLabel("parent", "workflow-17")
		c.SetLabel("missing", "risks, sources")
		return nil
	})
	d.think(step(0))
	d.think(sequent.Draft{Number: 1, Total: 5, Text: "<!-- odd", Note: "*aside*", Branch: "b, c", From: sequent.To(0), Extend: true, Labels: map[string]string{"agent": "a]"}})
	d.think(sequent.Draft{Number: 2, Total: 5, Text: "[[x]]", Revision: true, Revises: sequent.To(0)})
	d.think(sequent.Draft{Number: 3, Total: 5, Text: "[[y]]", Labels: map[string]string{"conclusion": "All of [[it]]."}, Final: true})
	old := d.commit(sessionID, func(c *sequent.Change) error { c.Conclude("All of [[it]]."); return nil })
	d.files.Write(t.Context(), old)
	before := d.read()

	lost := newDesk(t)
	d.engine, d.now = lost.engine, lost.now
	if r := d.sync(false); r.Read != 0 {
		t.Errorf("%+v", r)
	}
	if r := d.sync(true); r.Read != 1 || len(r.Failed) != 0 {
		t.Errorf("%+v", r)
	}
	if d.read() != before {
		t.Errorf("the file is now\n%s", d.read())
	}
	d.wantSame()
	got := must(d.engine.Session(t.Context(), sessionID))
	if got.State() != sequent.Completed || got.Conclusion() != old.Conclusion() || got.Header().Dialect != thinking.Dialect || got.Title() != old.Title() ||
		got.Label("analysisType") != "bug" || got.Label("parent") != "workflow-17" || got.Label("missing") != "risks, sources" ||
		!got.Created().Equal(old.Created().Truncate(time.Millisecond)) {
		t.Errorf("header\ngot  %+v\nwant %+v", got.Header(), old.Header())
	}
	for want := range old.All() {
		g, _ := got.At(want.Seq)
		if g.After != want.After || g.Supersedes != want.Supersedes || g.Text != want.Text || g.Note != want.Note ||
			g.Branch != want.Branch || g.From != want.From || g.Revises != want.Revises || g.Final != want.Final ||
			g.Extend != want.Extend || !g.At.Equal(want.At.Truncate(time.Second)) {
			t.Errorf("thought %d\ngot  %+v\nwant %+v", want.Seq, g, want)
		}
	}
	// The session continues.
	d.think(step(4))
	d.wantSame()
	if got := d.read(); strings.Count(got, "## ") != 6 || !strings.HasSuffix(got, "^thought-5\n") {
		t.Errorf("%s", got)
	}
}

// The positions in a damaged file become the positions of the restored log.
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
	// The second is deleted, the fourth is before the first, the third is there twice,
	// and the fifth is incomplete.
	left := text[:first] + text[fourth:fifth] + text[first:second] + text[third:fourth] + text[third:fourth] + text[fifth:len(text)-20]
	d.write(left)
	later := newDesk(t)
	later.now = later.now.Add(time.Hour)
	d.engine = later.engine
	if r := d.sync(true); r.Read != 1 {
		t.Errorf("%+v", r)
	}
	s := must(d.engine.Session(t.Context(), sessionID))
	if s.Len() != 4 {
		t.Errorf("%d thoughts", s.Len())
	}
	for _, n := range []int{0, 2, 3} {
		if th, _ := s.At(n + 1); th.Text != step(n).Text || th.Number != n {
			t.Errorf("thought %d is %+v", n+1, th)
		}
	}
	if th, _ := s.At(2); !strings.Contains(th.Text, "deleted") {
		t.Errorf("the deleted thought is %+v", th)
	}
	d.think(sequent.Draft{Number: 4, Total: 5, Text: "Another [[thought]]."})
	d.wantSame()
	got := d.read()
	if strings.Count(got, "^thought-5") != 1 || !strings.HasSuffix(got, "^thought-5\n") || !strings.Contains(got, "Step 4 of") {
		t.Errorf("the file is now\n%s", got)
	}
}

// A store that was restored from a backup gets the last thoughts from files.
func TestStoreBehindFile(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	backup := must(d.engine.Session(t.Context(), sessionID))
	d.think(step(1))
	d.think(sequent.Draft{Number: 2, Total: 2, Text: "[[end]]", Labels: map[string]string{"conclusion": "[[end]]"}, Final: true})
	d.edit("status: ", "analysisType: deep\nstatus: ")
	before := d.read()

	d.engine = newDesk(t).engine
	old := backup.Header()
	old.Labels = nil // the note knows its vault
	if _, err := d.engine.Restore(t.Context(), old, sequent.Entries(slices.Collect(backup.All()))); err != nil {
		t.Fatal(err)
	}
	if r := d.sync(true); r.Read != 1 || len(r.Failed) > 0 {
		t.Errorf("%+v", r)
	}
	if d.read() != before {
		t.Errorf("the file is now\n%s", d.read())
	}
	s := must(d.engine.Session(t.Context(), sessionID))
	if s.Len() != 3 || s.State() != sequent.Completed || s.Conclusion() != "[[end]]" {
		t.Errorf("%+v", s.Header())
	}
	d.wantSame()
}

// A note of Maenifold is read as the session that it tells.
func TestMaenifoldNote(t *testing.T) {
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
	h, log, err := thinking.FromNote(t.Context(), sessionID, vault.ParseNote("", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 3 || log[0].Thought.Note != "an [[aside]]\nin two lines" || log[1].Thought.Branch != "T-1" || log[1].Thought.Text != "Second [[thought]], with\n\n## a heading" ||
		log[2].Thought.Supersedes != 1 || log[1].Thought.Labels["agent"] != "swe" || log[1].At.Format(time.TimeOnly) != "03:23:26" {
		t.Errorf("%+v", log)
	}
	if h.Labels["parent"] != "workflow-1756610500000" || h.Labels["analysisType"] != "bug" || h.State != sequent.Active {
		t.Errorf("%+v", h)
	}
	// The last thought of an abandoned session was to be followed.
	h, log, err = thinking.FromNote(t.Context(), sessionID, vault.ParseNote("", []byte(strings.Replace(text, "status: active", "status: Abandoned", 1))))
	if err != nil || h.State != sequent.Abandoned || log[2].Thought.Final {
		t.Errorf("abandoned: %+v, %v", h, err)
	}
}

// A rebuild writes the notes of all sessions of the dialect into a folder that has none,
// and adds none of another vault to a folder that has some.
func TestRebuildOfALostFolder(t *testing.T) {
	d := newDesk(t)
	begin := func(id sequent.ID) {
		d.commit(id, func(c *sequent.Change) error {
			c.BeginIn("", thinking.Dialect)
			c.SetLabel(thinking.LabelVault, "another")
			_, err := c.Append(step(0))
			return err
		})
	}
	begin("session-1")
	begin("session-2")
	for i, want := range []int{0, 2, 0} {
		if r := d.sync(i > 0); r.Notes != want {
			t.Errorf("%+v, want %d notes", r, want)
		}
	}
	begin("session-3")
	if r := d.sync(true); r.Notes != 0 {
		t.Errorf("%+v", r)
	}
}
