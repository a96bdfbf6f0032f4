package main

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCodeLines(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"a package clause", "package x\n", 1},
		{"comments and blank lines", "// Package x\n\npackage x\n\n/* two\nlines */\n", 1},
		{"code before a comment", "package x // here\n", 1},
		{"a comment mark in a string", "package x\n\nvar s = \"// no comment\"\n", 2},
		{"a raw string", "package x\n\nvar s = `one\n\n  \n// four\n`\n", 4},
		{"two statements on a line", "package x; var a, b = 1, 2\n", 1},
		{"no newline at the end", "package x", 1},
		{"nothing", "", 0},
	}
	for _, tt := range tests {
		got, err := codeLines("x.go", []byte(tt.text))
		if err != nil || got != tt.want {
			t.Errorf("%s: codeLines(%q) = %d, %v, want %d", tt.name, tt.text, got, err, tt.want)
		}
	}
	if _, err := codeLines("x.go", []byte("package x\nvar s = \"open\n")); err == nil {
		t.Error("a string without an end is counted")
	}
}

func TestCount(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("package x\n\nvar A = 1\n")}
	tree := fstest.MapFS{
		"a.go": file, "a_test.go": file, "a.txt": file,
		"sub/a.go": file, "sub/b.go": file,
		"sub/testdata/a.go": file, "node_modules/x/a.go": file, ".hidden/a.go": file, "_off/a.go": file,
		"other/go.mod": file, "other/a.go": file,
	}
	got, err := count(tree)
	want := map[string]int{".": 2, "sub": 4, "other": 2}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("count = %v, %v, want %v", got, err, want)
	}
	var out strings.Builder
	if err := run(&out, tree, module+"\n"+module+"/sub\nfmt\n"); err != nil {
		t.Fatal(err)
	}
	const page = "      2 * .\n      2   other\n      4 * sub\n" +
		"      8   lines of Go in 3 packages, without tests, blank lines and comments\n" +
		"      6 * of them in 2 packages are linked into the program\n"
	if out.String() != page {
		t.Errorf("run prints\n%s, want\n%s", out.String(), page)
	}
}
