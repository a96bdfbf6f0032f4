package coverage

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// page returns docs/coverage.md. Ran has the transports over which each transcript ran. It returns
// an error if a row is shown by nothing, or if a test names a row that does not exist.
func page(documents []document, tests []test, ran map[string][]string) (string, error) {
	shown := make(map[string][]test)
	for _, t := range tests {
		for _, id := range t.covers {
			shown[id] = append(shown[id], t)
		}
	}

	var b strings.Builder
	b.WriteString(`# What the seed documents say, and what shows it

The tool began with five documents that describe forms of the sequential-thinking tool. This page has a row for each thing
that they say, with the line of the document. ` + "`go test ./internal/coverage`" + ` runs the transcripts that show a row over each
transport that can carry them: standard input, HTTP with the sessions of a client before 2026-07-28, and HTTP 2026-07-28 with
a scope in the URL and without one. The column *Run over* is what ran. A row without a transport is about a library, a file or
another program; the tests that are named for it exist, and the gate runs them.

A client without a scope reaches the dialects that name their sessions; the others refuse it.

| Document | Rows | As written | Differ on purpose | Run over a transport | Shown by a test |
| --- | --- | --- | --- | --- | --- |
`)
	total := [5]int{}
	var tables strings.Builder
	for _, d := range documents {
		count := [5]int{len(d.rows)}
		fmt.Fprintf(&tables, "\n## %s %s\n\n| Line | Row | Verdict | Run over | Shown by |\n| --- | --- | --- | --- | --- |\n", d.number, d.title)
		for _, r := range d.rows {
			by := shown[r.id]
			if by == nil {
				return "", fmt.Errorf("no test shows %s", r.id)
			}
			delete(shown, r.id)
			verdict := "as written"
			if count[1]++; r.reason != "" {
				count[1]--
				count[2]++
				verdict = fmt.Sprintf("[differs](%s): %s", fromDocs(r.where), r.reason)
			}
			over := reached(by, ran)
			if count[3]++; over == "" {
				count[3]--
				count[4]++
			}
			fmt.Fprintf(&tables, "| %d | %s | %s | %s | %s |\n", r.line, r.text, verdict, over, links(by))
		}
		cells := []string{d.number + " " + d.title}
		for i, n := range count {
			cells = append(cells, fmt.Sprint(n))
			total[i] += n
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for id, by := range shown {
		return "", fmt.Errorf("%s covers %s, which is not in rows.txt", by[0].file, id)
	}
	fmt.Fprintf(&b, "| All | %d | %d | %d | %d | %d |\n", total[0], total[1], total[2], total[3], total[4])
	return b.String() + tables.String(), nil
}

// reached returns the transports over which any of the transcripts ran.
func reached(tests []test, ran map[string][]string) string {
	var over []string
	for _, tr := range transports {
		if slices.ContainsFunc(tests, func(t test) bool { return slices.Contains(ran[t.file], tr.name) }) {
			over = append(over, tr.name)
		}
	}
	if len(over) == len(transports) {
		return "all"
	}
	return strings.Join(over, ", ")
}

// fromDocs returns the link to a file from a page in docs.
func fromDocs(file string) string {
	if inside, ok := strings.CutPrefix(file, "docs/"); ok {
		return inside
	}
	return "../" + file
}

// links returns links to tests.
func links(tests []test) string {
	var list []string
	for _, t := range tests {
		name := t.name
		if name == "" {
			name = strings.TrimSuffix(path.Base(t.file), ".txtar")
		}
		list = append(list, fmt.Sprintf("[%s](%s)", name, fromDocs(t.file)))
	}
	return strings.Join(list, ", ")
}
