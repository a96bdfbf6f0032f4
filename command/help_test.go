package command

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/archive"
)

func discarding() *program {
	return &program{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }, now: time.Now}
}

// everyCommand calls do with each command below c.
func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		do(sub)
		everyCommand(sub, do)
	}
}

// Help fits the screen: the list of commands has 40 lines of 80 columns at most and 22 commands, the
// help of a command 70 lines, and what sequent prints without a command 24.
func TestHelpIsShort(t *testing.T) {
	lines := func(args ...string) int {
		p := discarding()
		var out bytes.Buffer
		p.out = &out
		if code := p.main(t.Context(), append(args, "--width", "80")); code != exitOK || strings.Contains(out.String(), "%!") {
			t.Fatalf("%q exits with %d and prints\n%s", args, code, &out)
		}
		return strings.Count(out.String(), "\n")
	}
	root := discarding().root()
	listed := 1 // help, which is added when the program runs
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			listed++
		}
	}
	if listed > 22 || listed < 20 {
		t.Errorf("help lists %d commands, want at most 22", listed)
	}
	if n := lines("help"); n > 40 || n < listed {
		t.Errorf("help has %d lines, want at most 40", n)
	}
	p := discarding()
	var out bytes.Buffer
	if p.out = &out; p.main(t.Context(), []string{}) != exitOK || strings.Count(out.String(), "\n") > 24 || !strings.Contains(out.String(), " setup ") {
		t.Errorf("without a command it prints\n%s", &out)
	}
	everyCommand(root, func(c *cobra.Command) {
		if n := lines(append(strings.Fields(c.CommandPath())[1:], "--help")...); n > 70 {
			t.Errorf("the help of %s has %d lines, want at most 70", c.CommandPath(), n)
		}
		if f := c.Flags().Lookup(helpAll); f != nil {
			if n := lines(append(strings.Fields(c.CommandPath())[1:], "--"+helpAll)...); n <= 70 {
				t.Errorf("the help of %s has only %d lines with all flags: it needs no --%s", c.CommandPath(), n, helpAll)
			}
		}
	})
}

// The help of import names all kinds of files.
func TestHelpOfImport(t *testing.T) {
	for _, k := range archive.Formats() {
		if !strings.Contains(helpOf("import").long, "  - "+k+"\n") {
			t.Errorf("the help does not name %s", k)
		}
	}
}
