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
	errRedirect = errors.New("the service redirects")
	errStopped  = errors.New("the reader has stopped")
)

// post sends q as JSON and passes the reply to take: the data of each event of a stream until
// [DONE], or else the whole. The timeout applies to each event, or else to the whole.
func (c *caller) post(ctx context.Context, path string, q any, stream bool, take func(data []byte) error) *failure {
	raw, err := json.Marshal(q)
	if err != nil { // a schema of a tool that is not JSON
		return &failure{err: &llm.Error{Code: llm.CodeRefused, Err: err, Msg: "the request cannot be written as JSON"}}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.timeout, func() { cancel(errTimeout) })
	defer timer.Stop()
	url := strings.TrimRight(c.at.url, "/") + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err == nil {
		err = c.exchange(req, stream, timer, take)
	}
	if f, ok := errors.AsType[*failure](err); ok || err == nil {
		return f
	}
	return c.failed(ctx, err)
}

func (c *caller) exchange(req *http.Request, stream bool, timer *time.Timer, take func(data []byte) error) error {
	req.Header.Set("Content-Type", "application/json")
	if c.at.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.at.key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end, or canceled
	body := http.MaxBytesReader(nil, res.Body, maxBody)
	// Some services ignore the request for a stream.
	whole := strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	if stream && !whole && res.StatusCode < 300 {
		return c.events(body, timer, take)
	}
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return err
	case res.StatusCode >= 400:
		return c.rejected(res.StatusCode, res.Header, reportIn(text))
	case res.StatusCode >= 300:
		return errRedirect
	}
	return take(text)
}

// events passes the data of each event to take, whose time does not count. It returns [io.EOF] for
// a stream without events.
func (c *caller) events(body io.Reader, timer *time.Timer, take func(data []byte) error) error {
	lines, result := bufio.NewReader(body), io.EOF
	for {
		timer.Reset(c.timeout)
		line, err := lines.ReadBytes('\n')
		timer.Stop()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok { // others are comments
			data, result = bytes.TrimSpace(data), nil
			if string(data) == "[DONE]" {
				return nil
			}
			if err := take(data); err != nil {
				return err
			}
		}
		if err != nil {
			return result
		}
	}
}
