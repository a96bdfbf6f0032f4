package index_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/words"
)

var update = flag.Bool("update", false, "rewrite docs/search-quality.md")

// A judged query has the grades of the notes that answer it.
type judged struct {
	text   string
	grades map[string]int
}

func judgedQueries(t *testing.T) []judged {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "quality", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []judged
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		first, rest, _ := strings.Cut(line, " ")
		if first == "?" {
			all = append(all, judged{rest, make(map[string]int)})
			continue
		}
		grade, err := strconv.Atoi(first)
		if err != nil || grade < 1 || grade > 3 {
			t.Fatalf("%q has no grade", line)
		}
		all[len(all)-1].grades[rest] = grade
	}
	return all
}

// ndcg returns nDCG@10 of an order of notes: 1 if no order is better.
func ndcg(got []string, grades map[string]int) float64 {
	gain := func(i, grade int) float64 { return (math.Pow(2, float64(grade)) - 1) / math.Log2(float64(i+2)) }
	sum := 0.0
	for i, name := range got[:min(len(got), 10)] {
		sum += gain(i, grades[name])
	}
	best := 0.0
	for i, grade := range slices.Backward(slices.Sorted(maps.Values(grades))) {
		if i = len(grades) - 1 - i; i < 10 {
			best += gain(i, grade)
		}
	}
	return sum / best
}

func TestNDCG(t *testing.T) {
	t.Parallel()
	grades := map[string]int{"a": 3, "b": 2, "c": 1}
	for _, test := range []struct {
		got  string
		want float64
	}{
		{"a b c", 1},
		{"a b c x y", 1},
		{"", 0},
		{"x y z", 0},
		{"c b a", (1 + 3/math.Log2(3) + 7/2.0) / (7 + 3/math.Log2(3) + 1/2.0)},
		{"x x x x x x x x x x a", 0},
	} {
		if got := ndcg(strings.Fields(test.got), grades); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%q: %v, want %v", test.got, got, test.want)
		}
	}
}

// wordsEmbedder is an embedding model without knowledge of language: a vector counts
// the words of a text and their first letters, hashed into its components.
type wordsEmbedder struct {
	size  int
	texts []string // all texts that it was asked for
	calls int
	fail  error
}

// Embed implements [index.Embedder].
func (e *wordsEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	e.calls++
	if e.fail != nil {
		return nil, e.fail
	}
	e.texts = append(e.texts, texts...)
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, e.size)
		tokens := words.Tokens(text)
		for j, token := range tokens {
			out[i][e.place(token)]++
			if r := []rune(token); len(r) > 4 {
				out[i][e.place(string(r[:4]))]++
			}
			if j > 0 && words.Unspaced(token) {
				out[i][e.place(tokens[j-1]+token)]++
			}
		}
	}
	return out, nil
}

func (e *wordsEmbedder) place(s string) int {
	h := fnv.New32a()
	h.Write([]byte(s))
	return int(h.Sum32() % uint32(e.size))
}

