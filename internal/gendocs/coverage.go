package gendocs

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Behaviour is something that a seed document says the tool does.
type Behaviour struct {
	ID     string // seed and name, such as 002/continue-with-guidance
	Text   string
	Mark   string // works, differs or missing
	Reason string // why it differs, and where that is written; or what is missing
	Where  string // page of the reason, below the root of the repository; for differs
}

// A Document is a seed document with its behaviours.
type Document struct {
	Number     string
	Title      string
	Behaviours []Behaviour
}

// ReadBehaviours reads the list of behaviours. A line "## NUMBER TITLE" begins a document.
// The others are "name | text | mark", where mark is one of
//
//	works
//	differs NNNN: reason            (NNNN is a decision)
//	differs README:DIALECT: reason  (the README of the dialect)
//	missing: reason
//
// Root is the repository, in which the pages are looked up.
func ReadBehaviours(list []byte, root fs.FS) ([]Document, error) {
	var documents []Document
	seen := make(map[string]bool)
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		line := lines.Text()
		if title, ok := strings.CutPrefix(line, "## "); ok {
			number, title, _ := strings.Cut(title, " ")
			documents = append(documents, Document{Number: number, Title: title})
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 || len(documents) == 0 {
			return nil, fmt.Errorf("the line is not \"name | text | mark\" below a document: %s", line)
		}
		d := &documents[len(documents)-1]
		b := Behaviour{ID: d.Number + "/" + parts[0], Text: parts[1]}
		if err := b.mark(parts[2], root); err != nil {
			return nil, err
		}
		if seen[b.ID] {
			return nil, fmt.Errorf("two behaviours are called %s", b.ID)
		}
		seen[b.ID] = true
		d.Behaviours = append(d.Behaviours, b)
	}
	return documents, nil
}

func (b *Behaviour) mark(text string, root fs.FS) error {
	mark, reason, reasoned := strings.Cut(text, ": ")
	word, where, _ := strings.Cut(mark, " ")
	b.Mark, b.Reason = word, reason
	switch word {
	case "works":
		if mark == "works" && !reasoned {
			return nil
		}
	case "missing":
		if mark == "missing" && reasoned {
			return nil
		}
	case "differs":
		pages, err := fs.Glob(root, "docs/decisions/"+where+"-*.md")
		if dialect, ok := strings.CutPrefix(where, "README:"); ok {
			pages, err = fs.Glob(root, "dialect/"+dialect+"/README.md")
		}
		if err == nil && len(pages) == 1 && reasoned {
			b.Where = pages[0]
			return nil
		}
	}
	return fmt.Errorf("%s: the mark %q is not one of works, differs NNNN: reason, differs README:DIALECT: reason, missing: reason", b.ID, text)
}

var (
	coversLine = regexp.MustCompile(`^(?:// |# )?covers: (.+)$`)
	testFunc   = regexp.MustCompile(`^func (?:\([^)]*\) )?([Tt]est\w*)\(`)
)

// A Test names behaviours in lines "covers: ID ID…" of a comment: of a test function, or at
// the top of a transcript.
type Test struct {
	File   string // below the root
	Name   string // of the function; empty for a transcript
	Covers []string
}

// FindTests returns the tests below root that name behaviours, ordered by file.
func FindTests(root fs.FS) ([]Test, error) {
	var tests []Test
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
		found, err := testsOf(file, string(data))
		tests = append(tests, found...)
		return err
	})
	return tests, err
}

// testsOf returns the tests of one file that name behaviours.
func testsOf(file, text string) (tests []Test, err error) {
	var covers []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := coversLine.FindStringSubmatch(line); m != nil {
			covers = append(covers, strings.Fields(m[1])...)
		}
		if m := testFunc.FindStringSubmatch(line); m != nil && covers != nil {
			tests = append(tests, Test{File: file, Name: m[1], Covers: covers})
			covers = nil
		}
	}
	switch {
	case covers == nil:
	case path.Ext(file) == ".txtar":
		tests = append(tests, Test{File: file, Covers: covers})
	default:
		return nil, fmt.Errorf("%s: no test function follows \"covers: %s\"", file, strings.Join(covers, " "))
	}
	return tests, nil
}

