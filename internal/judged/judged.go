// Package judged measures how well searches answer queries whose answers were graded
// by hand, and writes the results to a page of the documentation. Only tests use it.
package judged

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Query has the grades of the documents that answer it, 1 to 3.
type Query struct {
	Text   string
	Grades map[string]int // by the name of the document
}

// Queries reads a file with a line "? text" for each query, followed by a line
// "grade name" for each document that answers it. Lines that begin with # are comments.
func Queries(file string) ([]Query, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []Query
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		first, rest, _ := strings.Cut(line, " ")
		if first == "?" {
			all = append(all, Query{rest, make(map[string]int)})
			continue
		}
		grade, err := strconv.Atoi(first)
		if err != nil || grade < 1 || grade > 3 || len(all) == 0 {
			return nil, fmt.Errorf("%s: %q has no grade", file, line)
		}
		all[len(all)-1].Grades[rest] = grade
	}
	return all, nil
}

// NDCG returns nDCG@10 of an order of documents: 1 if no order of the first ten is
// better, 0 if none of them answers the query.
func (q Query) NDCG(got []string) float64 {
	gain := func(i, grade int) float64 { return (math.Pow(2, float64(grade)) - 1) / math.Log2(float64(i+2)) }
	sum := 0.0
	for i, name := range got[:min(len(got), 10)] {
		sum += gain(i, q.Grades[name])
	}
	best := 0.0
	for i, grade := range slices.Backward(slices.Sorted(maps.Values(q.Grades))) {
		if i = len(q.Grades) - 1 - i; i < 10 {
			best += gain(i, grade)
		}
	}
	return sum / best
}

// Section compares the named section of a page with text, or replaces it if update is
// set. A section is between the lines <!-- begin NAME --> and <!-- end NAME -->. It
// reports whether they are equal.
func Section(file, name, text string, update bool) (equal bool, err error) {
	page, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, ok := bytes.Cut(page, []byte(begin))
	old, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return false, fmt.Errorf("%s has no section %s", file, name)
	}
	if string(old) == text || !update {
		return string(old) == text, nil
	}
	return true, os.WriteFile(file, slices.Concat(before, []byte(begin), []byte(text), []byte(end), after), 0o644)
}
