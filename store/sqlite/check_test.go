package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sequent-dev/sequent"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	format := func(want int, code sequent.Code) {
		t.Helper()
		have, to, err := Format(t.Context(), path)
		if have != want || to != latest || sequent.CodeOf(err) != code {
			t.Errorf("Format = %d, %d, error %v; want %d and %q", have, to, err, want, code)
		}
	}
	format(0, "")
	if _, err := os.Stat(path); err == nil {
		t.Error("Format makes the file")
	}
	s := openAt(t, path)
	defer s.Close()
	check := func(want sequent.Code) {
		t.Helper()
		if err := s.Check(t.Context()); sequent.CodeOf(err) != want {
			t.Errorf("Check = %v, want %q", err, want)
		}
	}
	version := func(n string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "PRAGMA user_version="+n); err != nil {
			t.Fatal(err)
		}
	}
	check("")
	format(latest, "")
	version("99")
	check(sequent.CodeNewerSchema)
	format(0, sequent.CodeNewerSchema)
	version("1")
	check(sequent.CodeUnavailable)
	format(1, "")
	if runtime.GOOS != "windows" { // where an open file stays
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		check(sequent.CodeUnavailable)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	check(sequent.CodeUnavailable)
}
