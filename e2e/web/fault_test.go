package web

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A session whose log was changed in the file is shown, and the page says what is wrong with it.
func TestFault(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	file := filepath.Join(t.TempDir(), "sequent.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	story(t, sequent.New(sequent.Config{Store: store}))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE tool_log SET text = 'It was never so.' WHERE number = 2"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	p := b.open(t, serveAll(t, app.Config{Store: file})+"/ui/s/story")
	p.wait(`document.querySelector('.head .fault') && document.querySelectorAll('.thought').length >= 2`)
	if got := eval[string](p, `document.querySelector('.head .fault').innerText`); !strings.Contains(got, "not what was recorded: thought 2 was altered") {
		t.Errorf("the page says %q", got)
	}
	p.looks("fault")
}
