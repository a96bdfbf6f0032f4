package sqlite

import (
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
		t.Error("Format creates the file")
	}
	s := openAt(t, path)
	defer s.Close()
	check := func(want sequent.Code) {
		t.Helper()
		if err := s.Check(t.Context()); sequent.CodeOf(err) != want {
			t.Errorf("Check = %v, want %q", err, want)
		}
	}
	check("")
	format(latest, "")
	raw(t, path, "PRAGMA user_version=99")
	check("") // it has only additions
	format(99, "")
	raw(t, path, "UPDATE identity SET oldest_writer=99")
	check(sequent.CodeNewerSchema)
	format(0, sequent.CodeNewerSchema)
	raw(t, path, "PRAGMA user_version=1")
	check(sequent.CodeUnavailable)
	format(1, "")
	if runtime.GOOS != "windows" { // Windows does not remove open files
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