// TestQuality measures how well the judged queries are answered. The floors are a
// little below the measured figures.
func TestQuality(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "quality", "notes.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	queries := judgedQueries(t)
	if len(files) < 60 || len(queries) < 30 {
		t.Fatalf("%d notes and %d queries", len(files), len(queries))
	}
	for _, q := range queries {
		for name := range q.grades {
			if files[name+".md"] == "" {
				t.Errorf("%q: there is no note %s", q.text, name)
			}
		}
	}
	plain := newBox(t, index.Config{}, files)
	embedded := newBox(t, index.Config{Embedder: &wordsEmbedder{size: 2048}, Model: "words"}, files)
	columns := []struct {
		name  string
		box   *box
		mode  index.Mode
		floor float64
	}{
		{"full text", plain, index.FullText, 0.87},
		{"hybrid", plain, index.Hybrid, 0.87},
		{"hybrid with word vectors", embedded, index.Hybrid, 0.87},
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, pageHead, len(files), len(queries))
	sums := make([]float64, len(columns))
	for _, q := range queries {
		fmt.Fprintf(&page, "| %s |", strings.ReplaceAll(q.text, "|", `\|`))
		for i, c := range columns {
			got := strings.Fields(c.box.find(index.Query{Text: q.text, Mode: c.mode}))
			score := ndcg(got, q.grades)
			sums[i] += score
			fmt.Fprintf(&page, " %.2f |", score)
			if testing.Verbose() && score < 0.8 {
				t.Logf("%s, %s: %.2f %q", c.name, q.text, score, got)
			}
		}
		page.WriteString("\n")
	}
	page.WriteString("| **mean** |")
	for i, c := range columns {
		mean := sums[i] / float64(len(queries))
		fmt.Fprintf(&page, " **%.3f** |", mean)
		if mean < c.floor {
			t.Errorf("%s: nDCG@10 is %.3f, below %.2f", c.name, mean, c.floor)
		}
		t.Logf("%s: nDCG@10 %.3f", c.name, mean)
	}
	page.WriteString("\n" + pageFoot)

	name := filepath.Join("..", "..", "docs", "search-quality.md")
	if *update {
		if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if !bytes.Equal(old, page.Bytes()) {
		t.Errorf("%s is stale: run go test ./vault/index -run TestQuality -update", name)
	}
}

const pageHead = `# How well search finds notes

<!-- Written by go test ./vault/index -run TestQuality -update -->

This page shows how well ` + "`search_memories`" + ` and ` + "`sequent search --vault`" + ` order the notes of a vault, and how fast they are.
Run both measurements yourself:

` + "```sh" + `
go test -v -run TestQuality ./vault/index     # the table below; part of make test
make figures                                  # a vault of 10,000 notes; takes a minute
` + "```" + `

## Quality

%d notes in English, Chinese and Japanese and %d queries are in ` + "`vault/index/testdata/quality`" + `. For each query, the notes that
answer it have a grade from 1 to 3. The figure is nDCG@10: 1 if no order of the first ten hits would be better, 0 if none of them
answers the query. The test fails below 0.87.

*Full text* ranks by words, *hybrid* by words and links. The third column adds vectors that only count words: it shows that vectors
do no harm, not what an embedding model gains.

| query | full text | hybrid | hybrid with word vectors |
|---|---|---|---|
`

const pageFoot = `
Some notes answer a query in another language than it is asked in, or in other words. Links find some of them; the others need an
embedding model. The notes, queries and grades were written before the first search was run. The ranking was then improved by its
failures, so the figures flatter it somewhat.

## Speed

Medians on two cores of a virtual machine, from ` + "`make figures`" + `: 10,000 notes of 250 words on average, with 50,000 links.

| what | time | limit |
|---|---|---|
| first sync | 5.6 s | 8 s |
| sync without changes | 38 ms | 100 ms |
| refresh of one changed note | 14 ms | 50 ms |
| search for a word that is in 5 notes | 0.8 ms | 100 ms |
| search for three words that are in nearly all notes | 62 ms | 100 ms |
| hybrid search for six words | 63 ms | 100 ms |
| ` + "`build_context`" + `, depth 2, of a concept in 418 notes | 4 ms | 50 ms |

The index takes 37 MB. A changed note is indexed as a whole, and its old words are erased from the file; for a note of 20,000
words this takes about 0.3 s.

## How notes are ranked

A note matches if it has one of the query's words, apart from English function words. Plural, past tense and -ing forms of English
words are the same word, unless they are quoted. Chinese and Japanese text is searched by pairs of characters. Half of the text
score is the share of the query's words that a note has, rare words counting more. Half is its BM25 score, from SQLite's FTS5, as a
share of the highest possible score; words in the title, file name, aliases and tags count three times.

A hybrid score joins words, links and meaning as independent evidence: 1 − (1 − text)(1 − links ÷ 2)(1 − meaning ÷ 2). A note
without a word and a link of the query is a hit only if it is near in meaning: with 0 for the average cosine of two passages of the
vault and 1 for equal texts, at least 0.2.
`
