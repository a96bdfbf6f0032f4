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

// A transport calls a handler without a network, which synctest could not fake.
type transport struct {
	handler http.Handler
	at      []time.Duration // times of the requests since start
	start   time.Time
}

func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	tr.at = append(tr.at, time.Since(tr.start))
	rec := httptest.NewRecorder()
	tr.handler.ServeHTTP(rec, r)
	return rec.Result(), nil
}

func TestWaitBetweenAttempts(t *testing.T) {
	after := func(value string) llmtest.Reply {
		return llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {value}}}
	}
	tests := []struct {
		name     string
		reply    func() llmtest.Reply
		from, to time.Duration // range of the second request's time
		third    time.Duration // maximum wait before the third request
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
				tr := &transport{handler: s, start: time.Now()}
				c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ("http://model/v1"), Transport: tr})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := answerOf(t.Context(), c, ask("?")); err == nil {
					t.Fatal("no error")
				}
				if len(tr.at) != 3 || tr.at[0] != 0 || tr.at[1] < tt.from || tr.at[1] >= tt.to || tr.at[2]-tr.at[1] >= tt.third {
					t.Errorf("requests at %v, want the second from %v to %v and the third within %v", tr.at, tt.from, tt.to, tt.third)
				}
			})
		})
	}
}

func TestCancelDuringWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Answer: func(int, llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {"30"}}}
		}}
		tr := &transport{handler: s, start: time.Now()}
		c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ("http://model/v1"), Transport: tr})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err = answerOf(ctx, c, ask("?"))
		if llm.CodeOf(err) != llm.CodeCanceled || len(tr.at) != 1 || time.Since(tr.start) != 3*time.Second {
			t.Errorf("got %v after %v and requests at %v", err, time.Since(tr.start), tr.at)
		}
	})
}
