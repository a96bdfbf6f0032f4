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
	p.wait(`document.querySelectorAll('.thought').length === 9 && performance.getEntriesByName('following').length > 0`)

	// The session: every key of the help.
	here := func(seq string) {
		t.Helper()
		p.wait(`document.querySelector('.thought.here')?.id === 't` + seq + `' && document.activeElement.closest('.thought')?.id === 't` + seq + `'`)
	}
	row := func(seq string) {
		t.Helper()
		p.wait(`document.activeElement.dataset.seq === '` + seq + `' && document.querySelector('.row.selected').dataset.seq === '` + seq + `'`)
	}
	p.keys("g")
	here("1")
	p.keys("j", "j", "j") // over what is folded
	here("6")
	p.keys("k")
	here("3")
	p.keys("]")
	here("8")
	p.keys("[")
	here("3")
	p.keys("]", "d")
	p.wait(`document.querySelector('.pane .changes ins')`)
	p.keys("d", "\x1b", "z")
	p.wait(`document.querySelector('#b4 > details').open`)
	p.keys("z")
	p.wait(`!document.querySelector('#b4 > details').open && document.querySelector('#b6 > details').open`)
	p.keys("G")
	here("9")
	p.keys("2", "g")
	row("1")
	p.keys("j", "j", "j", "j", "k")
	row("4")
	p.keys("h")
	row("3")
	p.keys("l")
	row("4")
	p.keys("\r")
	here("4")
	p.keys("/")
	p.write("index")
	p.wait(`document.querySelectorAll('.thought.hit').length > 1`)
	p.keys("\x1b")
	p.wait(`document.querySelectorAll('.thought.hit').length === 0`)
	p.keys("/")
	p.write("index")
	p.wait(`document.querySelectorAll('.thought.hit').length > 1`)
	p.keys("\r")
	p.wait(`document.activeElement.matches('a.hit')`)
	p.keys(".")
	p.wait(`document.querySelector('.thought.hit.here')`)
	first := eval[string](p, `document.querySelector('.thought.here').id`)
	p.keys(".")
	p.wait(`document.querySelector('.thought.hit.here').id !== '` + first + `'`)
	p.keys(",")
	here(first[1:])
	p.keys("c")
	p.wait(`document.querySelector('[data-view="compare"]')`)
	p.keys("2", "r")
	p.wait(`document.querySelector('.replay')`)
	p.keys("r", "1")
	for _, note := range [][2]string{{"n", "A remark."}, {"w", "It is wrong."}, {"a", "It is right."}} {
		p.keys("g", "j", note[0])
		p.wait(`document.activeElement.matches('textarea')`)
		p.write(note[1])
		p.keys("\t", "\r")
		p.wait(`[...document.querySelectorAll('.notes .note')].some((n) => n.textContent.includes('` + note[1] + `'))`)
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

	// Printing lays out the article, with everything that is folded.
	eval[bool](p, `window.printed = 0, window.print = () => { printed++; }, true`)
	p.keys("p")
	p.wait(`printed === 1`)
	p.run(chromedp.Func(func(ctx context.Context, s *target) error {
		r, err := cdp.Call(ctx, s, page.PrintToPDF, page.PrintToPDFParams{})
		if err != nil || len(r.Data) < 1000 {
			t.Errorf("the print has %d bytes, %v", len(r.Data), err)
			return err
		}
		return nil
	}))
	p.media("print")
	p.wait(`getComputedStyle(document.querySelector('.list')).display === 'none' && document.querySelector('#t4 .prose').checkVisibility()`)
	if got := eval[string](p, `document.querySelector('.page').innerText`); !strings.Contains(got, "Freeze the derivation of the key and guard on order and attempt until the fix is out.") || !strings.Contains(got, "It is wrong.") {
		t.Errorf("the print has %s", got)
	}
	p.media("")
	p.clean("401 (Unauthorized)") // before the sign-in
}
