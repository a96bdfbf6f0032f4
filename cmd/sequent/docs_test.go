package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The commands that the pages show are those that there are, with flags that they
// have.
func TestCommandsInPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }, now: time.Now}
	block := regexp.MustCompile("(?s)```sh\n(.*?)```")
	command := regexp.MustCompile(`(?:^|\| |[A-Z_]+=\S+ )sequent ([a-z][^|#]*)`)
	flag := regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	seen := 0
	for _, page := range append(pages, "../../README.md") {
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
				// What is in quotes is no flag of ours.
				words := regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(m[1], "x")
				c, _, err := p.root().Find(strings.Fields(words))
				if err != nil || !c.HasParent() {
					t.Errorf("%s: there is no command as in %s", page, line)
					continue
				}
				for _, f := range flag.FindAllStringSubmatch(words, -1) {
					if c.Flag(f[1]) == nil && c.InheritedFlags().Lookup(f[1]) == nil {
						t.Errorf("%s: %s has no --%s, as in %s", page, c.CommandPath(), f[1], line)
					}
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("found %d commands only", seen)
	}
}
