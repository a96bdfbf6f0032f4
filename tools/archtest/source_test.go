package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/sequent-dev/sequent"

// A source is a Go file of the module.
type source struct {
	name      string // slashes, relative to the module
	pkg       string // directory; "." is the root
	test      bool
	generated bool
	lines     int
	ast       *ast.File
	fset      *token.FileSet
}

// imports returns the file's imports outside the standard library: packages of
// this module as relative paths, "." for its root, others as full paths.
func (s source) imports() []string {
	var list []string
	for _, p := range s.allImports() {
		first, _, _ := strings.Cut(p, "/")
		switch rest, own := strings.CutPrefix(p, modulePath); {
		case own && rest == "":
			list = append(list, ".")
		case own:
			list = append(list, rest[1:])
		case strings.Contains(first, "."): // a domain, so not the standard library
			list = append(list, p)
		}
	}
	return list
}

func (s source) allImports() []string {
	var list []string
	for _, spec := range s.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil { // always: the file was parsed
			list = append(list, p)
		}
	}
	return list
}

var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// sources parses every Go file of the module. It skips nested modules and the
// directories that the go command ignores.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var list []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			base := path.Base(name)
			hidden := name != "." && strings.ContainsAny(base[:1], "._")
			if hidden || base == "testdata" || base == "node_modules" {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		list = append(list, source{
			name: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			generated: generatedMark.Match(text), lines: strings.Count(string(text), "\n"),
			ast: parsed, fset: fset,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 10 {
		t.Fatalf("found only %d Go files in %s", len(list), root)
	}
	return list
}

// packages returns the directories that have Go files other than tests.
func packages(files []source) []string {
	var list []string
	for _, f := range files {
		if !f.test {
			list = append(list, f.pkg)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
