package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// texts returns the content of the files below the module's root with one of the
// extensions, by their names with slashes. Test data is left out.
func texts(t *testing.T, extensions ...string) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := make(map[string]string)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if file != root && (base[0] == '.' || base == "node_modules" || base == "testdata" || base == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(extensions, path.Ext(base)) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		found[filepath.ToSlash(name)] = strings.ReplaceAll(string(text), "\r\n", "\n")
		return err
	})
	if err != nil || len(found) < 10 {
		t.Fatalf("found %d files: %v", len(found), err)
	}
	return found
}

// The index of decisions has each page once, under its title.
func TestDecisionsAreIndexed(t *testing.T) {
	const most = 25
	dir := filepath.Join("..", "..", "docs", "decisions")
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "[0-9]*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 || len(pages) > most {
		t.Errorf("there are %d decisions, want 1 to %d: merge pages, or move what concerns one package into its README", len(pages), most)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(page)
		first, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(first, "# "+name[:4]+": ")
		if !ok {
			t.Errorf("%s begins with %q, want # %s: and a title", name, first, name[:4])
		}
		if line := "- [" + name[:4] + "](" + name + ") " + title + "\n"; strings.Count(string(index), line) != 1 {
			t.Errorf("the index of decisions lacks the line %q, or has it twice", line)
		}
	}
	if lines := strings.Count(string(index), "\n- ["); lines != len(pages) {
		t.Errorf("the index of decisions has %d entries for %d pages", lines, len(pages))
	}
}

var decisionReference = regexp.MustCompile(`(?i)\bdecisions?\s+(\d{4}(?:(?:,| and| or|, and)\s+\d{4})*)`)

// "Decision 0007" in code and documents names a page that exists.
func TestDecisionsThatAreNamedExist(t *testing.T) {
	seen := 0
	for name, text := range texts(t, ".go", ".md", ".mod", ".mjs", ".yml", ".sql") {
		text = strings.ReplaceAll(text, "\n// ", " ") // a reference may break over two lines of a comment
		for _, m := range decisionReference.FindAllStringSubmatch(text, -1) {
			for _, number := range regexp.MustCompile(`\d{4}`).FindAllString(m[1], -1) {
				seen++
				pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "decisions", number+"-*.md"))
				if err != nil || len(pages) != 1 {
					t.Errorf("%s names decision %s, of which there are %d pages", name, number, len(pages))
				}
			}
		}
	}
	if seen == 0 {
		t.Error("found no reference to a decision")
	}
}

// A release sorts the changes of changelog/unreleased by their first word.
func TestChangesHaveAKind(t *testing.T) {
	kind := regexp.MustCompile(`^(Security|Added|Changed|Removed|Fixed): [^\n]`)
	for name, text := range texts(t, ".md") {
		if strings.HasPrefix(name, "changelog/unreleased/") && !kind.MatchString(text) {
			t.Errorf("%s begins with %.20q, want Security, Added, Changed, Removed or Fixed, and a colon", name, text)
		}
	}
}

var (
	codeBlock    = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan     = regexp.MustCompile("`[^`\n]*`")
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// Links of the documentation lead to files that exist, and to headings in them.
func TestLinksInDocuments(t *testing.T) {
	pages := texts(t, ".md")
	for name, text := range pages {
		text = codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "")
		for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") { // another host, or a resource
				continue
			}
			file := name
			if target != "" {
				dir := path.Dir(name)
				if dir == "changelog/unreleased" { // a release moves these texts into CHANGELOG.md
					dir = "."
				}
				file = path.Join(dir, target)
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if page, ok := pages[file]; ok && anchor != "" && !slices.Contains(anchors(page), anchor) {
				t.Errorf("%s links to %s; %s has no such heading", name, m[1], file)
			}
		}
	}
}

// The index of the documentation has every page for users, and CONTRIBUTING.md those for
// builders. A reader can survey them.
func TestDocumentationIsIndexed(t *testing.T) {
	const most = 30
	pages := texts(t, ".md")
	count := 0
	for name := range pages {
		page, ok := strings.CutPrefix(name, "docs/")
		if !ok || strings.HasPrefix(page, "decisions/") {
			continue
		}
		count++
		if page != "README.md" && !strings.Contains(pages["docs/README.md"], "("+page+")") && !strings.Contains(pages["CONTRIBUTING.md"], "("+name+")") {
			t.Errorf("neither docs/README.md nor CONTRIBUTING.md links to %s", page)
		}
	}
	if count > most {
		t.Errorf("docs has %d pages, want at most %d: merge those that are read together", count, most)
	}
}

// anchors returns the fragments by which the headings of a page are reached, as
// GitHub forms them.
func anchors(page string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return list
}
