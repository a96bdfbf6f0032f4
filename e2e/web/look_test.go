package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// TestLook shows sessions of all kinds and sizes in windows of all sizes: nothing scrolls
// sideways and nothing is outside of the window.
func TestLook(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program := programtest.Build(t)
	store, file := newStore(t, t.TempDir())
	e := sequent.New(sequent.Config{Store: store})
	to := sequent.To
	record(t, e, "one", sequent.Draft{Number: 1, Text: "Why does the nightly build fail only on Mondays?"})
	record(t, e, "words", sequent.Draft{Number: 1, Text: strings.Repeat("Donaudampfschifffahrtsgesellschaftskapitän", 4) + ". " + strings.Repeat("A long text. ", 400)},
		sequent.Draft{Number: 2, Text: "On a branch with a long name.", Branch: strings.Repeat("a-very-long-name-of-a-branch-", 4), From: to(1)})
	record(t, e, "rtl", sequent.Draft{Number: 1, Text: "لماذا يفشل البناء الليلي يوم الاثنين فقط؟ السجل فارغ."},
		sequent.Draft{Number: 2, Text: "السبب هو المهمة الأسبوعية cron التي تعمل في نفس الوقت.", Branch: "فرضية", From: to(1)},
		sequent.Draft{Number: 3, Text: "Mixed: the job cron.weekly — הסיבה היא העומס.", Revises: to(1), Revision: true})
	drafts := []sequent.Draft{{Number: 1, Text: "Where do the milliseconds go?"}}
	for i := 1; i < 500; i++ {
		d := sequent.Draft{Number: i + 1, Text: fmt.Sprintf("Step %d. Measure, then change one thing, then measure again.", i+1)}
		if i%12 == 5 { // 41 branches
			d.Branch, d.From = fmt.Sprintf("idea-%d", i/12), to(i-i%12+1)
		} else if i%12 > 5 && i%12 < 8 {
			d.Branch = fmt.Sprintf("idea-%d", i/12)
		} else if i%12 == 11 {
			d.Revises, d.Revision = to(i-i%12+2), true
		}
		drafts = append(drafts, d)
	}
	record(t, e, "large", drafts...)
	home := startView(t, program, file)
	p := b.open(t, home)
	p.wait(`document.querySelectorAll('a.session').length === 4`)
	base, _, _ := strings.Cut(home, "/ui/")
	for _, id := range []string{"one", "words", "rtl", "large"} {
		for _, window := range []struct {
			name          string
			width, height int64
		}{{"wide", 1400, 900}, {"low", 1000, 600}, {"narrow", 360, 740}, {"zoomed", 320, 256}} { // 1280 by 1024 at 400 %
			p.size(window.width, window.height)
			p.run(navigate(base + "/ui/s/" + url.PathEscape(id)))
			p.wait(`document.querySelector('.thought') && document.querySelector('.abstract h2') && performance.getEntriesByName('following').length > 0`)
			p.sideways(id + " " + window.name)
			p.keys("2")
			p.wait(`document.querySelector('.row')`)
			p.sideways(id + " " + window.name + ", overview")
			if window.name == "zoomed" {
				// Every row and the whole thought can be reached.
				p.keys("G")
				p.wait(`(() => { const r = document.querySelector('.row.selected').getBoundingClientRect(); return r.height > 0 && r.bottom <= innerHeight + 1; })()`)
				p.keys("\r")
				p.wait(`document.querySelector('.session-page[data-view="read"] .thought.here')`)
				p.keys("\r")
				p.wait(`document.querySelector('.pane h2')`)
				p.sideways(id + " zoomed, pane")
			}
		}
	}
	p.size(1400, 900)
	p.run(navigate(base + "/ui/s/missing"))
	p.wait(`document.querySelector('.message h2')`)
	p.run(navigate(base + "/ui/s/large?view=compare&line=idea-3&other=idea-4&at=60"))
	p.wait(`document.querySelector('.pair')`)
	p.sideways("two lines")
	p.clean("404 (Not Found)") // the session that does not exist
}
