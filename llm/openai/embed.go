package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/sequent-dev/sequent/llm"
)

// The environment variables that configure an [Embedder].
const (
	EmbeddingsURL   = "SEQUENT_EMBEDDINGS_URL"   // base URL of the service
	EmbeddingsModel = "SEQUENT_EMBEDDINGS_MODEL" // model name
	EmbeddingsKey   = "SEQUENT_EMBEDDINGS_KEY"   // API key, if the service requires one
)

// The limits of one request, small enough for every known service.
const (
	maxBatchTexts = 64
	maxBatchBytes = 128 << 10
)

// An Embedder converts texts to vectors. It is safe for concurrent use.
type Embedder struct {
	caller
	model string
}

// NewEmbedder returns an embedder for the service in the environment, or nil if
// neither EmbeddingsURL nor EmbeddingsModel is set. It ignores cfg.Model.
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
			Code: llm.CodeNoModel, Msg: "only one of " + EmbeddingsURL + " and " + EmbeddingsModel + " is set",
			Fix: "set both or neither",
		}
	}
	service := Provider{
		Title: "the embeddings service", BaseURL: "http://localhost:11434/v1", BaseVar: EmbeddingsURL,
		KeyVars: []string{EmbeddingsKey}, Keyless: true,
	}
	at, err := service.endpoint(cfg.Getenv)
	if err != nil {
		return nil, err
	}
	return &Embedder{newCaller(at, cfg), model}, nil
}

// Model returns the model's name. Vectors of different models are not comparable.
func (e *Embedder) Model() string { return e.model }

// Embed returns one vector per text, in the order of the texts and all of the same
// length. It sends the texts in batches, one after the other. If a batch fails,
// Embed returns no vectors.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < maxBatchTexts && (n == 0 || size+len(texts[n]) <= maxBatchBytes) {
			size += len(texts[n])
			n++
		}
		var vectors [][]float32
		err := e.retry(ctx, func(ctx context.Context) (f *failure) {
			vectors, f = e.embed(ctx, texts[:n])
			return f
		}, func(llm.Retry) bool { return true })
		if err != nil {
			return nil, err
		}
		if all != nil && len(vectors[0]) != len(all[0]) {
			return nil, e.badAnswer(fmt.Errorf("vectors have %d and %d numbers", len(all[0]), len(vectors[0]))).err
		}
		all, texts = append(all, vectors...), texts[n:]
	}
	return all, nil
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, *failure) {
	// Some services reject an empty text.
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = cmp.Or(texts[i], " ")
	}
	var res struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	q := object{"input": texts, "model": e.model, "encoding_format": "float"}
	f := e.post(ctx, "/embeddings", q, false, func(data []byte) error { return json.Unmarshal(data, &res) })
	if f != nil {
		return nil, f
	}
	vectors := make([][]float32, len(texts))
	for _, d := range res.Data {
		if d.Index < 0 || d.Index >= len(texts) || vectors[d.Index] != nil {
			return nil, e.badAnswer(fmt.Errorf("index %d is out of range or repeated", d.Index))
		}
		vectors[d.Index] = d.Embedding
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, e.badAnswer(fmt.Errorf("%d vectors for %d texts, or vectors of different lengths", len(res.Data), len(texts)))
		}
	}
	return vectors, nil
}
