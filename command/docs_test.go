package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

// The commands and flags in README.md and docs exist.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	p := discarding()
	block := regexp.MustCompile("(?s)```sh\n(.*?)```")
	command := regexp.MustCompile(`(?:^|\| |[A-Z_]+=\S+ )sequent ([a-z][^|#]*)`)
	flag := regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	seen := 0
	check := func(where, line string) {
		m := command.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return
		}
		seen++
		// Quoted arguments are not flags.
		words := regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(m[1], "x")
		c, rest, err := p.root().Find(strings.Fields(strings.TrimPrefix(words, "help ")))
		onlyGroup := strings.Contains(c.Use, "COMMAND") && len(rest) > 0 && !strings.HasPrefix(rest[0], "-")
		if err != nil || !c.HasParent() || onlyGroup {
			t.Errorf("%s: unknown command in %s", where, line)
			return
		}
		for _, f := range flag.FindAllStringSubmatch(words, -1) {
			if c.Flag(f[1]) == nil && c.InheritedFlags().Lookup(f[1]) == nil {
				t.Errorf("%s: %s has no flag --%s, used in %s", where, c.CommandPath(), f[1], line)
			}
		}
	}
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range block.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(b[1]) {
				check(page, line)
			}
		}
	}
	everyCommand(p.root(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			check("the help of "+c.CommandPath(), line)
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
