package openai_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

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
				s := serve(tt.reply())
				if _, err := answerOf(t.Context(), s.connect(t, "gpt-4o"), ask("?")); err == nil {
					t.Fatal("no error")
				}
				if len(s.at) != 3 || s.at[0] != 0 || s.at[1] < tt.from || s.at[1] >= tt.to || s.at[2]-s.at[1] >= tt.third {
					t.Errorf("requests at %v, want the second from %v to %v and the third within %v", s.at, tt.from, tt.to, tt.third)
				}
			})
		})
	}
}

func TestCancelDuringWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {"30"}}})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := answerOf(ctx, s.connect(t, "gpt-4o"), ask("?"))
		if llm.CodeOf(err) != llm.CodeCanceled || len(s.at) != 1 || time.Since(s.start) != 3*time.Second {
			t.Errorf("got %v after %v and requests at %v", err, time.Since(s.start), s.at)
		}
	})
}
