package web

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// TestShare makes a link in the viewer of one replica and opens it, without a token, at
// another one. The page goes on with the session, and ends when the link is revoked.
func TestShare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, tokens := filepath.Join(dir, "sequent.db"), filepath.Join(dir, "tokens")
	secret, _, err := app.NewToken(tokens, token.Grant{Subject: "alice.smith"})
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store}).Owned("alice.smith")
	record(t, e, "plan", sequent.Draft{Number: 1, Text: "Why does the nightly build fail only on Mondays?", More: true},
		sequent.Draft{Number: 2, Text: "The weekly job runs at the same time.", More: true},
		sequent.Draft{Number: 3, Text: "Or the cache is cold then.", Branch: "cache", From: sequent.To(1), More: true})
	record(t, e, "other", sequent.Draft{Number: 1, Text: "Nobody else reads this.", More: true})
	var at [2]string
	for i := range at {
		at[i] = serveAll(t, app.Config{Store: file, HTTP: app.HTTPConfig{Tokens: tokens}})
	}
	b := newBrowser(t)

	p := b.open(t, at[0]+"/ui/s/plan")
	p.wait(`document.querySelector('input[type=password]')`)
	p.write(secret)
	p.keys("\r")
	p.wait(`document.querySelectorAll('.row').length === 3`)
	p.mu.Lock()
	p.problems = nil // the request before the sign-in
	p.mu.Unlock()
	p.run(clickOn(`.tools button[title="Share by a link"]`))
	p.wait(`document.querySelector('dialog[open] button.main')`)
	p.run(clickOn(`dialog button.main`))
	p.wait(`document.querySelector('dialog .link input') && document.querySelectorAll('dialog .links li').length === 1`)
	p.looks("share-dialog")
	link := eval[string](p, `document.querySelector('dialog .link input').value`)
	page, hidden, _ := strings.Cut(link, "#")
	if page != at[0]+"/ui/share" || len(hidden) < 26 {
		t.Fatalf("the link is %s", link)
	}

	q := b.open(t, at[1]+"/ui/share#"+hidden)
	q.wait(`document.querySelectorAll('.row').length === 3 && document.querySelector('.conclusion h2')`)
	if got := eval[string](q, `location.pathname + location.hash`); strings.Contains(got, hidden) || !strings.HasPrefix(got, "/ui/share/") {
		t.Errorf("the page is at %s", got)
	}
	if got := eval[string](q, `document.documentElement.outerHTML + document.cookie + JSON.stringify({ ...sessionStorage, ...localStorage })`); strings.Contains(got, hidden) || strings.Contains(got, "alice.smith") || strings.Contains(got, "Nobody else") {
		t.Error("the page has the secret, or what it should not show")
	}
	if n := eval[int](q, `document.querySelectorAll('a.session, search, .back:not([hidden]), .pane textarea').length - document.querySelectorAll('.single .back').length`); n != 0 {
		t.Errorf("the page has %d elements of the list, a search, or for notes", n)
	}
	q.looks("share")
	record(t, e, "plan", sequent.Draft{Number: 3, Text: "It is the weekly job.", More: true})
	q.wait(`document.querySelectorAll('.row').length === 4`)
	q.run(reload())
	q.wait(`document.querySelectorAll('.row').length === 4`)
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
	q.looks("share-ended")
	q.run(navigate(at[1] + "/ui/share#" + hidden))
	q.wait(`document.querySelector('h1')?.textContent === 'This link does not work'`)
	q.picture("share-unknown")

	// A link that masks: neither the page nor any reply to it has a secret that arrives while it is open.
	p.run(clickOn(`dialog fieldset input[type=checkbox]`), clickOn(`dialog fieldset textarea`))
	p.write(`hunter\d`)
	p.run(clickOn(`dialog button.main`))
	p.wait(`document.querySelector('dialog .links li')?.textContent.includes('masked')`)
	masked := eval[string](p, `document.querySelector('dialog .link input').value`)
	_, hidden, _ = strings.Cut(masked, "#")
	m := b.open(t, at[1]+"/ui/share#"+hidden)
	m.wait(`document.querySelectorAll('.row').length === 4`)
	const key = "AKIAIOSFODNN7EXAMPLE"
	record(t, e, "plan", sequent.Draft{Number: 4, Text: "It used " + key + " and hunter2.", More: true})
	m.wait(`[...document.querySelectorAll('.row')].some((r) => r.textContent.includes('It used [redacted] and [redacted].'))`)
	read := func() string { // what scripts of the page can get
		return eval[string](m, `(async () => {
			const base = '/api/v1/shared/' + location.pathname.split('/').pop() + '/';
			const replies = await Promise.all(['session', 'outline', 'thoughts?from=1&to=9', 'chain', 'tree', 'session?id=plan', 'thoughts?id=plan&from=5'].map(async (n) => (await fetch(base + n)).text()));
			return document.documentElement.outerHTML + replies.join();
		})()`)
	}
	if got := read(); strings.Contains(got, key) || strings.Contains(got, "hunter2") || !strings.Contains(got, "[redacted]") {
		t.Errorf("the page has the secret: %s", got)
	}
	m.looks("share-masked")
	// That an earlier text is a password shows only later: the page reads it again.
	record(t, e, "plan", sequent.Draft{Number: 5, Text: "Try postgres://app:weekly@db/app.", More: true})
	m.wait(`document.querySelectorAll('.row').length === 6 && !document.body.textContent.includes('weekly')`)
	if got := read(); strings.Contains(got, "weekly") {
		t.Errorf("the page has an earlier text that is a password: %s", got)
	}
	m.clean()
	p.clean()
}
