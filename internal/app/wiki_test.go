package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/tool"
)

// The program searches by meaning with a service like Ollama: a stand-in with the same
// protocol, whose model knows animals and vehicles apart.
func TestSearchByMeaning(t *testing.T) {
	notes := map[string]string{
		"cat.md": "The cat purrs and eats fish at night.", "moggy.md": "A moggy purrs and eats fish at night.",
		"car.md": "The car needs petrol and stops at red lights.", "lorry.md": "A lorry needs petrol and stops at red lights.",
	}
	dir := t.TempDir()
	for name, text := range notes {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		type datum struct {
			Embedding [3]float64 `json:"embedding"`
			Index     int        `json:"index"`
		}
		out := make([]datum, len(in.Input))
		for i, text := range in.Input {
			animal, vehicle, exact := 0.0, 0.0, 0.0
			if strings.Contains(text, "cat") || strings.Contains(text, "moggy") {
				animal = 1
			} else {
				vehicle = 1
			}
			if strings.Contains(text, "moggy") {
				exact = 0.5
			}
			out[i] = datum{[3]float64{animal, vehicle, exact}, i}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": out})
	}))
	defer service.Close()
	env := map[string]string{openai.EmbeddingsURL: service.URL + "/v1", openai.EmbeddingsModel: "animals"}
	open := func() dialect.Dialect {
		t.Helper()
		a, err := Open(t.Context(), Config{
			Store: "memory", Dialect: "wiki", Vault: dir,
			Model: openai.Config{Getenv: func(name string) string { return env[name] }, Timeout: time.Minute, MaxAttempts: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		d, err := a.Dialect()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	call := func(d dialect.Dialect, name, args string) string {
		t.Helper()
		for _, tl := range d.Tools {
			if tl.Name == name {
				r, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
				if err != nil {
					t.Fatal(err)
				}
				return r.Text
			}
		}
		t.Fatalf("there is no tool %s", name)
		return ""
	}
	d := open()
	if got := call(d, "sync", `{}`); strings.Contains(got, "⚠️") {
		t.Error(got)
	}
	got := ""
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // the server may be embedding in the background
		got = call(d, "search_memories", `{"query": "moggy", "mode": "Semantic", "pageSize": 2}`)
		if !strings.Contains(got, "no embeddings yet") || time.Now().After(limit) {
			break
		}
	}
	if first, second := strings.Index(got, "memory://moggy.md"), strings.Index(got, "memory://cat.md"); first < 0 || second < first {
		t.Errorf("by meaning: %s", got)
	}

	clear(env)
	d = open()
	if got := call(d, "search_memories", `{"query": "petrol", "mode": "Semantic"}`); !strings.HasPrefix(got, "ERROR: EMBEDDINGS_NOT_CONFIGURED") {
		t.Errorf("by meaning without a model: %s", got)
	}
}
