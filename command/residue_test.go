package command

import (
	"database/sql"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
)

// delete says that a process still reads the deleted text, instead of claiming that it
// is gone.
func TestDeleteSaysThatTextIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	a, err := app.Open(t.Context(), app.Config{Store: path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Engine.Begin(t.Context(), "secret", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "xqzcanary is the password", Final: true})
		return err
	})
	if err != nil {
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
	if want := "while another process reads the store"; !strings.Contains(string(out), want) {
		t.Errorf("sequent delete printed %q, want %q", out, want)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
