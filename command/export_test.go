package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// A diagram that has to fold thoughts says so on standard error and in itself.
func TestExportFolds(t *testing.T) {
	engine := sequent.New(sequent.Config{})
	s, err := engine.Begin(t.Context(), "a", func(c *sequent.Change) error {
		for n := range 600 {
			if _, err := c.Append(sequent.Draft{Number: n + 1, Total: 600, Text: fmt.Sprint("step ", n), More: n < 599}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for format, said := range map[string]bool{formatMermaid: true, "md": false} {
		var out, stderr bytes.Buffer
		p := &program{out: &out, err: &stderr, getenv: func(string) string { return "" }, now: time.Now}
		if err := p.writeExport(t.Context(), engine, s, exporting{format: format}, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(stderr.String(), "of 600 thoughts are folded into runs: Mermaid draws at most 500 edges"); got != said {
			t.Errorf("%s: standard error has %q", format, stderr.String())
		}
		if got := strings.Contains(out.String(), "of 600 thoughts are folded into runs"); got != said {
			t.Errorf("%s: the export says that it is folded: %v", format, got)
		}
	}
	if _, folded := archive.MermaidFolded(s.Upto(400)); folded != 0 {
		t.Errorf("%d of 400 thoughts are folded", folded)
	}
}
