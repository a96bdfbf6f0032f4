package web

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// TestList begins with no session and goes on to those of two projects. The commands of the empty page run as they are
// printed, the latest session that is no demonstration is open, and a search shows what it found in its problem.
func TestList(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program := programtest.Build(t)
	store, file := newStore(t, t.TempDir())
	home := startView(t, program, file)
	p := b.open(t, home)
	p.size(1280, 800)

	// Empty.
	p.wait(`document.querySelector('h1')?.textContent === 'No sessions yet' && document.querySelectorAll('.steps li').length === 3`)
	p.everywhere("empty")
	commands := eval[[]string](p, `[...document.querySelectorAll('.steps code')].map((e) => e.textContent)`)
	if len(commands) != 2 {
		t.Fatalf("the commands are %q", commands)
	}
	run := func(command string) {
		t.Helper()
		shell := exec.CommandContext(t.Context(), "sh", "-c", command)
		if runtime.GOOS == "windows" {
			shell = exec.CommandContext(t.Context(), "powershell", "-Command", "& "+command)
		}
		shell.Dir, shell.Env = filepath.Dir(file), append(os.Environ(), "HOME="+t.TempDir())
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	run(commands[1] + " --dry-run --client cursor")
	run(commands[0])

	// One: it is open, without a reload.
	p.wait(`document.querySelectorAll('a.session').length === 1 && location.pathname.startsWith('/ui/s/') && document.querySelector('h1')?.textContent.length > 10`)

	// Many: by project and day, and of the latest session the clock of the server runs ahead.
	begun := time.Now()
	recordAt := func(project string, when time.Time, id sequent.ID, drafts ...sequent.Draft) {
		t.Helper()
		e := sequent.New(sequent.Config{Store: store, Now: func() time.Time { return when }})
		ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Project: "github.com/acme/" + project} })
		if _, err := e.Append(ctx, id, drafts...); err != nil {
			t.Fatal(err)
		}
	}
	final := sequent.Draft{Number: 2, Text: "Conclusion: build the index again.", Final: true}
	recordAt("shop", begun.AddDate(0, 0, -1), "prices", sequent.Draft{Number: 1, Text: "The nightly import takes 3 h. Since the index was dropped."}, final)
	recordAt("payments", begun.Add(-time.Hour), "flag", sequent.Draft{Number: 1, Text: "Name the flag for dry runs. Other tools agree."})
	recordAt("payments", begun.Add(time.Hour), "ahead", sequent.Draft{Number: 1, Text: "Double charges, one in 40,000 orders."}, final)
	other := "" // day of the session of an hour ago
	if begun.Add(-time.Hour).Day() != begun.Day() {
		other = "Yesterday | "
	}
	p.wait(`document.querySelectorAll('a.session').length === 4`)
	if got, want := eval[string](p, `[...document.querySelectorAll('.list h2, .day, .session b')].map((e) => e.textContent).join(' | ')`),
		"payments | Today | "+other+"unfinished | No project | Today | shop | Yesterday"; got != want {
		t.Errorf("the list is %s, want %s", got, want)
	}
	p.run(navigate(home))
	p.wait(`location.pathname === '/ui/s/ahead' && document.querySelector('a.session[aria-current]').dataset.id === 'ahead'`)
	p.everywhere("list")

	// A search, and a project without a hit.
	p.keys("/")
	p.write("index")
	p.wait(`document.querySelectorAll('a.hit').length >= 3 && document.querySelector('.hit mark')?.textContent === 'index'`)
	if got := eval[string](p, `document.querySelector('a.hit[href*="prices"]').closest('ul').previousSibling.textContent`); !strings.HasPrefix(got, "The nightly import takes 3 h.") {
		t.Errorf("the problem of the hit is %q", got)
	}
	const came = "Conclusion: #2 Conclusion: build the index again."
	if got := eval[string](p, `document.querySelector('a.hit[href*="prices"]').closest('ul').nextSibling?.textContent`); got != came {
		t.Errorf("below the hits of the session stands %q, want %q", got, came)
	}
	p.everywhere("search")
	p.run(navigate(strings.Replace(home, "/ui/", "/ui/?project=github.com/acme/payments&q=nightly", 1)))
	p.wait(`document.querySelector('.sessions .empty')?.textContent === 'No thought and no title has these words.'`)
	p.run(clickOn(".widen"))
	p.wait(`document.querySelector('a.hit[href*="prices"]') && !location.search.includes('project')`)
	p.run(navigate(strings.Replace(home, "/ui/", "/ui/?project=elsewhere", 1))) // what has no project is listed there, too
	p.wait(`document.querySelectorAll('a.session').length === 1 && document.querySelector('.widen')`)

	// A narrow window: the list and a session are two screens, each with a URL.
	p.size(390, 844)
	p.run(navigate(home))
	p.wait(`location.pathname === '/ui/' && document.body.dataset.screen === 'list' && document.querySelectorAll('a.session').length === 4`)
	p.accessible("the list in a narrow window")
	p.sideways("the list in a narrow window")
	p.run(clickOn("a.session[data-id=prices]"))
	p.wait(`location.pathname === '/ui/s/prices' && document.body.dataset.screen === 'session'`)
	p.run(reload())
	p.wait(`location.pathname === '/ui/s/prices' && document.body.dataset.screen === 'session' && document.querySelector('h1')?.textContent.startsWith('The nightly')`)
	p.run(clickOn(".back"))
	p.wait(`location.pathname === '/ui/' && document.body.dataset.screen === 'list'`)
	eval[bool](p, `history.back(), true`)
	p.wait(`location.pathname === '/ui/s/prices' && document.body.dataset.screen === 'session'`)
	p.clean()
}

// everywhere lets axe-core look at the page in windows of two widths, light and dark, and looks for what is wider than
// the window. With -pictures it saves what can be seen.
func (p *tab) everywhere(name string) {
	p.t.Helper()
	for _, width := range []int64{390, 1280} { // which is left as it was
		p.size(width, 800)
		for _, theme := range []string{"dark", "light"} {
			p.theme(theme)
			p.accessible(name + ", " + theme)
			p.picture(name, width, theme)
		}
		p.sideways(name)
	}
}

// pictures is a folder for what a person looks at before a change of the pages is accepted.
var pictures = flag.String("pictures", "", "folder in which to save pictures of every state")

func (p *tab) picture(name string, width int64, theme string) {
	p.t.Helper()
	if *pictures == "" {
		return
	}
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", name, width, theme)), data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// sideways looks for what is wider than the window, or outside of it.
func (p *tab) sideways(what string) {
	p.t.Helper()
	const script = `[...document.querySelectorAll('body *')].filter((e) => {
			const r = e.getBoundingClientRect();
			if (!r.width || e.closest('.sr, svg, .prose') || getComputedStyle(e).visibility === 'hidden') return false;
			for (let p = e.parentElement; p; p = p.parentElement) if (getComputedStyle(p).overflowX !== 'visible') { const q = p.getBoundingClientRect(); if (r.right > q.right + 1 || r.left < q.left - 1) return false; }
			return r.right > innerWidth + 1 || r.left < -1;
		}).map((e) => e.outerHTML.slice(0, 100)).join('\n') + (document.scrollingElement.scrollWidth > innerWidth ? '\nthe page' : '')`
	if wide := eval[string](p, script); wide != "" {
		p.t.Errorf("%s is wider than the window:\n%s", what, wide)
	}
}
