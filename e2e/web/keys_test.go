package web

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
)

// TestKeyboard goes through everything with the keys alone, from the sign-in to the print, on
// a server with tokens.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	dir := t.TempDir()
	e, cfg, secret := newTeam(t, dir, token.Info{Subject: "alice"})
	e = e.Owned("alice")
	story(t, e)
	for _, project := range []string{"github.com/acme/payments", "github.com/acme/search"} {
		ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Project: project} })
		if _, err := e.Append(ctx, sequent.ID(filepath.Base(project)), sequent.Draft{Number: 1, Text: "About " + filepath.Base(project) + "."}); err != nil {
			t.Fatal(err)
		}
	}
	home, err := url.Parse(serveAll(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	home.Path = "/ui/"
	home.Host = "localhost:" + home.Port() // browsers keep the cookie for names of this machine
	p := b.open(t, home.String())

	// Sign in, after a mistake. The token is in no place that scripts can read.
	p.wait(`document.activeElement.matches('input[type=password]')`)
	p.write("wrong")
	p.keys("\r")
	p.wait(`document.body.textContent.includes('not valid')`)
	p.write(secret)
	p.keys("\r")
	p.wait(`document.querySelectorAll('a.session').length === 3`)
	if got := eval[string](p, `document.cookie + JSON.stringify(sessionStorage) + JSON.stringify(localStorage) + location.href`); strings.Contains(got, secret) {
		t.Errorf("scripts can read the token: %s", got)
	}

	// The list: a project, all projects, and a session.
	p.keys("/", "↓", "↓")
	p.wait(`document.activeElement.matches('h2 a') && document.activeElement.textContent === 'payments'`)
	p.keys("\r")
	p.wait(`document.querySelectorAll('a.session').length === 2 && location.search === '?project=github.com%2Facme%2Fpayments'`) // and the one without a project
	p.keys("\t")
	p.wait(`document.activeElement.matches('.widen')`)
	p.keys("\r")
	p.wait(`document.querySelectorAll('a.session').length === 3 && location.search === '' && document.activeElement.matches('.find')`)
	p.keys("↓", "↓", "↓", "↓")
	p.wait(`document.activeElement.dataset.id === 'story'`)
	p.keys("\r")
	p.wait(`document.querySelectorAll('.row').length === 9 && document.querySelector('.conclusion h2')`)

	// The session: every key of the help.
	row := func(seq string) {
		t.Helper()
		p.wait(`document.activeElement.dataset.seq === '` + seq + `' && document.querySelector('.row.selected').dataset.seq === '` + seq + `'`)
	}
	p.keys("g")
	row("1")
	p.keys("j", "j", "j", "j", "k")
	row("4")
	p.keys("h")
	row("3")
	p.keys("l")
	row("4")
	p.keys("G")
	row("9")
	p.keys("k", "[")
	row("3")
	p.keys("]")
	row("8")
	p.keys("d")
	p.wait(`document.querySelector('.pane .changes ins')`)
	p.keys("d", "\r")
	p.wait(`document.querySelector('.row.opened .open .prose')`)
	p.keys("\r")
	p.wait(`!document.querySelector('.row.opened')`)
	p.keys("/")
	p.write("index")
	p.wait(`document.querySelectorAll('.row.hit').length > 1`)
	p.keys("\x1b")
	p.wait(`document.querySelectorAll('.row.hit').length === 0`)
	p.keys("/")
	p.write("index")
	p.wait(`document.querySelectorAll('.row.hit').length > 1`)
	p.keys("\r")
	p.wait(`document.activeElement.matches('a.hit')`)
	p.keys(".")
	p.wait(`document.querySelector('.row.selected.hit')`)
	first := eval[string](p, `document.querySelector('.row.selected').dataset.seq`)
	p.keys(".")
	p.wait(`document.querySelector('.row.selected.hit').dataset.seq !== '` + first + `'`)
	p.keys(",")
	row(first)
	for _, view := range []string{"2", "4", "c", "1"} {
		p.keys(view)
		p.wait(map[string]string{
			"2": `document.querySelectorAll('.row').length === 4`, "4": `document.querySelector('.row[aria-level="2"]')`,
			"c": `document.querySelector('.comparing .pair')`, "1": `document.querySelectorAll('.row').length === 9 && !document.querySelector('.comparing')`,
		}[view])
	}
	p.keys("z")
	p.wait(`document.querySelector('.row.folded')`)
	p.keys("z", "r")
	p.wait(`document.querySelector('.replay')`)
	p.keys("r")
	for _, note := range [][2]string{{"n", "A remark."}, {"w", "It is wrong."}, {"a", "It is right."}} {
		p.keys("g", "j", note[0])
		p.wait(`document.activeElement.matches('textarea')`)
		p.write(note[1])
		p.keys("\t", "\r")
		p.wait(`[...document.querySelectorAll('.pane .note')].some((n) => n.textContent.includes('` + note[1] + `'))`)
		p.wait(`!document.activeElement.matches('textarea, .writer button')`)
	}
	p.keys("e")
	p.wait(`document.querySelector('dialog[open] input[type=radio]:checked')`)
	p.keys("\x1b")
	p.wait(`!document.querySelector('dialog')`)
	p.keys("?")
	p.wait(`document.querySelector('dialog[open] kbd')`)
	p.keys("\r")
	p.wait(`!document.querySelector('dialog')`)
	p.keys("/", "\x1b")
	p.wait(`document.querySelectorAll('a.session').length === 3`)
	p.keys("s")
	p.wait(`document.activeElement.dataset.id === 'story'`)

	// Printing lays out every thought whole.
	eval[bool](p, `window.printed = 0, window.print = () => { dispatchEvent(new Event('beforeprint')); printed = document.querySelectorAll('.paper .thought').length; }, true`)
	p.keys("p")
	p.wait(`printed === 9`)
	p.run(chromedp.Func(func(ctx context.Context, s *target) error {
		r, err := cdp.Call(ctx, s, page.PrintToPDF, page.PrintToPDFParams{})
		if err != nil || len(r.Data) < 1000 {
			t.Errorf("the print has %d bytes, %v", len(r.Data), err)
			return err
		}
		return nil
	}))
	eval[bool](p, `dispatchEvent(new Event('beforeprint')), true`)
	p.media("print")
	p.wait(`getComputedStyle(document.querySelector('.paper')).display === 'block' && getComputedStyle(document.querySelector('.list')).display === 'none'`)
	if got := eval[string](p, `document.querySelector('.paper').innerText`); !strings.Contains(got, "Freeze the derivation of the key and guard on order and attempt until the fix is out.") || !strings.Contains(got, "It is wrong.") {
		t.Errorf("the print has %s", got)
	}
	p.media("")
	p.clean("401 (Unauthorized)") // before the sign-in
}
