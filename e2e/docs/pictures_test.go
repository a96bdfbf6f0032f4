package docs

import (
	"flag"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/picture"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite the screens and pictures of the documentation")

// The picture of the project's page is what sequent watch shows of the session that sequent
// demo records.
func TestPictureOfDemo(t *testing.T) {
	t.Parallel()
	program, dir := programtest.Build(t), t.TempDir()
	cmd := exec.Command(program, "demo", "--fast", "--store", "demo.db")
	cmd.Dir = dir // in no project
	programtest.Output(t, cmd)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "demo.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store})
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Fatalf("the store has %d sessions: %v", len(page.Headers), err)
	}
	s, err := e.Session(t.Context(), page.Headers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	film := picture.Recording{
		Title: "sequent watch", Columns: 88, Pause: 1300 * time.Millisecond,
		Description: "A terminal in which sequent watch draws eleven thoughts as they arrive: a suspicion that is revised, two branches, and a conclusion.",
	}
	for n := 1; n <= s.Len(); n++ {
		o := draw.Options{Width: film.Columns, Newest: n}
		if n == s.Len() {
			o.Newest = 0
		}
		lines := draw.Session(s.Upto(n), o).Lines
		film.Frames = append(film.Frames, lines[len(draw.Header(s, o)):]) // the header has an id
	}
	if err := picture.Check(filepath.Join(root, "docs", "pictures"), "demo", film.SVG, *update); err != nil {
		t.Error(err)
	}
}
