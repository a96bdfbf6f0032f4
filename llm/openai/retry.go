package openai

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent/llm"
)

// The upper bound of the random wait between attempts. It doubles with each.
const (
	firstWait = 500 * time.Millisecond
	maxWait   = 8 * time.Second
)

// A failure is a failed attempt.
type failure struct {
	err       *llm.Error
	retryable bool
	rejected  option // the option that the model rejected; empty for none
	adapted   bool   // the attempt sent the rejected option and the next one will not
}

func (f *failure) Error() string { return f.err.Error() }

// retry calls attempt until it succeeds, its failure is permanent, or maxAttempts
// is reached. It calls notify before each retry; notify reports whether to retry.
func (c *caller) retry(ctx context.Context, attempt func(context.Context) *failure, notify func(llm.Retry) bool) error {
	for n := 1; ; n++ {
		f := attempt(ctx)
		switch {
		case f == nil:
			return nil
		case ctx.Err() != nil:
			return canceled(ctx)
		case f.adapted: // the next request differs, so this attempt does not count
			n--
			continue
		case !f.retryable || n >= c.maxAttempts || f.err.RetryAfter > c.timeout:
			return f.err
		}
		if !notify(llm.Retry{Attempt: n, Err: f.err}) {
			return f.err
		}
		if !sleep(ctx, f.err.RetryAfter+jitter(n)) {
			return canceled(ctx)
		}
	}
}

// jitter returns a random wait after the n-th attempt. Being random, it spreads
// the retries of clients that failed together.
func jitter(n int) time.Duration {
	return rand.N(min(maxWait, firstWait<<min(n-1, 10)))
}

// sleep waits for d. It returns false if ctx is done first.
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
	return &llm.Error{Code: llm.CodeCanceled, Msg: "the request to the model was canceled", Err: context.Cause(ctx)}
}

// retryAfter returns the wait that a response asks for, 0 if it asks for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const longest = 365 * 24 * time.Hour // keeps the sum with a jitter from overflowing
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
