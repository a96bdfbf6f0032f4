package cooccur_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/cooccur"
)

// texts never has cat and moggy in one text, but both in the same company.
var texts = []string{
	"The cat purrs and eats fish.", "A moggy purrs and eats fish.", "The cat hunts mice at night.", "A moggy hunts mice at night.",
	"The car needs petrol and oil.", "A lorry needs petrol and oil.", "The car stops at red lights.", "A lorry stops at red lights.",
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Words that share their company are near, though no text has both.
func TestEmbed(t *testing.T) {
	m := cooccur.Train(texts)
	v, err := m.Embed(t.Context(), []string{"cat", "moggy", "lorry", "", "quite unknown"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near <= far+0.1 {
		t.Errorf("cat is as near to moggy (%.2f) as to lorry (%.2f)", near, far)
	}
	again, err := cooccur.Train(texts).Embed(t.Context(), []string{"cat"})
	if err != nil || !reflect.DeepEqual(again[0], v[0]) {
		t.Errorf("another training gives another vector, %v", err)
	}
}

func TestHandler(t *testing.T) {
	s := httptest.NewServer(cooccur.Train(texts).Handler())
	defer s.Close()
	for _, test := range []struct {
		body, want string
		status     int
	}{
		{`{"model":"cooccur","input":["a cat","a car"]}`, `"index":1`, 200},
		{`{"model":"cooccur","input":"a cat"}`, `"embedding":[`, 200},
		{`{"model":"other","input":"a"}`, `model \"other\" not found`, 404},
		{`{"model":"cooccur","input":7}`, "invalid input type", 400},
		{`{`, "unexpected EOF", 400},
	} {
		r, err := http.Post(s.URL+"/v1/embeddings", "application/json", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		_, err = fmt.Fprint(&b, r.Status)
		if data := make([]byte, 1<<20); err == nil {
			for {
				n, err := r.Body.Read(data)
				b.Write(data[:n])
				if err != nil {
					break
				}
			}
		}
		_ = r.Body.Close()
		if r.StatusCode != test.status || !strings.Contains(b.String(), test.want) {
			t.Errorf("%s: %d %.200s", test.body, r.StatusCode, b.String())
		}
	}
}
