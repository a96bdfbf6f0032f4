package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/sequent-dev/sequent/llm"
)

// The variables of the environment that say where texts are embedded.
const (
	EmbeddingsURL   = "SEQUENT_EMBEDDINGS_URL"   // the base URL of the service
	EmbeddingsModel = "SEQUENT_EMBEDDINGS_MODEL" // the model
	EmbeddingsKey   = "SEQUENT_EMBEDDINGS_KEY"   // the key, where it wants one
)

// A request for embeddings holds so much, which every service takes.
const (
	batchTexts = 64
	batchBytes = 128 << 10
)

// An Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder struct {
	caller
	model string
}

// NewEmbedder returns an embedder for the service that the environment names, or
// nil if it names none. Of the Config, Model is not used.
func NewEmbedder(cfg Config) (*Embedder, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	url, model := cfg.Getenv(EmbeddingsURL), cfg.Getenv(EmbeddingsModel)
	if url == "" && model == "" {
		return nil, nil
	}
	if url == "" || model == "" {
		return nil, &llm.Error{
			Code: llm.CodeNoModel, Msg: "of " + EmbeddingsURL + " and " + EmbeddingsModel + " only one is set",
			Fix: "set both, or neither",
		}
	}
	service := Provider{
		Title: "the embeddings service", BaseURL: "http://localhost:11434/v1", BaseVar: EmbeddingsURL,
		KeyVars: []string{EmbeddingsKey}, Keyless: true,
	}
	at, err := service.locate(cfg.Getenv)
	if err != nil {
		return nil, err
	}
	return &Embedder{newCaller(at, cfg), model}, nil
}

// Model returns the name of the model: vectors of two models cannot be compared.
func (e *Embedder) Model() string { return e.model }

// Embed returns a vector for each text, all of the same length, in the order of
// the texts. Texts are sent in batches, one after the other; if one fails, there
// are none.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < batchTexts && (n == 0 || size+len(texts[n]) <= batchBytes) {
			size += len(texts[n])
			n++
		}
		var vectors [][]float32
		err := e.persist(ctx, func(ctx context.Context) (f *failure) {
			vectors, f = e.embed(ctx, texts[:n])
			return f
		}, func(llm.Retry) bool { return true })
		if err != nil {
			return nil, err
		}
		if all != nil && len(vectors[0]) != len(all[0]) {
			return nil, e.badAnswer(fmt.Errorf("vectors of %d and of %d numbers", len(all[0]), len(vectors[0])))
		}
		all, texts = append(all, vectors...), texts[n:]
	}
	return all, nil
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, *failure) {
	ctx, dog, release := watched(ctx, e.timeout)
	defer release()
	// Some services refuse a text of nothing.
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = cmp.Or(texts[i], " ")
	}
	x := &exchange{http: e.http, limit: e.maxBody, dog: dog}
	res, err := x.client(e.at).CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input: texts, Model: openai.EmbeddingModel(e.model), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	})
	if err != nil {
		return nil, e.failed(ctx, x, err)
	}
	vectors := make([][]float32, len(texts))
	for _, d := range res.Data {
		if d.Index < 0 || d.Index >= len(texts) || vectors[d.Index] != nil {
			return nil, &failure{err: e.badAnswer(errors.New("an index that was not asked for"))}
		}
		vectors[d.Index] = d.Embedding
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, &failure{err: e.badAnswer(fmt.Errorf("%d vectors for %d texts, or of different lengths", len(res.Data), len(texts)))}
		}
	}
	return vectors, nil
}
