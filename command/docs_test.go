package command

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

// The commands and flags in the examples of help exist. e2e/docs runs those of the pages.
func TestExamples(t *testing.T) {
	root := discarding().root()
	command := regexp.MustCompile(`(?:^|\| |[A-Z_]+=\S+ )sequent ([a-z][^|#]*)`)
	seen := 0
	everyCommand(root, func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			m := command.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			seen++
			words := regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(m[1], "x") // quoted arguments are not flags
			named, _, err := root.Find(strings.Fields(strings.TrimPrefix(words, "help ")))
			if err != nil || !named.HasParent() {
				t.Errorf("%s: unknown command in %s", c.CommandPath(), line)
				continue
			}
			for _, f := range regexp.MustCompile(`(?:^| )--([a-z-]+)`).FindAllStringSubmatch(words, -1) {
				if named.Flag(f[1]) == nil && named.InheritedFlags().Lookup(f[1]) == nil {
					t.Errorf("%s has no flag --%s, used in %s", named.CommandPath(), f[1], line)
				}
			}
		}
	})
	if seen < 10 {
		t.Errorf("found only %d commands", seen)
	}
}

// TestReferenceCommands checks that docs/reference/cli.md is current.
func TestReferenceCommands(t *testing.T) {
	text := gendocs.Commands(discarding().root())
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
