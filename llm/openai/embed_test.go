package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/llm/openai"
)

func (s *service) embedder(t *testing.T) *openai.Embedder {
	t.Helper()
	e, err := openai.NewEmbedder(openai.Config{Transport: s, Getenv: func(name string) string {
		return map[string]string{openai.EmbeddingsURL: "http://model/v1", openai.EmbeddingsModel: "embed-small", openai.EmbeddingsKey: secret}[name]
	}})
	if err != nil || e == nil {
		t.Fatal(e, err)
	}
	return e
}

// vectors answers a request with one vector per text, in reverse order. The first
// number of a vector is the length of its text.
func vectors(_ int, r llmtest.Request) llmtest.Reply {
	var q struct{ Input []string }
	if err := json.Unmarshal(r.Body, &q); err != nil {
		return llmtest.Reply{Status: 400}
	}
	var data []string
	for i := len(q.Input) - 1; i >= 0; i-- {
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,0.5]}`, i, len(q.Input[i])))
	}
	return llmtest.Reply{Body: `{"data":[` + strings.Join(data, ",") + `]}`}
}

func TestEmbedInBatches(t *testing.T) {
	s := new(service)
	s.Answer = func(n int, r llmtest.Request) llmtest.Reply {
		if n == 2 {
			return llmtest.Reply{Status: 429, Header: http.Header{"Retry-After-Ms": {"1"}}}
		}
		return vectors(n, r)
	}
	var texts []string
	for i := range 150 {
		texts = append(texts, strings.Repeat("x", i))
	}
	texts = append(texts, strings.Repeat("y", 100<<10), strings.Repeat("z", 100<<10))
	got, err := s.embedder(t).Embed(t.Context(), texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("got %d vectors and %v, want %d", len(got), err, len(texts))
	}
	for i, v := range got {
		if want := max(1, len(texts[i])); len(v) != 2 || v[0] != float32(want) || v[1] != 0.5 {
			t.Errorf("text %d of %d bytes: got vector %v", i, len(texts[i]), v)
		}
	}
	sent := s.Requests()
	if len(sent) != 5 { // 64, the same 64 again, 64, 22 and a large one, the other large one
		t.Errorf("got %d requests, want 5", len(sent))
	}
	if sent[0].Path != "/v1/embeddings" || sent[0].Authorization != "Bearer "+secret || sent[0].Model != "embed-small" {
		t.Errorf("got path %s, model %q, authorization %q", sent[0].Path, sent[0].Model, sent[0].Authorization)
	}
	if none, err := s.embedder(t).Embed(t.Context(), nil); none != nil || err != nil || len(s.Requests()) != 5 {
		t.Errorf("no texts: got %v, %v", none, err)
	}
}

func TestEmbedInvalidReply(t *testing.T) {
	for _, body := range []string{
		`{"data":[]}`, `{}`, `[]`, `{"data":[{"index":0,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
		`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(llmtest.Reply{Body: body}) // and retried like one that broke off
			if got, err := s.embedder(t).Embed(t.Context(), []string{"a", "b"}); llm.CodeOf(err) != llm.CodeBadAnswer || len(s.Requests()) != 3 {
				t.Errorf("%s\ngot %v and %v after %d requests, want 3", body, got, err, len(s.Requests()))
			}
		})
	}
}

func TestNewEmbedder(t *testing.T) {
	with := func(url, model string) (*openai.Embedder, error) {
		return openai.NewEmbedder(openai.Config{Getenv: func(name string) string {
			return map[string]string{openai.EmbeddingsURL: url, openai.EmbeddingsModel: model}[name]
		}})
	}
	if e, err := with("", ""); e != nil || err != nil {
		t.Errorf("without a service: got %v, %v", e, err)
	}
	if e, err := with("http://gpu/v1", "m"); err != nil || e.Model() != "m" {
		t.Errorf("without a key: got %v, %v", e, err)
	}
	for _, bad := range [][2]string{{"http://gpu/v1", ""}, {"", "m"}, {"gpu", "m"}} {
		if e, err := with(bad[0], bad[1]); err == nil {
			t.Errorf("%q: got %v, want an error", bad, e)
		}
	}
}
