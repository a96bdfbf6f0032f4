package command

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// The commands and flags in README.md and docs exist.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }, now: time.Now}
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
	all := []*cobra.Command{p.root()}
	for len(all) > 0 {
		c := all[0]
		all = append(all[1:], c.Commands()...)
		for line := range strings.Lines(c.Example) {
			check("the help of "+c.CommandPath(), line)
		}
	}
	if seen < 10 {
		t.Errorf("found only %d commands", seen)
	}
}
