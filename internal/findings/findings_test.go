package findings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/findings"
)

// restored returns a session of a file.
func restored(t *testing.T, e *sequent.Engine, file string) *sequent.Session {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, entries, err := archive.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Restore(t.Context(), h, entries); err != nil {
		t.Fatal(err)
	}
	s, err := e.Session(t.Context(), h.ID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil {
		t.Fatal(err)
	}
	e := sequent.New(sequent.Config{})
	n := 0
	for _, file := range files {
		s := restored(t, e, file)
		n += s.Len()
		for _, f := range findings.Of(s) {
			t.Logf("%s @%d %s %v: %s", s.ID(), f.At, f.Kind, f.Of, f.Text)
		}
	}
	t.Log(n, "thoughts")
}
