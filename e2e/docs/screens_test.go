package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

var screen = regexp.MustCompile("(?s)(<!-- screen: (sequent [^\n]*) -->\n```\n)(.*?)(```\n)")

// The screens of the pages are what the commands print, in the home of a reader who has run
// sequent demo. An id, an age and the home directory are replaced by constant ones.
func TestScreens(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, file := range append(pages, filepath.Join(root, "README.md")) {
		name, err := filepath.Rel(filepath.Join(root, "docs"), file)
		if err != nil {
			t.Fatal(err)
		}
		text := page(t, name)
		if n := len(screen.FindAllString(text, -1)); n != strings.Count(text, "<!-- screen: ") {
			t.Errorf("%s: a screen has no block after it", name)
		} else if n == 0 {
			continue
		}
		h := newHome(t, program)
		want := screen.ReplaceAllStringFunc(text, func(block string) string {
			shown++
			m := screen.FindStringSubmatch(block)
			args := words(m[2])[1:]
			for i, arg := range args {
				if rest, ok := strings.CutPrefix(arg, "ID"); ok {
					args[i] = h.session + rest
				}
			}
			out := strings.ReplaceAll(h.run("", args...), h.session, "7k3m9q2xw4ht")
			out = strings.ReplaceAll(out, h.dir, "~")
			out = regexp.MustCompile(`\b\d{1,2}[sm] ago\b`).ReplaceAllString(out, "just now")
			out = regexp.MustCompile(`(?m)^(\w{12}  )(?:\d\d[sm]|\dm )`).ReplaceAllString(out, "${1}now") // of a list
			return m[1] + out + m[4]
		})
		if *update && want != text {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			text = want
		}
		if want != text {
			t.Errorf("a screen of %s is stale, run make pictures\ngot:\n%s\nwant:\n%s", name, screen.FindAllString(text, -1), screen.FindAllString(want, -1))
		}
	}
	if shown < 3 {
		t.Errorf("the pages have only %d screens", shown)
	}
}

// The project's page greets: it is short, has its pictures, says nothing of dialects, scopes
// and stores before the first thought, and its figures are those that were measured.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	text := page(t, "../README.md")
	if n := strings.Count(text, "\n"); n > 150 {
		t.Errorf("README.md has %d lines, want at most 150", n)
	}
	before, _, ok := strings.Cut(text, "\n## Say this first\n")
	if m := regexp.MustCompile(`(?i)\b(dialects?|scopes?|stores?)\b`).FindString(before); !ok || m != "" {
		t.Errorf("README.md says %q before the first thought", m)
	}
	sources := regexp.MustCompile(`(?:src|srcset)="([^"]*)"`).FindAllStringSubmatch(text, -1)
	for _, m := range sources {
		if info, err := os.Stat(filepath.Join(root, m[1])); err != nil || info.Size() > 150_000 {
			t.Errorf("the picture %s is missing or larger than 150 kB: %v", m[1], err)
		}
	}
	if len(sources) < 4 {
		t.Errorf("README.md has %d pictures", len(sources))
	}
	m := regexp.MustCompile("(?m)^\\| `standard` \\| ([0-9,]+) \\| (\\d+) \\|").FindStringSubmatch(page(t, "tokens.md"))
	if m == nil || !strings.Contains(text, m[1]+" tokens for both tools, about "+m[2]+" a reply") {
		t.Errorf("README.md has other numbers of tokens than docs/tokens.md, %q", m)
	}
}

// The messages that troubleshooting explains are in the source.
func TestMessages(t *testing.T) {
	t.Parallel()
	_, table, ok := strings.Cut(page(t, "troubleshooting.md"), "\n## Messages\n")
	if !ok {
		t.Fatal("the page has no messages")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1)
	if len(rows) < 8 {
		t.Errorf("the page has only %d messages", len(rows))
	}
	var sources []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", ".git", "dist", "adapters"}, entry.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			sources = append(sources, string(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range rows {
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, m[1]) }) {
			t.Errorf("no program says %q", m[1])
		}
	}
}
