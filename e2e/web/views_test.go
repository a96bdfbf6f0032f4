package web

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// accessible lets axe-core look at the page.
func (p *tab) accessible(what string) {
	p.t.Helper()
	if !eval[bool](p, `typeof axe !== 'undefined'`) {
		axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
		if err != nil {
			needtest.Missing(p.t, "axe-core is not installed", "run make npm")
		}
		eval[bool](p, string(axe)+"; true")
	}
	const run = `(async () => (await axe.run(document)).violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).join(' | ')).join('\n'))()`
	if problems := eval[string](p, run); problems != "" {
		p.t.Errorf("%s: %s", what, problems)
	}
}

// TestViews goes through every view with the keys, writes a note, and lets axe-core look
// at each.
func TestViews(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program := programtest.Build(t)
	store, file := newStore(t, t.TempDir())
	e := sequent.New(sequent.Config{Store: store})
	story(t, e)
	p := b.open(t, startView(t, program, file, "story"))
	p.wait(`document.querySelectorAll('.thought').length === 9 && performance.getEntriesByName('following').length > 0`)
	accessible := func(what string) { t.Helper(); p.accessible(what) }
	accessible("read")
	p.theme("dark")
	accessible("read, dark")
	p.theme("light")

	// A revision, and what it has changed.
	p.keys("G", "k", "d")
	p.wait(`document.querySelector('.pane .changes ins')`)
	accessible("changes")
	p.keys("[")
	p.wait(`document.querySelector('#t3.here.replaced .rel')?.textContent === 'replaced by #4'`)

	// A note disputes a thought.
	p.keys("g", "j", "w")
	p.wait(`document.activeElement.matches('textarea')`)
	p.write("The log was rotated.")
	p.run(clickOn(".writer button"))
	p.wait(`document.querySelector('#t2.disputed .note.disputes')`)
	accessible("note")
	s, err := e.Session(t.Context(), "story")
	if err != nil {
		t.Fatal(err)
	}
	if notes := s.Notes(); len(notes) != 1 || notes[0].Kind != sequent.Wrong || notes[0].Text != "The log was rotated." || notes[0].Seq != 2 {
		t.Errorf("the notes are %+v", notes)
	}

	p.keys("2")
	p.wait(`document.querySelectorAll('.row').length === 9 && [...document.querySelectorAll('.mark')].some((m) => m.textContent === '!✎')`)
	accessible("overview")
	p.run(reload())
	p.wait(`document.querySelectorAll('.row').length === 9`)
	p.keys("c")
	p.wait(`document.querySelector('[data-view="compare"]')`)
	accessible("compare")

	p.keys("2", "r")
	p.wait(`document.querySelector('.replay input')`)
	p.run(clickOn(".replay button"))
	p.wait(`document.querySelectorAll('.row').length === 3`)
	p.wait(`document.querySelectorAll('.row').length === 9`)
	p.keys("r")
	p.wait(`!document.querySelector('.replay')`)
	p.clean()
}

// story records a session with two branches, a decision and a revision.
func story(t *testing.T, e *sequent.Engine) {
	t.Helper()
	to := sequent.To
	record(t, e, "story",
		sequent.Draft{Number: 1, Text: "Double charges, 1 in 40,000 orders. Two layers to separate: the guard in code and the index."},
		sequent.Draft{Number: 2, Text: "Does INVALID mean not enforced? The log shows no conflict since March."},
		sequent.Draft{Number: 3, Text: "Freeze the derivation of the key until the fix is out."},
		sequent.Draft{Number: 4, Text: "Fix A: a partial index with a cut-off in the future.", Branch: "fix-a", From: to(3)},
		sequent.Draft{Number: 5, Text: "It does not cover retries of old orders.", Branch: "fix-a"},
		sequent.Draft{Number: 4, Text: "Fix B: clean the duplicates, then build the index concurrently.", Branch: "fix-b", From: to(3)},
		sequent.Draft{Number: 5, Text: "A trial run took four minutes.", Branch: "fix-b"},
		sequent.Draft{Number: 4, Text: "Freeze the derivation of the key and guard on order and attempt until the fix is out.", Revises: to(3), Revision: true},
	)
	_, err := e.Update(t.Context(), "story", func(c *sequent.Change) error {
		if _, err := c.Append(sequent.Draft{Number: 5, Text: "Conclusion: the unique index was INVALID since March. Fix B, with the guard until it is built.", Final: true}); err != nil {
			return err
		}
		if err := c.Decide("fix-b", sequent.Chosen); err != nil {
			return err
		}
		return c.Decide("fix-a", sequent.Rejected)
	})
	if err != nil {
		t.Fatal(err)
	}
}
