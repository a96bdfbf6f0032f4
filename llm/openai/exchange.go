package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/llm"
)

var (
	errTimeout  = errors.New("timeout")
	errTooLarge = errors.New("the answer is too large")
	errRedirect = errors.New("the service redirects")
)

// An exchange is one HTTP request and its response, whose size and time are limited.
type exchange struct {
	c      *caller
	ctx    context.Context // canceled with errTimeout
	cancel func()
	timer  *time.Timer
	stream bool          // the timeout applies to each read, not to the whole response
	body   io.ReadCloser // of the response
	left   int64         // bytes until the limit
}

// post sends q as JSON. The caller must close the exchange. A status that is not 200 is a failure.
func (c *caller) post(ctx context.Context, path string, q any, stream bool) (*exchange, *failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{
		c: c, ctx: ctx, cancel: func() { cancel(nil) }, stream: stream, left: maxBody,
		timer: time.AfterFunc(c.timeout, func() { cancel(errTimeout) }),
	}
	f := x.send(path, q)
	if f != nil {
		x.close()
	}
	return x, f
}

func (x *exchange) send(path string, q any) *failure {
	raw, err := json.Marshal(q)
	if err != nil { // a schema of a tool that is not JSON
		return &failure{err: &llm.Error{Code: llm.CodeRefused, Err: err, Msg: "the request cannot be written as JSON"}}
	}
	req, err := http.NewRequestWithContext(x.ctx, http.MethodPost, strings.TrimRight(x.c.at.url, "/")+path, bytes.NewReader(raw))
	if err != nil {
		return x.failed(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if x.c.at.key != "" {
		req.Header.Set("Authorization", "Bearer "+x.c.at.key)
	}
	res, err := x.c.http.Do(req)
	if err != nil {
		return x.failed(err)
	}
	x.body = res.Body
	// Some services ignore the request for a stream.
	x.stream = x.stream && !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	switch {
	case res.StatusCode >= 400:
		text, err := io.ReadAll(x)
		if err != nil {
			return x.failed(err)
		}
		return x.c.rejected(res.StatusCode, res.Header, reportIn(text))
	case res.StatusCode >= 300:
		return x.failed(errRedirect)
	}
	return nil
}

// close ends the exchange, also in the middle of a response.
func (x *exchange) close() {
	x.timer.Stop()
	x.cancel()
	if x.body != nil {
		_ = x.body.Close() // read to its end, or canceled
	}
}

// Read reads the response within its limits.
func (x *exchange) Read(p []byte) (int, error) {
	if x.left <= 0 {
		return 0, errTooLarge
	}
	if x.stream {
		x.timer.Reset(x.c.timeout)
		defer x.timer.Stop()
	}
	n, err := x.body.Read(p[:min(int64(len(p)), x.left)])
	x.left -= int64(n)
	return n, err
}

// decode decodes a response that is not a stream.
func (x *exchange) decode(v any) *failure {
	if err := json.NewDecoder(x).Decode(v); err != nil {
		return x.failed(err)
	}
	return nil
}

// data calls do with the data of each event of a stream, until one is [DONE] or do returns false,
// or with a response that is no stream. It returns [io.EOF] at the end of a stream without events.
func (x *exchange) data(do func([]byte) bool) error {
	if !x.stream {
		text, err := io.ReadAll(x)
		if err == nil {
			do(text)
		}
		return err
	}
	lines := bufio.NewReader(x)
	for result := io.EOF; ; {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok { // others are comments
			data, result = bytes.TrimSpace(data), nil
			if string(data) == "[DONE]" || !do(data) {
				return nil
			}
		}
		if err != nil {
			return result
		}
	}
}
