package command

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
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
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range block.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(b[1]) {
				m := command.FindStringSubmatch(strings.TrimSpace(line))
				if m == nil {
					continue
				}
				seen++
				// Quoted arguments are not flags.
				words := regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(m[1], "x")
				c, _, err := p.root().Find(strings.Fields(words))
				if err != nil || !c.HasParent() {
					t.Errorf("%s: unknown command in %s", page, line)
					continue
				}
				for _, f := range flag.FindAllStringSubmatch(words, -1) {
					if c.Flag(f[1]) == nil && c.InheritedFlags().Lookup(f[1]) == nil {
						t.Errorf("%s: %s has no flag --%s, used in %s", page, c.CommandPath(), f[1], line)
					}
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("found only %d commands", seen)
	}
}
