package index_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent/internal/judged"
	"github.com/sequent-dev/sequent/textsearch"
	"github.com/sequent-dev/sequent/vault/index"
)

var update = flag.Bool("update", false, "rewrite the section on notes of docs/search-quality.md")

// wordsEmbedder is an embedding model without knowledge of language: a vector counts
// the words of a text and their first letters, hashed into its components.
type wordsEmbedder struct {
	size  int
	texts []string // all texts that it was asked for
	fail  error
}

// Embed implements [index.Embedder].
func (e *wordsEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if e.fail != nil {
		return nil, e.fail
	}
	e.texts = append(e.texts, texts...)
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, e.size)
		tokens := textsearch.Tokens(text)
		for j, token := range tokens {
			out[i][e.place(token)]++
			if r := []rune(token); len(r) > 4 {
				out[i][e.place(string(r[:4]))]++
			}
			if j > 0 && textsearch.Unspaced(token) {
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
	queries, err := judged.Queries(filepath.Join("testdata", "quality", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 60 || len(queries) < 30 {
		t.Fatalf("%d notes and %d queries", len(files), len(queries))
	}
	for _, q := range queries {
		for name := range q.Grades {
			if files[name+".md"] == "" {
				t.Errorf("%q: there is no note %s", q.Text, name)
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
		{"word vectors alone", embedded, index.Semantic, 0.77},
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, pageHead, len(files), len(queries))
	sums := make([]float64, len(columns))
	for _, q := range queries {
		fmt.Fprintf(&page, "| %s |", strings.ReplaceAll(q.Text, "|", `\|`))
		for i, c := range columns {
			got := strings.Fields(c.box.find(index.Query{Text: q.Text, Mode: c.mode}))
			score := q.NDCG(got)
			sums[i] += score
			fmt.Fprintf(&page, " %.2f |", score)
			if testing.Verbose() && score < 0.8 {
				t.Logf("%s, %s: %.2f %q", c.name, q.Text, score, got)
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
	page.WriteString("\n")
	equal, err := judged.Section(filepath.Join("..", "..", "docs", "search-quality.md"), "notes", page.String(), *update)
	if err != nil {
		t.Fatal(err)
	}
	if !equal {
		t.Error("docs/search-quality.md is stale: run go test ./vault/index -run TestQuality -update")
	}
}

const pageHead = `
%d notes in English, Chinese and Japanese and %d queries are in ` + "`vault/index/testdata/quality`" + `. For each query, the notes that
answer it have a grade from 1 to 3. The test fails below 0.87, with vectors alone below 0.77.

*Full text* ranks by words, *hybrid* by words and links. One column adds vectors to that, and the last one ranks by vectors alone, as
the mode Semantic does. The vectors only count words: no embedding model is part of the tests. They show that vectors do no harm, not
what a good embedding model gains.

| query | full text | hybrid | hybrid with word vectors | word vectors alone |
|---|---|---|---|---|
`
