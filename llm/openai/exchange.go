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

	"github.com/sashabaranov/go-openai"
)

var (
	errTimeout  = errors.New("timeout")
	errTooLarge = errors.New("the answer is too large")
	errRedirect = errors.New("the service redirects")
)

// An exchange is one HTTP request and its response. It adds what the library
// lacks: limits on the size and the time of the response, access to its header,
// and request members that the library does not support.
type exchange struct {
	http   *http.Client
	extra  []field
	limit  int64 // bytes
	timer  *watchdog
	stream bool // the timeout applies to each read, not to the whole response

	status  int
	header  http.Header
	body    bytes.Buffer // the response, unless it is a stream
	gotData bool         // a data line of a stream has arrived
}

// client returns the library's client for this exchange.
func (x *exchange) client(at endpoint) *openai.Client {
	cfg := openai.DefaultConfig(at.key)
	cfg.BaseURL, cfg.HTTPClient = at.url, x
	return openai.NewClientWithConfig(cfg)
}

// Do implements [openai.HTTPDoer].
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if len(x.extra) > 0 {
		if err := extend(req, x.extra); err != nil {
			return nil, err
		}
	}
	res, err := x.http.Do(req)
	if err != nil {
		return nil, err
	}
	x.status, x.header = res.StatusCode, res.Header
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return nil, errors.Join(errRedirect, res.Body.Close())
	}
	b := &body{ReadCloser: res.Body, x: x, left: x.limit}
	// Some services ignore the request for a stream.
	whole := strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	if x.stream && !whole && res.StatusCode < 400 {
		b.lines = bufio.NewReader(readerFunc(b.read))
	}
	res.Body = b
	return res, nil
}

// extend adds members to a request's JSON.
func extend(req *http.Request, extra []field) error {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	members := make(map[string]json.RawMessage)
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	for _, f := range extra {
		members[f.name] = f.value
	}
	if raw, err = json.Marshal(members); err != nil {
		return err
	}
	req.Body = io.NopCloser(bytes.NewReader(raw))
	req.ContentLength = int64(len(raw))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	return nil
}

// A body is the body of a response.
type body struct {
	io.ReadCloser
	x     *exchange
	left  int64         // bytes until the limit
	lines *bufio.Reader // lines of a stream
	line  []byte        // rest of the current line
}

// Read passes only the data lines of a stream to the library, which takes comments
// for errors.
func (b *body) Read(p []byte) (int, error) {
	if b.lines == nil {
		n, err := b.read(p)
		b.x.body.Write(p[:n])
		return n, err
	}
	for len(b.line) == 0 {
		line, err := b.lines.ReadBytes('\n')
		if bytes.HasPrefix(line, []byte("data:")) {
			b.line, b.x.gotData = line, true
		}
		if err != nil && len(b.line) == 0 {
			return 0, err
		}
	}
	n := copy(p, b.line)
	b.line = b.line[n:]
	return n, nil
}

func (b *body) read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	if b.x.stream {
		b.x.timer.start()
		defer b.x.timer.stop()
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

type readerFunc func([]byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A watchdog cancels a context unless it is stopped or restarted in time.
type watchdog struct {
	timer   *time.Timer
	timeout time.Duration
}

// withWatchdog returns a context that a running watchdog cancels with errTimeout.
// The caller must call cancel.
func withWatchdog(ctx context.Context, timeout time.Duration) (_ context.Context, w *watchdog, cancel func()) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	w = &watchdog{timeout: timeout, timer: time.AfterFunc(timeout, func() { cancelCause(errTimeout) })}
	return ctx, w, func() { w.stop(); cancelCause(nil) }
}

func (w *watchdog) start() { w.timer.Reset(w.timeout) }
func (w *watchdog) stop()  { w.timer.Stop() }
