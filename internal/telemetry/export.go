package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// otlp begins the names of the variables of OTLP.
const otlp = "OTEL_EXPORTER_OTLP_"

// FromEnvironment returns which exporters of OTLP the environment turns on: those with an
// endpoint, unless OTEL_SDK_DISABLED is true or OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER
// is none. The error is for a setting that this program does not support; it says what to set
// instead. [Start] and the SDK read the other variables.
func FromEnvironment(getenv func(string) string) (traces, metrics bool, err error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, false, nil
	}
	if traces, err = enabled(getenv, "traces"); err == nil {
		metrics, err = enabled(getenv, "metrics")
	}
	return traces, metrics, err
}

// enabled reports whether a signal is exported.
func enabled(getenv func(string) string, signal string) (bool, error) {
	if endpoint, _ := variable(getenv, signal, "ENDPOINT"); endpoint == "" {
		return false, nil
	}
	switch name := "OTEL_" + strings.ToUpper(signal) + "_EXPORTER"; getenv(name) {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, invalid(getenv(name), name, "use otlp or none; --metrics is for Prometheus")
	}
	switch protocol, name := variable(getenv, signal, "PROTOCOL"); protocol {
	case "", "http/json", "http/protobuf": // the same endpoint takes both
		return true, nil
	default:
		return false, invalid(protocol, name, "use http/json, which collectors accept on port 4318")
	}
}

// variable returns the value of a variable of OTLP, and the name of the one that has it: that of
// the signal, or else the common one.
func variable(getenv func(string) string, signal, name string) (value, full string) {
	full = otlp + strings.ToUpper(signal) + "_" + name
	if value = strings.TrimSpace(getenv(full)); value != "" {
		return value, full
	}
	return strings.TrimSpace(getenv(otlp + name)), otlp + name
}

func invalid(value, name, use string) error {
	return fmt.Errorf("invalid value %q for %s: %s", value, name, use)
}

// An exporter posts a signal to a collector, as OTLP over HTTP with JSON, for the batch processor of
// spans and for the periodic reader of metrics. The exporters of OpenTelemetry import gRPC (README.md).
type exporter struct {
	signal      string // traces or metrics
	url         *url.URL
	headers     http.Header
	gzip        bool
	temporality sdkmetric.TemporalitySelector
	client      http.Client
	logger      *slog.Logger
	failing     atomic.Bool
}

// newExporter returns the exporter of a signal to the collector that the environment names.
func newExporter(signal string, logger *slog.Logger) (*exporter, error) {
	headers := http.Header{"User-Agent": {"sequent"}, "Content-Type": {"application/json"}}
	e := &exporter{signal: signal, logger: logger, headers: headers}
	endpoint, name := variable(os.Getenv, signal, "ENDPOINT")
	var err error
	if e.url, err = url.Parse(endpoint); err != nil || e.url.Scheme != "http" && e.url.Scheme != "https" || e.url.Host == "" {
		return nil, invalid(endpoint, name, "use a URL such as http://127.0.0.1:4318")
	}
	if name == otlp+"ENDPOINT" {
		e.url = e.url.JoinPath("v1", signal)
	}
	e.client.Timeout = 10 * time.Second
	if value, name := variable(os.Getenv, signal, "TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return nil, invalid(value, name, "use milliseconds, such as 10000")
		}
		e.client.Timeout = time.Duration(ms) * time.Millisecond
	}
	if value, _ := variable(os.Getenv, signal, "COMPRESSION"); value == "gzip" {
		e.gzip = true
		e.headers.Set("Content-Encoding", "gzip")
	}
	const preference = otlp + "METRICS_TEMPORALITY_PREFERENCE"
	switch value := os.Getenv(preference); strings.ToLower(value) {
	case "", "cumulative":
		e.temporality = sdkmetric.CumulativeTemporalitySelector
	case "delta":
		e.temporality = sdkmetric.DeltaTemporalitySelector
	case "lowmemory":
		e.temporality = sdkmetric.LowMemoryTemporalitySelector
	default:
		return nil, invalid(value, preference, "use cumulative, delta or lowmemory")
	}
	return e, e.readHeaders()
}

// readHeaders reads pairs of a name and a percent-encoded value. Those of the signal are added to
// the common ones. Values can be secret, so errors do not have them.
func (e *exporter) readHeaders() error {
	for _, name := range []string{otlp + "HEADERS", otlp + strings.ToUpper(e.signal) + "_HEADERS"} {
		for pair := range strings.SplitSeq(os.Getenv(name), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if key = strings.TrimSpace(key); !ok || err != nil || key == "" {
				return fmt.Errorf("invalid value for %s: use NAME=VALUE, with %%20 for a space, and commas between", name)
			}
			e.headers.Set(key, value)
		}
	}
	return nil
}

// ExportSpans implements [sdktrace.SpanExporter].
func (e *exporter) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	spans := make([]object, len(list))
	for i, s := range list {
		spans[i] = spanOf(s)
	}
	if len(list) > 0 {
		e.send(ctx, request("Spans", list[0].Resource(), []object{scoped("spans", list[0].InstrumentationScope(), spans)}))
	}
	return nil
}

// Export implements [sdkmetric.Exporter].
func (e *exporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	scopes := make([]object, len(m.ScopeMetrics))
	for i, s := range m.ScopeMetrics {
		scopes[i] = scoped("metrics", s.Scope, convert(s.Metrics))
	}
	e.send(ctx, request("Metrics", m.Resource, scopes))
	return nil
}

// Temporality implements [sdkmetric.Exporter].
func (e *exporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return e.temporality(k)
}

// Aggregation implements [sdkmetric.Exporter].
func (*exporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// ForceFlush implements [sdkmetric.Exporter]: nothing waits here.
func (*exporter) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdktrace.SpanExporter] and [sdkmetric.Exporter].
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// send posts a message until the collector takes it or refuses it for good, or ctx ends. A failure
// is logged, once until the collector takes a message again.
func (e *exporter) send(ctx context.Context, message object) {
	err := e.retry(ctx, message)
	switch failed := err != nil; {
	case e.failing.Swap(failed) == failed:
	case failed:
		e.logger.Warn("the collector does not take "+e.signal+"; calls continue, and what does not fit into the queue is dropped", "error", err)
	default:
		e.logger.Info("the collector takes " + e.signal + " again")
	}
}

// firstWait is how long to wait before the second attempt, unless the collector asks for more.
const firstWait = time.Second

func (e *exporter) retry(ctx context.Context, message object) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if e.gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body) // a buffer takes everything
		_ = z.Close()
		body = b.Bytes()
	}
	for wait := firstWait; ; wait *= 2 {
		after, err := e.post(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		select {
		case <-time.After(max(wait, after)):
		case <-ctx.Done(): // the SDK's limit for one export
			return err
		}
	}
}

// post sends a message once. After an error it returns how long the collector asks to wait before
// the next attempt, negative if it will not take the message at all.
func (e *exporter) post(ctx context.Context, body []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	r.Header = e.headers.Clone()
	res, err := e.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	const maxReply = 64 << 10
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return -1, err // it has the message
	}
	if res.StatusCode/100 == 2 && !bytes.Contains(reply, []byte("errorMessage")) { // of a message that was taken in part
		return 0, nil
	}
	err = fmt.Errorf("%s: %s: %.500q", e.url.Redacted(), res.Status, reply)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16)
		return time.Duration(seconds) * time.Second, err
	}
	return -1, err
}
