package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/index"
)

func TestSemantic(t *testing.T) {
	t.Parallel()
	e := &wordsEmbedder{size: 512}
	b := newBox(t, index.Config{Embedder: e, Model: "words"}, library)
	r := b.sync()
	if len(e.texts) != len(library) || r.Warning != "" {
		t.Errorf("%+v", r)
	}
	got := b.search(index.Query{Text: "a cache forgetting answers", Mode: index.Semantic})
	if len(got.Hits) == 0 || got.Hits[0].URI != "memory://tech/cache.md" || got.Warning != "" {
		t.Fatalf("%+v", got)
	}
	for i, h := range got.Hits {
		if h.Score != h.Semantic || h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > got.Hits[i-1].Score {
			t.Errorf("hit %d: %+v", i, h)
		}
	}
	if n := b.search(index.Query{Text: "a cache forgetting answers", Mode: index.Semantic, MinScore: got.Hits[0].Score}).Total; n != 1 {
		t.Errorf("%d notes are as close as the closest", n)
	}
	if got := b.find(index.Query{Text: "tokens", Mode: index.Semantic, Tags: []string{"security"}}); got != "tech/auth" {
		t.Errorf("with a tag found %s", got)
	}
	if h := b.search(index.Query{Text: "caches"}).Hits[0]; h.Semantic <= 0 || h.Text <= 0 {
		t.Errorf("hybrid: %+v", h)
	}
	// A query without words, which a model may understand.
	if _, err := b.Search(t.Context(), index.Query{Text: "👍", Mode: index.Semantic}, nil); err != nil {
		t.Error(err)
	}
}

// The model is asked for each text once.
func TestEmbeddingsAreKept(t *testing.T) {
	t.Parallel()
	e := &wordsEmbedder{size: 64}
	cfg := index.Config{Embedder: e, Model: "words"}
	b := newBox(t, cfg, map[string]string{
		"a.md": "one text", "b.md": "one text", "c.md": strings.Repeat("long paragraph of words\n\n", 300),
	})
	asked := func(want int, what string) {
		t.Helper()
		n := len(e.texts)
		b.sync()
		if got := len(e.texts) - n; got != want {
			t.Errorf("%s: asked for %d texts, want %d", what, got, want)
		}
	}
	asked(4, "first sync") // a and b have other titles; c has four passages, three of them the same
	asked(0, "second sync")
	b.write("d.md", "# a\n\none text")
	b.remove("b.md")
	asked(1, "new note")
	b.write("c.md", strings.Repeat("long paragraph of words\n\n", 300)+"and one more")
	asked(1, "changed end")
	b.write("b.md", "one text")
	asked(1, "a note that comes back")

	again := &box{t: t, dir: b.dir}
	again.open(cfg)
	b = again
	asked(0, "another process")
}

func TestModelChanges(t *testing.T) {
	t.Parallel()
	small, large := &wordsEmbedder{size: 32}, &wordsEmbedder{size: 64}
	b := newBox(t, index.Config{}, library)
	b.sync()
	use := func(e index.Embedder, model string) *box {
		next := &box{t: t, dir: b.dir}
		next.open(index.Config{Embedder: e, Model: model})
		return next
	}
	for i, other := range []*box{use(large, "large"), use(small, "small"), use(large, "large")} {
		other.sync()
		if r := other.search(index.Query{Text: "cache", Mode: index.Semantic}); r.Hits[0].URI != "memory://tech/cache.md" || r.Warning != "" {
			t.Errorf("model %d: %+v", i, r)
		}
	}
	// A model that returns vectors of another size under the old name.
	changed := use(small, "large")
	if r := changed.search(index.Query{Text: "cache", Mode: index.Semantic}); r.Total != 0 || !strings.Contains(r.Warning, "vault rebuild") {
		t.Errorf("vectors of two sizes: %+v", r)
	}
	if r, err := changed.Rebuild(t.Context(), nil); err != nil || r.Warning != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if r := changed.search(index.Query{Text: "caches", Mode: index.Semantic}); r.Hits[0].URI != "memory://tech/cache.md" || r.Warning != "" {
		t.Errorf("%+v", r)
	}
}

// A search by meaning finds notes that were written since the last sync.
func TestChangesAreEmbedded(t *testing.T) {
	t.Parallel()
	e := &wordsEmbedder{size: 512}
	b := newBox(t, index.Config{Embedder: e, Model: "words"}, library)
	b.sync()
	b.write("new.md", "gophers dig tunnels")
	e.fail = errors.New("not now")
	if r := b.sync(); r.Warning == "" {
		t.Errorf("%+v", r)
	}
	e.fail = nil
	if r := b.search(index.Query{Text: "a tunnel of gophers", Mode: index.Semantic}); r.Hits[0].URI != "memory://new.md" || r.Warning != "" {
		t.Errorf("%+v", r)
	}
	for i := range 100 {
		b.write(fmt.Sprintf("many/%d.md", i), fmt.Sprintf("text %d", i))
	}
	if r := b.search(index.Query{Text: "gophers"}); r.Hits[0].URI != "memory://new.md" || !strings.Contains(r.Warning, "36 of 109 notes have no embeddings yet") {
		t.Errorf("of many new notes one search embeds some: %+v", r)
	}
}

// An embedFunc is an embedding model.
type embedFunc func(ctx context.Context, texts []string) ([][]float32, error)

func (e embedFunc) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e(ctx, texts)
}

// A model that fails, hangs or breaks the rules of Embedder is reported, and does no harm to
// searches by words.
func TestBadEmbedders(t *testing.T) {
	t.Parallel()
	always := func(vectors func(texts []string) [][]float32) embedFunc {
		return func(_ context.Context, texts []string) ([][]float32, error) { return vectors(texts), nil }
	}
	inf := float32(math.Inf(1))
	for name, e := range map[string]embedFunc{
		"fails": func(context.Context, []string) ([][]float32, error) {
			return nil, errors.New("the secret address refuses")
		},
		"hangs": func(ctx context.Context, texts []string) ([][]float32, error) {
			if len(texts) > 1 { // not those of a query
				return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"none":         always(func([]string) [][]float32 { return nil }),
		"one too many": always(func(texts []string) [][]float32 { return make([][]float32, len(texts)+1) }),
		"empty":        always(func(texts []string) [][]float32 { return make([][]float32, len(texts)) }),
		"infinite":     always(func(texts []string) [][]float32 { return slices.Repeat([][]float32{{1, inf}}, len(texts)) }),
		"several sizes": always(func(texts []string) [][]float32 {
			return append(slices.Repeat([][]float32{{1, 2}}, len(texts)-1), []float32{1})
		}),
		"all of nothing": always(func(texts []string) [][]float32 { return slices.Repeat([][]float32{{0, 0}}, len(texts)) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, index.Config{Embedder: e, Model: "bad"}, library)
			b.SetEmbedTimeout(10 * time.Millisecond)
			good := name == "all of nothing"
			if r := b.sync(); (r.Warning == "") != (good || name == "hangs") || r.Notes != len(library) || strings.Contains(r.Warning, "secret") {
				t.Errorf("%+v", r)
			}
			got := b.search(index.Query{Text: "cache"})
			if got.Total == 0 || got.Hits[0].URI != "memory://tech/cache.md" || (got.Warning == "") != good || strings.Contains(got.Warning, "secret") {
				t.Errorf("%+v", got)
			}
			if !good && name != "hangs" {
				_, err := b.Search(t.Context(), index.Query{Text: "cache", Mode: index.Semantic}, nil)
				wantCode(t, err, index.CodeEmbeddingsFailed, "")
			}
		})
	}
}
