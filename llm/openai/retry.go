package openai

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent/llm"
)

// Between tries a random part of a time that doubles is waited for.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 8 * time.Second
)

// A failure is a try that did not succeed.
type failure struct {
	err     *llm.Error
	again   bool   // another try may succeed
	drop    string // what the request should not say, if the model refuses to be told it
	changed bool   // another try would leave it out, and this one did not
}

// persist tries until one try succeeds, or none is left, or another would be of
// no use. It calls tell before it tries again, which reports whether to do so.
func (c *caller) persist(ctx context.Context, try func(context.Context) *failure, tell func(llm.Retry) bool) error {
	for attempt := 1; ; attempt++ {
		f := try(ctx)
		switch {
		case f == nil:
			return nil
		case ctx.Err() != nil:
			return canceled(ctx)
		case f.changed: // it is another request, and no try of this one
			attempt--
			continue
		case !f.again || attempt >= c.tries || f.err.After > c.timeout:
			return f.err
		}
		if !tell(llm.Retry{Attempt: attempt, Err: f.err}) {
			return f.err
		}
		if !sleep(ctx, f.err.After+jitter(attempt)) {
			return canceled(ctx)
		}
	}
}

// jitter returns a random part of the time that is waited for after a try, so
// that those who failed together do not come back together.
func jitter(attempt int) time.Duration {
	return rand.N(min(longestWait, firstWait<<min(attempt-1, 10)))
}

// sleep reports false if ctx was done first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func canceled(ctx context.Context) *llm.Error {
	return &llm.Error{Code: llm.CodeCanceled, Msg: "the question to the model was taken back", Err: context.Cause(ctx)}
}

// retryAfter reads how long a provider wants to be left alone.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const longest = 365 * 24 * time.Hour
	for _, v := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(v.header), 64); err == nil && n >= 0 {
			return time.Duration(min(n*float64(v.unit), float64(longest)))
		}
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, min(at.Sub(now), longest))
	}
	return 0
}
