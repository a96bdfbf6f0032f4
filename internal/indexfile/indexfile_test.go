package indexfile_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/indexfile"
)

const application = 0x1234

// open opens the file at path, creating it if necessary.
func open(t *testing.T, path string) *indexfile.File {
	t.Helper()
	created, err := os.OpenFile(path, os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	created.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := indexfile.Open(path, info, func(writes bool) (*sql.DB, error) {
		name := "file:" + filepath.ToSlash(path)
		if !writes {
			name += "?_pragma=query_only(1)"
		}
		return sql.Open("sqlite", name)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func exec(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		setup   string
		version int
		empty   bool
		err     error
	}{
		{"", 0, true, nil},
		{fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=3", application), 3, false, nil},
		{fmt.Sprintf("PRAGMA application_id=%d", application), 0, false, nil},
		{"PRAGMA user_version=3", 3, false, indexfile.ErrForeign},
		{"PRAGMA application_id=7", 0, false, indexfile.ErrForeign},
		{"CREATE TABLE t(x)", 0, false, indexfile.ErrForeign},
	} {
		f := open(t, filepath.Join(t.TempDir(), "x.db"))
		exec(t, f.Writer, tt.setup)
		version, empty, err := indexfile.Version(t.Context(), f.Readers, application)
		if version != tt.version || empty != tt.empty || !errors.Is(err, tt.err) {
			t.Errorf("%s: Version = %d, %v, %v, want %d, %v, %v", tt.setup, version, empty, err, tt.version, tt.empty, tt.err)
		}
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	f := open(t, path)
	exec(t, f.Writer, "PRAGMA journal_mode=wal; CREATE TABLE t(x)")
	if _, err := f.Readers.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err == nil {
		t.Error("INSERT on a read-only connection succeeded")
	}
	failed := errors.New("no")
	err := indexfile.InTx(t.Context(), f.Writer, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if err := indexfile.InTx(t.Context(), f.Writer, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var n, sum int
	if err := f.Readers.QueryRowContext(t.Context(), "SELECT count(*), sum(x) FROM t").Scan(&n, &sum); err != nil || n != 1 || sum != 2 {
		t.Errorf("got %d rows with sum %d, error %v; want only the committed row", n, sum, err)
	}

	f.Use()
	closed := make(chan error)
	go func() { closed <- f.Close() }()
	select {
	case <-closed:
		t.Fatal("Close returned before Release")
	case <-time.After(20 * time.Millisecond):
	}
	if err := f.Readers.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	f.Release()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	f := open(t, path)
	exec(t, f.Writer, "PRAGMA journal_mode=wal; CREATE TABLE t(x)")
	if !f.InPlace() {
		t.Error("InPlace = false for an open file")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", []byte("left behind"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the files are gone
		if err := indexfile.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 || f.InPlace() {
		t.Errorf("after Remove: files %v, InPlace %v; want none and false", left, f.InPlace())
	}
}

func TestIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte("a text file that is longer than the header of a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, notDatabase := indexfile.Version(t.Context(), open(t, path).Readers, application)
	f := open(t, filepath.Join(t.TempDir(), "y.db"))
	_, noTable := f.Readers.ExecContext(t.Context(), "SELECT * FROM missing")
	exec(t, f.Writer, "CREATE TABLE t(x)")
	_, readOnly := f.Readers.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
	noRow := f.Readers.QueryRowContext(t.Context(), "SELECT x FROM t").Scan(new(int))
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"not a database": {notDatabase, true},
		"no table":       {noTable, true},
		"no row":         {noRow, true},
		"read-only":      {readOnly, false},
		"foreign":        {indexfile.ErrForeign, false},
		"no file":        {os.ErrNotExist, false},
	} {
		if tt.err == nil || indexfile.IsDamage(tt.err) != tt.want {
			t.Errorf("%s: IsDamage(%v) = %v, want %v", name, tt.err, !tt.want, tt.want)
		}
	}
	if indexfile.IsDamage(nil) {
		t.Error("IsDamage(nil) = true")
	}
}
