package web

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

var docs = flag.String("docs", "", "folder in which to save the pictures of the documentation")

// TestView reads a session, with the keys alone, while it grows.
func TestView(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program, store := programtest.Build(t), filepath.Join(t.TempDir(), "sequent.db")
	demo := exec.Command(program, "demo", "--fast", "--store", store) // over MCP
	demo.Dir = filepath.Dir(store)                                    // in no project
	programtest.Output(t, demo)
	p := b.open(t, startView(t, program, store))

	// The list, and the key is gone from the URL.
	p.wait(`document.querySelectorAll('a.session').length === 1`)
	if hash := eval[string](p, `location.href`); strings.Contains(hash, "key") {
		t.Errorf("the URL has the key: %s", hash)
	}
	p.run(clickOn("a.session"))

	// The article, every thought in full, and the keys that lead through it.
	p.wait(`document.querySelectorAll('.thought').length > 5 && document.querySelector('.abstract h2')`)
	p.wait(`performance.getEntriesByName('following').length > 0`)
	n := eval[int](p, `document.querySelectorAll('.thought').length`)
	p.forDocs("viewer-light")
	p.theme("dark")
	p.forDocs("viewer-dark")
	p.theme("light")
	p.keys("j", "j", "k")
	p.wait(`location.search === '?at=1' && document.activeElement.closest('.thought.here')?.id === 't1'`)
	p.keys("\r")
	p.wait(`document.querySelector('.pane .actions')`)
	p.keys("\x1b")
	p.wait(`!document.querySelector('.pane .actions')`)
	p.keys("2")
	p.wait(fmt.Sprintf(`document.querySelectorAll('.row').length === %d && location.search.includes('view=overview')`, n))
	p.keys("j", "j", "j", "\r")
	p.wait(`location.search === '?at=4' && document.querySelector('.thought.here')?.id === 't4'`)

	// A reload shows the same.
	p.run(reload())
	p.wait(`document.querySelector('.thought.here')?.id === 't4'`)
	p.wait(`performance.getEntriesByName('following').length > 0`)

	// A thought that another process records appears.
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: store})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Fatal(page, err)
	}
	id := page.Headers[0].ID
	record(t, e, id, sequent.Draft{Number: 99, Text: "A late thought."})
	p.wait(`[...document.querySelectorAll('.thought')].some(r => r.textContent.includes('A late thought'))`)

	p.keys("?")
	p.wait(`document.querySelector('dialog[open]')`)
	p.keys("\x1b")

	p.size(360, 740)
	p.wait(`document.body.dataset.screen === 'session'`)
	p.keys("G", "\r")
	p.wait(`document.querySelector('.pane .actions')`)
	p.keys("\x1b", "\x1b")
	p.wait(`document.body.dataset.screen === 'list'`)
	if wide := eval[string](p, `[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 361 && getComputedStyle(e).visibility === 'visible').map((e) => e.outerHTML.slice(0, 80)).join('\n')`); wide != "" {
		t.Errorf("wider than the window:\n%s", wide)
	}
	p.clean()
	p.size(1400, 900)
	eval[bool](p, `history.back(), true`)
	p.wait(`location.pathname === '/ui/s/` + string(id) + `' && document.querySelector('h1')`)
	if err := e.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelector('.banner')?.textContent.includes('was deleted')`)
	p.wait(`document.querySelector('.sessions').textContent.includes('Sessions appear here')`)
	p.clean("?id=" + string(id)) // the page may have asked for its standing just then
}

// record appends a thought.
func record(t *testing.T, e *sequent.Engine, id sequent.ID, drafts ...sequent.Draft) {
	t.Helper()
	if _, err := e.Append(context.WithoutCancel(t.Context()), id, drafts...); err != nil {
		t.Fatal(err)
	}
}

// newStore returns a new store in a folder, which is closed at the end of the test, and its file.
func newStore(t *testing.T, dir string) (store *sqlite.Store, file string) {
	t.Helper()
	file = filepath.Join(dir, "sequent.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, file
}

// newTeam returns the engine of a new store in a folder, and the configuration of a server that
// shows it to who has the token.
func newTeam(t *testing.T, dir string, grant token.Info) (e *sequent.Engine, cfg app.Config, secret string) {
	t.Helper()
	store, file := newStore(t, dir)
	cfg = app.Config{Store: file, HTTP: app.HTTPConfig{Tokens: filepath.Join(dir, "tokens")}}
	secret, _, err := token.Add(cfg.HTTP.Tokens, grant)
	if err != nil {
		t.Fatal(err)
	}
	return sequent.New(sequent.Config{Store: store}), cfg, secret
}
