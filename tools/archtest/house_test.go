package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFilesAreShort(t *testing.T) {
	for _, f := range sources(t) {
		if f.lines > 500 && !f.generated {
			t.Errorf("%s has %d lines, more than 500", f.name, f.lines)
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	files := sources(t)
	for _, pkg := range packages(files) {
		if !slices.ContainsFunc(files, func(f source) bool { return f.pkg == pkg && !f.test && f.ast.Doc != nil }) {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

func TestNames(t *testing.T) {
	refused := []string{"util", "utils", "common", "helpers", "misc", "base", "lib", "types"}
	for _, f := range sources(t) {
		if slices.Contains(refused, f.ast.Name.Name) {
			t.Errorf("%s: package name %s is too general", f.name, f.ast.Name.Name)
		}
	}
}

// Importing a package runs no code.
func TestNoInit(t *testing.T) {
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && !f.test {
				t.Errorf("%s has an init function", f.fset.Position(fn.Pos()))
			}
		}
	}
}

// dialects returns the names of the directories below dialect with a tool.json.
func dialects(t *testing.T) []string {
	t.Helper()
	specs, err := filepath.Glob(filepath.Join("..", "..", "dialect", "*", "tool.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range specs {
		names = append(names, filepath.Base(filepath.Dir(s)))
	}
	return names
}

// Packages below the dialects do not mention a dialect by name.
func TestDialectsAreUnknownBelow(t *testing.T) {
	names := dialects(t)
	if len(names) == 0 {
		t.Fatal("found no dialects")
	}
	below := []string{".", "tool", "dialect", "mcpserver", "storetest", "store/...", "textsearch"}
	for _, f := range sources(t) {
		if f.test || !matchesAny(below, f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(names, text) {
				t.Errorf("%s mentions the dialect %s", f.fset.Position(lit.Pos()), text)
			}
			return true
		})
		for _, c := range f.ast.Comments {
			for _, name := range names {
				if strings.Contains(c.Text(), "dialect/"+name) {
					t.Errorf("%s mentions the dialect %s", f.fset.Position(c.Pos()), name)
				}
			}
		}
	}
}

func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range packages(sources(t)) {
		if pkg != "." && !strings.Contains(string(text), "`"+pkg+"`") {
			t.Errorf("ARCHITECTURE.md does not mention `%s`", pkg)
		}
	}
}
