// Package cooccur is a small embedding model for tests. It learns from a collection of
// texts which words occur together (random indexing of a matrix of positive mutual
// information), so texts with different words for one subject get near vectors as far as
// the collection shows that. It is deterministic and knows nothing but the collection.
//
// [Model.Handler] serves it over the protocol of Ollama's endpoint /v1/embeddings.
package cooccur

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/words"
)

// Name is the name under which [Model.Handler] serves the model.
const Name = "cooccur"

const (
	size    = 512 // numbers of a vector
	nonzero = 12  // of the random vector of a word
	window  = 12  // words before and after one that occur with it
	own     = 0.7 // share of a word's own random vector in its vector
)

// A Model embeds texts. It is safe for concurrent use.
type Model struct {
	vectors map[string][]float64 // of the words of the collection, of length 1
	rarity  map[string]float64
	unknown float64 // rarity of other words
}

// Train returns a model that has learnt from texts.
func Train(texts []string) *Model {
	m := &Model{vectors: make(map[string][]float64), rarity: make(map[string]float64)}
	pairs := make(map[string]map[string]float64)
	counts := make(map[string]float64)
	total := 0.0
	in := make(map[string]int) // texts with the word
	for _, text := range texts {
		tokens := tokensOf(text)
		for _, w := range distinct(tokens) {
			in[w]++
		}
		for i, w := range tokens {
			for j := max(i-window, 0); j < min(i+window+1, len(tokens)); j++ {
				if c := tokens[j]; c != w {
					if pairs[w] == nil {
						pairs[w] = make(map[string]float64)
					}
					pairs[w][c]++
					counts[w]++
					total++
				}
			}
		}
	}
	m.unknown = math.Log(1 + float64(len(texts)))
	for w, n := range in {
		m.rarity[w] = math.Log(1 + float64(len(texts))/float64(n))
		v := make([]float64, size)
		for _, c := range sortedKeys(pairs[w]) { // sums of floats depend on the order
			if information := math.Log(pairs[w][c] * total / (counts[w] * counts[c])); information > 0 {
				addRandom(v, c, information)
			}
		}
		normalize(v)
		r := make([]float64, size)
		addRandom(r, w, 1)
		normalize(r)
		for i := range v {
			v[i] = own*r[i] + (1-own)*v[i]
		}
		normalize(v)
		m.vectors[w] = v
	}
	return m
}

// vector returns the vector of a text: the sum of those of its words, rare ones counting
// more.
func (m *Model) vector(text string) []float64 {
	v := make([]float64, size)
	for _, w := range tokensOf(text) {
		if known := m.vectors[w]; known != nil {
			for i := range v {
				v[i] += m.rarity[w] * known[i]
			}
			continue
		}
		r := make([]float64, size)
		addRandom(r, w, 1)
		normalize(r)
		for i := range v {
			v[i] += m.unknown * r[i]
		}
	}
	normalize(v)
	return v
}

// Embed returns a vector of length 1 for each text.
func (m *Model) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := m.vector(text)
		out[i] = make([]float32, size)
		for j := range v {
			out[i][j] = float32(v[j])
		}
	}
	return out, nil
}

// Handler serves the model at /v1/embeddings as Ollama does, and refuses other models
// and requests in its words.
func (m *Model) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string          `json:"model"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<20)).Decode(&in); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if in.Model != Name {
			refuse(w, http.StatusNotFound, fmt.Sprintf("model %q not found, try pulling it first", in.Model))
			return
		}
		var texts []string
		var one string
		if json.Unmarshal(in.Input, &one) == nil {
			texts = []string{one}
		} else if json.Unmarshal(in.Input, &texts) != nil || len(texts) == 0 {
			refuse(w, http.StatusBadRequest, "invalid input type")
			return
		}
		vectors, err := m.Embed(r.Context(), texts)
		if err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
		type datum struct {
			Object    string    `json:"object"`
			Embedding []float32 `json:"embedding"`
			Index     int       `json:"index"`
		}
		var data []datum
		for i, v := range vectors {
			data = append(data, datum{"embedding", v, i})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": Name, "usage": map[string]int{"prompt_tokens": 0, "total_tokens": 0}})
	})
	return mux
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "api_error", "param": nil, "code": nil}})
}

// tokensOf returns the words of a text that say something, without the commonest endings
// of English.
func tokensOf(text string) []string {
	var out []string
	all := words.Tokens(text)
	for i, t := range all {
		switch {
		case words.IsFunctionWord(t):
		case words.Unspaced(t):
			if i > 0 && words.Unspaced(all[i-1]) { // most words of Chinese and Japanese have two characters
				out = append(out, all[i-1]+t)
			}
		default:
			for _, ending := range []string{"ing", "ed", "es", "s"} {
				if rest, ok := strings.CutSuffix(t, ending); ok && len(rest) > 3 {
					t = rest
					break
				}
			}
			out = append(out, strings.TrimSuffix(t, "e"))
		}
	}
	return out
}

// addRandom adds the random vector of a word, which depends on the word alone.
func addRandom(v []float64, word string, weight float64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(word))
	r := rand.New(rand.NewPCG(h.Sum64(), 1)) //nolint:gosec // it must be the same in each run
	for n := range nonzero {
		sign := weight
		if n%2 == 1 {
			sign = -weight
		}
		v[r.IntN(size)] += sign
	}
}

func normalize(v []float64) {
	sum := 0.0
	for _, f := range v {
		sum += f * f
	}
	if sum == 0 {
		return
	}
	length := math.Sqrt(sum)
	for i := range v {
		v[i] /= length
	}
}

func distinct(tokens []string) []string {
	sorted := slices.Clone(tokens)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
