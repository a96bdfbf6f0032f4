package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/llm/openai"
)

// A wire answers requests without a network, so that time can be the test's own.
type wire struct {
	handler http.Handler
	at      []time.Duration // when requests came
	begun   time.Time
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.at = append(w.at, time.Since(w.begun))
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec.Result(), nil
}

func TestWaitingBetweenTries(t *testing.T) {
	after := func(value string) llmtest.Reply {
		return llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {value}}}
	}
	tests := []struct {
		name     string
		reply    func() llmtest.Reply
		from, to time.Duration // of the second request
		third    time.Duration // how much later the third is, at most
	}{
		{"jitter", func() llmtest.Reply { return llmtest.Reply{Status: 500} }, 0, 500 * time.Millisecond, time.Second},
		{"seconds", func() llmtest.Reply { return after("7") }, 7 * time.Second, 7500 * time.Millisecond, 8 * time.Second},
		{"a date", func() llmtest.Reply { return after(time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)) }, 19 * time.Second, 20500 * time.Millisecond, 21 * time.Second},
		{"nonsense", func() llmtest.Reply { return after("soon") }, 0, 500 * time.Millisecond, time.Second},
		{"in the past", func() llmtest.Reply { return after("-5") }, 0, 500 * time.Millisecond, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &llmtest.Server{Answer: func(int, llmtest.Request) llmtest.Reply { return tt.reply() }}
				w := &wire{handler: s, begun: time.Now()}
				c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ("http://model/v1"), HTTP: &http.Client{Transport: w}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Chat(t.Context(), ask("?")); err == nil {
					t.Fatal("no error")
				}
				if len(w.at) != 3 || w.at[0] != 0 || w.at[1] < tt.from || w.at[1] >= tt.to || w.at[2]-w.at[1] >= tt.third {
					t.Errorf("requests after %v", w.at)
				}
			})
		})
	}
}

func TestCancellationWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Answer: func(int, llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {"30"}}}
		}}
		w := &wire{handler: s, begun: time.Now()}
		c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ("http://model/v1"), HTTP: &http.Client{Transport: w}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err = c.Chat(ctx, ask("?"))
		if llm.CodeOf(err) != llm.CodeCanceled || len(w.at) != 1 || time.Since(w.begun) != 3*time.Second {
			t.Errorf("got %v after %v and requests at %v", err, time.Since(w.begun), w.at)
		}
	})
}
