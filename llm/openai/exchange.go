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

// What an exchange finds wrong by itself.
var (
	errTimeout  = errors.New("no answer in time")
	errTooLarge = errors.New("the answer is too large")
	errRedirect = errors.New("the service redirects")
)

// An exchange is one HTTP request and its answer. It does what the library does
// not: it bounds the answer in bytes and time, keeps its header, and adds members
// to the request that the library has no names for.
type exchange struct {
	http   *http.Client
	extra  []field
	limit  int64
	dog    *watchdog
	pieces bool // it is streamed: the watchdog waits for the next piece, not for the whole

	status int
	header http.Header
	kept   bytes.Buffer // the answer, but for a stream
	data   bool         // a line of a stream has come
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
	// Some services answer as a whole where a stream was asked for.
	whole := strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	if x.pieces && !whole && res.StatusCode < 400 {
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

// A body is an answer as it is read.
type body struct {
	io.ReadCloser
	x     *exchange
	left  int64
	lines *bufio.Reader // of a stream
	line  []byte        // what of a line is still to be handed on
}

// Read hands on the answer; of a stream only the lines with data, for the library
// takes comments for errors.
func (b *body) Read(p []byte) (int, error) {
	if b.lines == nil {
		n, err := b.read(p)
		b.x.kept.Write(p[:n])
		return n, err
	}
	for len(b.line) == 0 {
		line, err := b.lines.ReadBytes('\n')
		if bytes.HasPrefix(line, []byte("data:")) {
			b.line, b.x.data = line, true
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
	if b.x.pieces {
		b.x.dog.wait()
		defer b.x.dog.rest()
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

type readerFunc func([]byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A watchdog ends a context when something takes too long.
type watchdog struct {
	timer *time.Timer
	after time.Duration
}

// watched returns a context that ends with errTimeout unless the dog is told to
// rest. It begins to wait at once. The caller must call release.
func watched(ctx context.Context, after time.Duration) (_ context.Context, dog *watchdog, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	dog = &watchdog{after: after, timer: time.AfterFunc(after, func() { cancel(errTimeout) })}
	return ctx, dog, func() { dog.rest(); cancel(nil) }
}

func (d *watchdog) wait() { d.timer.Reset(d.after) }
func (d *watchdog) rest() { d.timer.Stop() }
