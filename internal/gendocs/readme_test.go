package gendocs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Code in README.md marked "example: FILE FUNCTION" is the body of that function.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)<!-- example: (\\S+) (\\S+) -->\n```go\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(shown) == 0 {
		t.Fatal("README.md shows no example")
	}
	for _, m := range shown {
		file, name, got := string(m[1]), string(m[2]), string(m[3])
		if want := body(t, "../../"+file, name); got != want {
			t.Errorf("README.md shows %s of %s as\n%s\nwant\n%s", name, file, got, want)
		}
	}
}

// body returns the statements of a function, unindented and without the Output
// comment.
func body(t *testing.T, file, name string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
		text := string(src[fset.Position(f.Body.Lbrace).Offset+1 : fset.Position(f.Body.Rbrace).Offset])
		text, _, _ = strings.Cut(text, "\t// Output:")
		var b strings.Builder
		for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
			b.WriteString(strings.TrimPrefix(line, "\t"))
		}
		return b.String()
	}
	t.Fatalf("%s has no function %s", file, name)
	return ""
}
