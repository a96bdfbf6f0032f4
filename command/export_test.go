package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
)

// A diagram that has to fold thoughts says so on standard error and in itself.
func TestExportFolds(t *testing.T) {
	store := filepath.Join(t.TempDir(), "s.db")
	a, err := app.Open(t.Context(), app.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Engine.Begin(t.Context(), "a", func(c *sequent.Change) error {
		for n := range 600 {
			if _, err := c.Append(sequent.Draft{Number: n + 1, Total: 600, Text: fmt.Sprint("step ", n), Final: n == 599}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for format, said := range map[string]bool{"mermaid": true, "md": false} {
		code, out, stderr := runCommand(t, "export", "--store", store, "--all-projects", "--format", format)
		if got := strings.Contains(stderr, "of 600 thoughts are folded: Mermaid draws at most 500 edges"); code != 0 || got != said {
			t.Errorf("%s exits with %d; standard error has %q", format, code, stderr)
		}
		if got := strings.Contains(out, "of 600 thoughts are folded"); got != said {
			t.Errorf("%s: the export says that it is folded: %v", format, got)
		}
	}
}
