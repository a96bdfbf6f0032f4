package gendocs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Pages that must show code, so that a page without markers fails.
var pagesWithCode = []string{"README.md", "docs/ai-sdk.md", "docs/embed.md", "docs/write-a-dialect.md", "docs/write-a-store.md"}

// Code in a page is that of the source: after "example: FILE FUNCTION" the body of a
// function, after "source: FILE" consecutive lines of a file, in
// JavaScript without their exports.
func TestCodeInPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile("(?s)<!-- (example|source): (\\S+)(?: (\\S+))? -->\n```\\w+\n(.*?)```\n")
	for _, file := range append(pages, "../../README.md") {
		page := strings.TrimPrefix(filepath.ToSlash(file), "../../")
		text := read(t, file)
		shown := marked.FindAllStringSubmatch(text, -1)
		if len(shown) == 0 && slices.Contains(pagesWithCode, page) {
			t.Errorf("%s shows no code", page)
		}
		if n := strings.Count(text, "<!-- example: ") + strings.Count(text, "<!-- source: "); n != len(shown) {
			t.Errorf("%s has %d markers of code, of which %d are followed by a block", page, n, len(shown))
		}
		for _, m := range shown {
			source, name, got := m[2], m[3], m[4]
			if m[1] == "source" {
				want := "\n" + read(t, "../../"+source)
				if strings.HasSuffix(source, ".mjs") {
					want = strings.ReplaceAll(want, "\nexport ", "\n")
				}
				if !strings.Contains(want, "\n"+got) {
					t.Errorf("%s shows lines that are not in %s:\n%s", page, source, got)
				}
			} else if want := body(t, "../../"+source, name); got != want {
				t.Errorf("%s shows %s of %s as\n%s\nwant\n%s", page, name, source, got, want)
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// body returns the statements of a function, unindented and without the Output
// comment.
func body(t *testing.T, file, name string) string {
	t.Helper()
	src := read(t, file)
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != name {
			continue
		}
		text := src[fset.Position(f.Body.Lbrace).Offset+1 : fset.Position(f.Body.Rbrace).Offset]
		text, _, _ = strings.Cut(text, "\t// Output:")
		text, _, _ = strings.Cut(text, "\t// Unordered output:")
		var b strings.Builder
		for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
			b.WriteString(strings.TrimPrefix(line, "\t"))
		}
		return b.String()
	}
	t.Fatalf("%s has no function %s", file, name)
	return ""
}
