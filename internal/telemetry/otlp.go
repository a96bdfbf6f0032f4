package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A sender posts one kind of signal to a collector, by the specification of OTLP over HTTP
// (1.11). The exporters of OpenTelemetry do the same, and import gRPC (README.md).
type sender struct {
	settings
	signal string
	logger *slog.Logger
	client *http.Client

	mu      sync.Mutex
	failing bool
}

// newSender returns a sender of traces or metrics to the collector that the environment names.
func newSender(signal string, logger *slog.Logger) (*sender, error) {
	s := &sender{signal: signal, logger: logger}
	var err error
	if s.settings, err = readSettings(signal); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = s.tls
	s.client = &http.Client{Transport: transport, Timeout: s.timeout}
	return s, nil
}

// close closes the connections to the collector. Call it after the last send.
func (s *sender) close() { s.client.CloseIdleConnections() }

// send posts a message until the collector takes it, refuses it for good, or ctx ends, for at
// most maxSend. A failure is logged, once until the collector takes a message again.
func (s *sender) send(ctx context.Context, body []byte) {
	err := s.retry(ctx, body)
	s.mu.Lock()
	changed := s.failing != (err != nil)
	s.failing = err != nil
	s.mu.Unlock()
	switch {
	case changed && err != nil:
		s.logger.WarnContext(ctx, "the collector does not take "+s.signal+"; calls continue, and what does not fit into the queue is dropped", "error", err)
	case changed:
		s.logger.InfoContext(ctx, "the collector takes "+s.signal+" again")
	}
}

// Limits of sending. The waits are those of OpenTelemetry's exporters.
const (
	maxSend      = time.Minute
	firstWait    = 5 * time.Second
	maxWait      = 30 * time.Second
	maxReply     = 4 << 20 // bytes, by the specification
	maxErrorText = 1 << 10 // bytes
)

// A retryable is a failure after which the same message may be sent again.
type retryable struct {
	error
	wait time.Duration // that the collector asks for
}

func (s *sender) retry(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, maxSend)
	defer cancel()
	if s.gzip {
		var buf bytes.Buffer
		z := gzip.NewWriter(&buf)
		_, _ = z.Write(body) // a buffer takes everything
		_ = z.Close()
		body = buf.Bytes()
	}
	for wait := firstWait; ; wait = min(wait*3/2, maxWait) {
		err := s.post(ctx, body)
		var again retryable
		if err == nil || !errors.As(err, &again) || ctx.Err() != nil {
			return err
		}
		jittered := wait/2 + rand.N(wait)
		if deadline, _ := ctx.Deadline(); time.Until(deadline) < max(jittered, again.wait) {
			return err
		}
		select {
		case <-time.After(max(jittered, again.wait)):
		case <-ctx.Done():
			return err
		}
	}
}

// post sends a message once.
func (s *sender) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = s.headers.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	if s.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := s.client.Do(req)
	if err != nil {
		if temporary, ok := errors.AsType[*url.Error](err); ok && temporary.Temporary() {
			return retryable{error: err}
		}
		return err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return err
	}
	isProto := res.Header.Get("Content-Type") == "application/x-protobuf"
	if res.StatusCode/100 == 2 {
		if isProto {
			return refused(reply)
		}
		return nil
	}
	text := string(reply)
	if isProto { // google.rpc.Status
		_, _, text = fields(reply)
	}
	err = fmt.Errorf("%s: %s: %q", s.url.Redacted(), res.Status, text[:min(len(text), maxErrorText)])
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryable{err, retryAfter(res.Header.Get("Retry-After"))}
	}
	return err
}

// retryAfter returns how long a response asks to wait, 0 if it does not say.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(0, seconds), int(maxSend/time.Second)+1)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return time.Until(at)
	}
	return 0
}

// refused returns what an Export…ServiceResponse says of a message that was taken in part.
func refused(reply []byte) error {
	_, partial, _ := fields(reply)
	if n, _, text := fields([]byte(partial)); n != 0 || text != "" {
		return fmt.Errorf("the collector refused %d: %q", n, text[:min(len(text), maxErrorText)])
	}
	return nil
}

// fields returns the fields 1 and 2 of a message: the first one as a number or as bytes.
func fields(b []byte) (number uint64, first, second string) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch {
		case num == 1 && typ == protowire.VarintType:
			number, _ = protowire.ConsumeVarint(b)
		case num == 1 && typ == protowire.BytesType:
			v, _ := protowire.ConsumeBytes(b)
			first = string(v)
		case num == 2 && typ == protowire.BytesType:
			v, _ := protowire.ConsumeBytes(b)
			second = string(v)
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			break
		}
		b = b[n:]
	}
	return number, first, second
}
