package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/tool"
)

// Variables of the environment name the service with which notes are searched by meaning.
func TestSearchByMeaning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cat.md"), []byte("The cat purrs."), 0o600); err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		data := make([]string, len(in.Input))
		for i := range data {
			data[i] = fmt.Sprintf(`{"embedding":[1,0],"index":%d}`, i)
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	defer service.Close()
	env := map[string]string{openai.EmbeddingsURL: service.URL + "/v1", openai.EmbeddingsModel: "animals"}
	a, err := Open(t.Context(), Config{
		Store: "memory", Dialect: "wiki", Vault: dir,
		Model: openai.Config{Getenv: func(name string) string { return env[name] }, Timeout: time.Minute, MaxAttempts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	d, err := a.Dialect()
	if err != nil {
		t.Fatal(err)
	}
	search := d.Tools[slices.IndexFunc(d.Tools, func(t tool.Tool) bool { return t.Name == "search_memories" })]
	got, err := search.Call(t.Context(), tool.Call{Args: json.RawMessage(`{"query": "moggy", "mode": "Semantic"}`)})
	if err != nil || !strings.Contains(got.Text, "memory://cat.md") {
		t.Errorf("by meaning: %s, %v", got.Text, err)
	}
}
