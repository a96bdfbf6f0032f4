// Command size counts the lines of code of each package of a checkout, in total, and of
// those that are linked into the program, which are marked.
//
//	go run -C tools ./size
//
// A line counts if it has a token of Go on it: blank lines and comments do not
// count, and a line with code and a comment counts once. All Go files count, of
// every module, except tests (files named _test.go) and what the go command leaves
// out: testdata and directories that begin with a dot or an underscore. Packages
// that help tests, such as storetest, do count.
package main

import (
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

const module = "github.com/sequent-dev/sequent"

func main() {
	dir := flag.String("C", "..", "the checkout")
	flag.Parse()
	list := exec.Command("go", "list", "-deps", "./cmd/sequent")
	list.Dir, list.Stderr = *dir, os.Stderr
	deps, err := list.Output()
	if err == nil {
		err = run(os.Stdout, os.DirFS(*dir), string(deps))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// run writes a line for each package and one for each sum. deps has the import paths of what
// is linked, one a line.
func run(w io.Writer, tree fs.FS, deps string) error {
	sizes, err := count(tree)
	if err != nil {
		return err
	}
	linked := make(map[string]bool)
	for dep := range strings.Lines(deps) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(dep), module); ok {
			linked[path.Join(".", rest)] = true
		}
	}
	total, in, packages := 0, 0, 0
	for _, pkg := range slices.Sorted(maps.Keys(sizes)) {
		mark := " "
		if linked[pkg] {
			mark, in, packages = "*", in+sizes[pkg], packages+1
		}
		total += sizes[pkg]
		fmt.Fprintf(w, "%7d %s %s\n", sizes[pkg], mark, pkg)
	}
	fmt.Fprintf(w, "%7d   lines of Go in %d packages, without tests, blank lines and comments\n", total, len(sizes))
	_, err = fmt.Fprintf(w, "%7d * of them in %d packages are linked into the program\n", in, packages)
	return err
}

// count returns the lines of code of each directory that has any.
func count(tree fs.FS) (map[string]int, error) {
	sizes := make(map[string]int)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && strings.ContainsAny(base[:1], "._") || base == "testdata" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		n, err := codeLines(name, text)
		if err != nil {
			return err
		}
		sizes[path.Dir(name)] += n
		return nil
	})
	return sizes, err
}

// codeLines counts the lines of a Go file that have a token on them. Blank lines
// of a raw string do not count.
func codeLines(name string, text []byte) (int, error) {
	var errs scanner.ErrorList
	var s scanner.Scanner
	file := token.NewFileSet().AddFile(name, -1, len(text))
	s.Init(file, text, errs.Add, 0)
	lines := make(map[int]bool)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return len(lines), errs.Err()
		}
		if tok == token.SEMICOLON && lit == "\n" { // inserted at the end of a line
			continue
		}
		first := file.Line(pos)
		lines[first] = true
		for i, line := range strings.Split(lit, "\n") { // several in raw strings only
			if strings.TrimSpace(line) != "" {
				lines[first+i] = true
			}
		}
	}
}
