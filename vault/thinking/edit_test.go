package thinking_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A person's edits of the file stay.
func TestEditsSurvive(t *testing.T) {
	edits := []struct {
		name     string
		old, new string
	}{
		{"the text of a thought", "Step 1 of", "Step one of"},
		{"a heading", "## Thought 1/5 [agent]", "## Thought 1/5 [agent] and more"},
		{"the title", "title: Step 0 of authentication.", "title: Mine # the best"},
		{"front matter", "status: active\n", "status: active\ntags: [a, b] # of mine\nodd:   {x: 1}\n"},
		{"status", "status: active", "status: on hold"},
		{"a deleted section", "\n## Thought 1/5 [agent]\n\nStep 1 of [[authentication]].\n\n*2025-08-31 03:22:28 UTC* ^thought-2\n", ""},
		{"the last section deleted", "\n## Thought 2/5 [agent]\n\nStep 2 of [[authentication]].\n\n*2025-08-31 03:22:29 UTC* ^thought-3\n", ""},
		{"an own section", "\n## Thought 1/5", "\n## My view\n\nWell, [[maybe]].\n\n## Thought 1/5"},
		{"words at the end", "^thought-3\n", "^thought-3\n\nMy last word"},
		{"spaces and empty lines", "authentication]].\n\n*2025-08-31 03:22:28", "authentication]].   \n\n\n*2025-08-31 03:22:28"},
		{"no front matter", "---\ntitle", "title"},
		{"damaged front matter", "status: active", "status: [active"},
		{"a section of a person's", "^thought-3\n", "^thought-3\n\n## Thought 99/99 [me]\n\nI think.\n"},
		{"no line break at the end", "UTC* ^thought-3\n", "UTC* ^thought-3"},
		{"a section twice", "^thought-3\n", "^thought-3\n\n## Thought 2/5 [agent]\n\nStep 2 of [[authentication]].\n\n*2025-08-31 03:22:29 UTC* ^thought-3\n"},
	}
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			for n := range 3 {
				d.think(step(n))
			}
			d.edit(tt.old, tt.new)
			_, edited, _ := strings.Cut(d.read(), "\n---\n")
			d.think(step(3))
			d.think(step(4))
			front, body, _ := strings.Cut(d.read(), "\n---\n")
			got, ok := strings.CutPrefix(body, edited)
			if !ok || tt.name == "front matter" && !strings.Contains(front, "tags: [a, b] # of mine\nodd:   {x: 1}\n") || strings.Contains(tt.new, "hold") && !strings.Contains(front, tt.new) {
				t.Errorf("the edit is gone:\n%s", d.read())
			}
			if strings.Count(got, "## Thought 3/5") != 1 || strings.Count(got, "## Thought 4/5") != 1 || strings.Count(got, "## ") != 2 {
				t.Errorf("this was added:\n%s", got)
			}
			before := d.read()
			r := d.sync(false)
			if failed := tt.name == "damaged front matter"; d.read() != before || failed != (len(r.Failed) > 0) {
				t.Errorf("sync gives %+v and has made of it:\n%s", r, d.read())
			}
		})
	}
}

// Damaged front matter is reported, and thoughts are still added.
func TestDamagedFrontMatter(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	d.edit("status: active", "status: [active")
	s := d.commit(sessionID, thought(sequent.Draft{Number: 1, Total: 1, Text: "[[done]]", Labels: map[string]string{"conclusion": "[[so]]"}, Final: true}))
	for range 2 {
		if _, err := d.files.Write(t.Context(), s); err != nil {
			t.Errorf("%v", err)
		}
	}
	if got := d.read(); strings.Count(got, "## Thought 1/1") != 1 || !strings.Contains(got, "status: [active\n") {
		t.Errorf("%s", got)
	}
	if r := d.sync(false); len(r.Failed) != 1 || sequent.CodeOf(r.Failed[0].Err) != vault.CodeFrontMatter {
		t.Errorf("a sync gives %+v", r)
	}
	d.edit("status: [active", "status: active")
	d.sync(false)
	if !strings.Contains(d.read(), "status: completed\n") {
		t.Errorf("%s", d.read())
	}
	d.wantSame()
}

// An editor that saves an older version takes thoughts from the note. The next thought brings
// them back, beside what the person has written.
func TestEditorSavesAnOlderVersion(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	opened := d.read()
	d.think(step(1))
	d.think(step(2))
	remark := strings.NewReplacer("## Thought 0/5", "A remark.\n\n## Thought 0/5")
	_, want, _ := strings.Cut(remark.Replace(d.read()), "\n---\n")
	d.write(remark.Replace(opened))
	d.think(step(2))
	if _, got, _ := strings.Cut(d.read(), "\n---\n"); !strings.HasPrefix(got, want) || strings.Count(got, "## Thought") != 4 {
		t.Errorf("the note is now\n%s", got)
	}
	d.wantSame()
}
