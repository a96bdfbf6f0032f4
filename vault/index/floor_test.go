package index_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/vault/index"
)

// A topicEmbedder is an embedding model that knows a few topics by their words.
// Every text also has the same component, as it has with most models: the
// cosine of two texts about different topics is alike, and not 0.
type topicEmbedder struct {
	topics [][]string // the words of each topic
	alike  float64    // cosine of texts about different topics
}

// Embed implements [index.Embedder].
func (e *topicEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		vector := make([]float32, len(e.topics)+2)
		vector[0] = float32(math.Sqrt(e.alike))
		topic := 1 // texts about none of the topics
		for j, words := range e.topics {
			for _, w := range words {
				if strings.Contains(text, w) {
					topic = j + 2
				}
			}
		}
		vector[topic] = float32(math.Sqrt(1 - e.alike))
		out[i] = vector
	}
	return out, nil
}

// A hybrid search leaves out notes that share no word, no link and no meaning
// with the query, whatever cosine the model gives to unrelated texts.
func TestHybridFloor(t *testing.T) {
	t.Parallel()
	e := &topicEmbedder{topics: [][]string{{"throttl", "too many calls", "quota"}}}
	files := map[string]string{
		"quota.md": "A client may make so many calls before the quota is used up.",
		"calls.md": "The service answers 429 when there are too many calls.",
		"link.md":  "Part of the [[throttling]] work.",
	}
	for i := len(files); i < 41; i++ {
		word := fmt.Sprintf("subject%d", i)
		e.topics = append(e.topics, []string{word + " "})
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("# %s \n\nAll about %s and how it is done.", word, word)
	}
	for _, alike := range []float64{0, 0.3, 0.7, 0.9} {
		t.Run(fmt.Sprint(alike), func(t *testing.T) {
			t.Parallel()
			model := &topicEmbedder{e.topics, alike}
			b := newBox(t, index.Config{Embedder: model, Model: "topics"}, files)
			b.sync()
			r := b.search(index.Query{Text: "how is throttling done", PageSize: 50})
			if got, want := b.find(index.Query{Text: "throttling", PageSize: 50}), "link calls quota"; got != want {
				t.Errorf("found %s\nwant %s", got, want)
			}
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
