package command

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sequent-dev/sequent"
)

// delete says where a process still reads the deleted text, which goes when the store is closed.
func TestDeleteSaysThatTextIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	a := openStore(t, path)
	if _, err := a.Engine.Append(t.Context(), "secret", sequent.Draft{Text: "xqzcanary is the password", Final: true}); err != nil {
		t.Fatal(err)
	}
	reader, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	tx, err := reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM tool_log").Scan(&n); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	out, err := exec.Command("sequent", "delete", "--yes", "--store", path, "secret").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if want := regexp.MustCompile(`s\.db-wal \(\d+ KiB\), because another process reads the store`); !want.Match(out) {
		t.Errorf("sequent delete printed %q, want %s", out, want)
	}
	if err := errors.Join(tx.Rollback(), reader.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if data, err := os.ReadFile(name); err != nil || bytes.Contains(data, []byte("xqzcanary")) {
			t.Errorf("after the reader has closed the store the text is in %s, %v", name, err)
		}
	}
}