// Coverage returns the page that says for each behaviour how it is met and which tests
// show it. It returns an error if a test names an unknown behaviour or a missing one.
func Coverage(documents []Document, tests []Test) (string, error) {
	shown := make(map[string][]Test)
	for _, t := range tests {
		for _, id := range t.Covers {
			shown[id] = append(shown[id], t)
		}
	}
	known := make(map[string]Behaviour)
	for _, d := range documents {
		for _, b := range d.Behaviours {
			known[b.ID] = b
		}
	}
	for id, by := range shown {
		if b, ok := known[id]; !ok || b.Mark == "missing" {
			return "", fmt.Errorf("%s covers %s, which is unknown or marked as missing in internal/gendocs/behaviours.txt", by[0].File, id)
		}
	}

	var b strings.Builder
	b.WriteString(`# Behaviours of the seed documents

The tool began with five documents that describe forms of the sequential-thinking tool. This page lists what they say, in
their order, how it is met, and which tests show it. Tests name the behaviours that they show; a behaviour that no test names
is marked as untested. The marks are judged by hand, the tests are run.

`)
	var rows, untested [][]string
	total := [5]int{}
	for _, d := range documents {
		count := [5]int{len(d.Behaviours)}
		for _, bh := range d.Behaviours {
			count[1+slices.Index([]string{"works", "differs", "missing"}, bh.Mark)]++
			if bh.Mark != "missing" && shown[bh.ID] == nil {
				count[4]++
				untested = append(untested, []string{"`" + bh.ID + "`", cell(bh.Text)})
			}
		}
		row := []string{d.Number + " " + d.Title}
		for i, n := range count {
			row = append(row, fmt.Sprint(n))
			total[i] += n
		}
		rows = append(rows, row)
	}
	rows = append(rows, []string{"All", fmt.Sprint(total[0]), fmt.Sprint(total[1]), fmt.Sprint(total[2]), fmt.Sprint(total[3]), fmt.Sprint(total[4])})
	table(&b, []string{"Document", "Behaviours", "Work as written", "Differ on purpose", "Missing", "Of these untested"}, rows)
	for _, d := range documents {
		fmt.Fprintf(&b, "## %s %s\n\n", d.Number, d.Title)
		var rows [][]string
		for _, bh := range d.Behaviours {
			rows = append(rows, []string{cell(bh.Text), bh.verdict(), links(shown[bh.ID], bh.Mark)})
		}
		table(&b, []string{"Behaviour", "Mark", "Shown by"}, rows)
	}
	if untested != nil {
		b.WriteString("## Untested\n\n")
		table(&b, []string{"Behaviour", ""}, untested)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// verdict returns the mark with its reason.
func (b Behaviour) verdict() string {
	switch b.Mark {
	case "differs":
		return fmt.Sprintf("[differs](%s): %s", fromDocs(b.Where), cell(b.Reason))
	case "missing":
		return "**missing**: " + cell(b.Reason)
	}
	return "works"
}

// fromDocs returns the link to a file from a page in docs.
func fromDocs(file string) string {
	if inside, ok := strings.CutPrefix(file, "docs/"); ok {
		return inside
	}
	return "../" + file
}

// links returns links to tests.
func links(tests []Test, mark string) string {
	if len(tests) == 0 && mark != "missing" {
		return "untested"
	}
	var list []string
	for _, t := range tests {
		name := t.Name
		if name == "" {
			name = strings.TrimSuffix(path.Base(t.File), ".txtar")
		}
		list = append(list, fmt.Sprintf("[%s](%s)", name, fromDocs(t.File)))
	}
	return strings.Join(list, ", ")
}
