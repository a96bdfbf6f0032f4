package coverage

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A document is a seed document with its rows.
type document struct {
	number, title string
	rows          []row
}

// A row is something that a document says of the tool.
type row struct {
	id     string // document and name, such as 002/status-complete
	line   int    // of the document
	text   string
	reason string // why it differs; empty if it is as written
	where  string // page with the reason, below the root of the repository
}

// readRows reads the list of rows. A line "## NUMBER TITLE" begins a document. The others are
// "LINE NAME | text | verdict", where verdict is one of
//
//	as written
//	differs NNNN: reason            (NNNN is a decision)
//	differs README:DIALECT: reason  (the README of the dialect)
//
// Root is the repository, in which the pages are looked up.
func readRows(list string, root fs.FS) ([]document, error) {
	var documents []document
	seen := make(map[string]bool)
	for text := range strings.Lines(list) {
		text = strings.TrimSpace(text)
		if title, ok := strings.CutPrefix(text, "## "); ok {
			number, title, _ := strings.Cut(title, " ")
			documents = append(documents, document{number: number, title: title})
			continue
		}
		if text == "" || strings.HasPrefix(text, "# ") {
			continue
		}
		parts := strings.Split(text, " | ")
		line, name, _ := strings.Cut(parts[0], " ")
		n, err := strconv.Atoi(line)
		if len(parts) != 3 || len(documents) == 0 || err != nil || n < 1 {
			return nil, fmt.Errorf("not \"LINE NAME | text | verdict\" below a document: %s", text)
		}
		d := &documents[len(documents)-1]
		r := row{id: d.number + "/" + name, line: n, text: parts[1]}
		if parts[2] != "as written" {
			if r.where, r.reason, err = difference(parts[2], root); err != nil {
				return nil, fmt.Errorf("%s: %w", r.id, err)
			}
		}
		if seen[r.id] {
			return nil, fmt.Errorf("two rows are called %s", r.id)
		}
		seen[r.id] = true
		d.rows = append(d.rows, r)
	}
	for _, d := range documents {
		slices.SortStableFunc(d.rows, func(a, b row) int { return cmp.Compare(a.line, b.line) })
	}
	return documents, nil
}

// difference returns the page and the reason of a verdict "differs".
func difference(verdict string, root fs.FS) (where, reason string, err error) {
	mark, reason, reasoned := strings.Cut(verdict, ": ")
	word, page, _ := strings.Cut(mark, " ")
	glob := "docs/decisions/" + page + "-*.md"
	if dialect, ok := strings.CutPrefix(page, "README:"); ok {
		glob = "dialect/" + dialect + "/README.md"
	}
	pages, err := fs.Glob(root, glob)
	if err != nil || word != "differs" || !reasoned || len(pages) != 1 {
		return "", "", fmt.Errorf("the verdict %q is not one of as written, differs NNNN: reason, differs README:DIALECT: reason", verdict)
	}
	return pages[0], reason, nil
}

// A test names rows in lines "covers: ID ID…" of a comment: of a test function, or at the top
// of a transcript.
type test struct {
	file   string // below the root
	name   string // of the function; empty for a transcript
	covers []string
}

var (
	coversLine = regexp.MustCompile(`^(?:// |# )?covers: (.+)$`)
	testFunc   = regexp.MustCompile(`^func (?:\([^)]*\) )?([Tt]est\w*)\(`)
)

// findTests returns the tests below root that name rows, ordered by file.
func findTests(root fs.FS) ([]test, error) {
	var tests []test
	err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, ".txtar"):
			return nil
		}
		data, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		found, err := testsOf(root, file, string(data))
		tests = append(tests, found...)
		return err
	})
	return tests, err
}

// testsOf returns the tests of one file that name rows.
func testsOf(root fs.FS, file, text string) (tests []test, err error) {
	var covers []string
	rest := text
	for line := range strings.Lines(text) {
		rest = rest[len(line):]
		line = strings.TrimRight(line, "\r\n")
		if m := coversLine.FindStringSubmatch(line); m != nil {
			covers = append(covers, strings.Fields(m[1])...)
		}
		if m := testFunc.FindStringSubmatch(line); m != nil && covers != nil {
			t := test{file: file, name: m[1], covers: covers}
			body, _, _ := strings.Cut(rest, "\n}")
			if err := t.gated(root, body); err != nil {
				return nil, err
			}
			tests, covers = append(tests, t), nil
		}
	}
	switch {
	case covers == nil:
	case path.Ext(file) == ".txtar":
		tests = append(tests, test{file: file, covers: covers})
	default:
		return nil, fmt.Errorf("%s: no test function follows \"covers: %s\"", file, strings.Join(covers, " "))
	}
	return tests, nil
}

// gated returns an error for a function that the gate does not run: one that asks for a program or
// a document that the gate does not have, or a part of a test that no other function names.
func (t test) gated(root fs.FS, body string) error {
	if strings.Contains(body, `os.Getenv("SEQUENT_`) {
		return fmt.Errorf("%s: %s shows rows, and the gate does not run it", t.file, t.name)
	}
	if strings.HasPrefix(t.name, "Test") {
		return nil
	}
	files, err := fs.Glob(root, path.Dir(t.file)+"/*_test.go")
	if err != nil {
		return err
	}
	uses := 0
	for _, file := range files {
		data, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		uses += len(regexp.MustCompile(`\b`+t.name+`\b`).FindAll(data, -1))
	}
	if uses < 2 {
		return fmt.Errorf("%s: no test calls %s, which shows rows", t.file, t.name)
	}
	return nil
}
