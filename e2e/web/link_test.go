package web

import (
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
)

// TestLink makes a link in the viewer of one replica and opens it, without a token, at
// another one. The page goes on with the session, and ends when the link is revoked.
func TestLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, cfg, secret := newTeam(t, dir, token.Info{Subject: "alice.smith"})
	e = e.Owned("alice.smith")
	record(t, e, "plan", sequent.Draft{Number: 1, Text: "Why does the nightly build fail only on Mondays?"},
		sequent.Draft{Number: 2, Text: "The weekly job runs at the same time."},
		sequent.Draft{Number: 3, Text: "Or the cache is cold then.", Branch: "cache", From: sequent.To(1)})
	record(t, e, "other", sequent.Draft{Number: 1, Text: "Nobody else reads this."})
	var at [2]string
	for i := range at {
		at[i] = serveAll(t, cfg)
	}
	b := newBrowser(t)

	p := b.open(t, at[0]+"/ui/s/plan")
	p.wait(`document.querySelector('input[type=password]')`)
	p.write(secret)
	p.keys("\r")
	p.wait(`document.querySelectorAll('.thought').length === 3`)
	p.mu.Lock()
	p.problems = nil // the request before the sign-in
	p.mu.Unlock()
	p.run(clickOn(`.tools button[title="Share by a link"]`))
	p.wait(`document.querySelector('dialog[open] button.main')`)
	p.run(clickOn(`dialog button.main`))
	p.wait(`document.querySelector('dialog .link input') && document.querySelectorAll('dialog .links li').length === 1`)
	p.looks("link-dialog")
	link := eval[string](p, `document.querySelector('dialog .link input').value`)
	page, hidden, _ := strings.Cut(link, "#")
	if page != at[0]+"/ui/link" || len(hidden) < 26 {
		t.Fatalf("the link is %s", link)
	}

	q := b.open(t, at[1]+"/ui/link#"+hidden)
	q.wait(`document.querySelectorAll('.thought').length === 3 && document.querySelector('.abstract h2')`)
	if got := eval[string](q, `location.pathname + location.hash`); strings.Contains(got, hidden) || !strings.HasPrefix(got, "/ui/link/") {
		t.Errorf("the page is at %s", got)
	}
	if got := eval[string](q, `document.documentElement.outerHTML + document.cookie + JSON.stringify({ ...sessionStorage, ...localStorage })`); strings.Contains(got, hidden) || strings.Contains(got, "alice.smith") || strings.Contains(got, "Nobody else") {
		t.Error("the page has the secret, or what it should not show")
	}
	if n := eval[int](q, `document.querySelectorAll('a.session, search, .back:not([hidden]), .pane textarea').length - document.querySelectorAll('.single .back').length`); n != 0 {
		t.Errorf("the page has %d elements of the list, a search, or for notes", n)
	}
	q.looks("link")
	record(t, e, "plan", sequent.Draft{Number: 3, Text: "It is the weekly job."})
	q.wait(`document.querySelectorAll('.thought').length === 4`)
	q.run(reload())
	q.wait(`document.querySelectorAll('.thought').length === 4 && performance.getEntriesByName('following').length > 0`)
	for _, url := range q.requests {
		if strings.Contains(url, hidden) && !strings.Contains(url, "#") {
			t.Errorf("the page has asked for %s", url)
		}
	}
	q.clean()

	p.run(clickOn(`dialog .links button`))
	p.wait(`document.querySelectorAll('dialog .links li').length === 0`)
	begin := time.Now()
	q.wait(`document.querySelector('h1')?.textContent === 'This link has ended'`)
	t.Logf("the page ended %s after the revocation", time.Since(begin))
	if got := eval[string](q, `document.documentElement.outerHTML`); strings.Contains(got, "weekly job") {
		t.Error("the page still shows the session")
	}
	q.looks("link-ended")
	q.run(navigate(at[1] + "/ui/link#" + hidden))
	q.wait(`document.querySelector('h1')?.textContent === 'This link does not work'`)

	// Neither the page behind a link nor any reply to it has a secret that arrives while it is open.
	p.run(clickOn(`dialog button.main`))
	p.wait(`document.querySelector('dialog .links li')`)
	masked := eval[string](p, `document.querySelector('dialog .link input').value`)
	_, hidden, _ = strings.Cut(masked, "#")
	m := b.open(t, at[1]+"/ui/link#"+hidden)
	m.wait(`document.querySelectorAll('.thought').length === 4 && performance.getEntriesByName('following').length > 0`)
	const key = "AKIAIOSFODNN7EXAMPLE"
	record(t, e, "plan", sequent.Draft{Number: 4, Text: "It used " + key + " and https://app:hunter2@db/."})
	m.wait(`[...document.querySelectorAll('.thought')].some((r) => r.textContent.includes('It used [redacted] and https://app:[redacted]@db/.'))`)
	read := func() string { // what scripts of the page can get
		return eval[string](m, `(async () => {
			const base = '/api/v1/linked/' + location.pathname.split('/').pop() + '/';
			const replies = await Promise.all(['session', 'session?id=plan'].map(async (n) => (await fetch(base + n)).text()));
			return document.documentElement.outerHTML + replies.join();
		})()`)
	}
	if got := read(); strings.Contains(got, key) || strings.Contains(got, "hunter2") || !strings.Contains(got, "[redacted]") {
		t.Errorf("the page has the secret: %s", got)
	}
	m.looks("link-masked")
	// That an earlier text is a password shows only later: the page reads it again.
	record(t, e, "plan", sequent.Draft{Number: 5, Text: "Try postgres://app:weekly@db/app."})
	m.wait(`document.querySelectorAll('.thought').length === 6 && !document.body.textContent.includes('weekly')`)
	if got := read(); strings.Contains(got, "weekly") {
		t.Errorf("the page has an earlier text that is a password: %s", got)
	}
	m.clean()
	p.clean()

	// With the token that made it the link ends, too.
	if _, err := token.Revoke(cfg.HTTP.Tokens, secret); err != nil {
		t.Fatal(err)
	}
	m.wait(`document.querySelector('h1')?.textContent === 'This link has ended'`)
	// The other replica may notice the revocation only after it has opened the link.
	m.run(navigate(at[0] + "/ui/link#" + hidden))
	m.wait(`/^This link (does not work|has ended)$/.test(document.querySelector('h1')?.textContent)`)
}
