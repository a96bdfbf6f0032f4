package command

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

// TestReferenceCommands checks that docs/reference/cli.md is current.
func TestReferenceCommands(t *testing.T) {
	p := &program{out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }, now: time.Now}
	text := gendocs.Commands(p.root())
	file := filepath.Join("..", "docs", "reference", "cli.md")
	if *update {
		if err := gendocs.Write(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.Check(file, text); err != nil {
		t.Error(err)
	}
}
