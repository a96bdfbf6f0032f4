package index_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/vault/index"
)

// A hybrid search leaves out notes that share no word, no link and no meaning
// with the query, whatever cosine the model gives to unrelated texts.
func TestHybridFloor(t *testing.T) {
	t.Parallel()
	topics := [][]string{{"throttl", "too many calls", "quota"}} // by their words
	files := map[string]string{
		"quota.md": "A client may make so many calls before the quota is used up.",
		"calls.md": "The service answers 429 when there are too many calls.",
		"link.md":  "Part of the [[throttling]] work.",
	}
	for i := len(files); i < 41; i++ {
		word := fmt.Sprintf("subject%d", i)
		topics = append(topics, []string{word + " "})
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("# %s \n\nAll about %s and how it is done.", word, word)
	}
	for _, alike := range []float64{0, 0.3, 0.7, 0.9} { // the cosine of texts about different topics
		t.Run(fmt.Sprint(alike), func(t *testing.T) {
			t.Parallel()
			model := embedFunc(func(_ context.Context, texts []string) (out [][]float32, err error) {
				for _, text := range texts {
					vector := make([]float32, len(topics)+2)
					vector[0] = float32(math.Sqrt(alike))
					vector[1+slices.IndexFunc(topics, func(words []string) bool {
						return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
					})+1] = float32(math.Sqrt(1 - alike))
					out = append(out, vector)
				}
				return out, nil
			})
			b := newBox(t, index.Config{Embedder: model, Model: "topics"}, files)
			b.sync()
			if got, want := b.find(index.Query{Text: "throttling", PageSize: 50}), "link calls quota"; got != want {
				t.Errorf("found %s\nwant %s", got, want)
			}
			r := b.search(index.Query{Text: "how is throttling done", PageSize: 50})
			if r.Total != 41 {
				t.Errorf("%d notes have a word of the query", r.Total)
			}
			for _, h := range r.Hits[3:] {
				if h.Score > r.Hits[2].Score/2 {
					t.Errorf("%s has only common words and the score %v; the last good hit has %v", h.URI, h.Score, r.Hits[2].Score)
				}
			}
			if r := b.search(index.Query{Text: "xyzzy"}); r.Total != 0 {
				t.Errorf("a query that matches nothing finds %d notes: %+v", r.Total, r.Hits[0])
			}
		})
	}
}
