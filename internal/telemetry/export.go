package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
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

// An exporter posts a signal to a collector, as OTLP over HTTP with JSON, for the batch processor of
// spans and for the periodic reader of metrics. What the collector does not take is dropped. The exporters
// of OpenTelemetry import gRPC (README.md).
type exporter struct {
	signal  string // traces or metrics
	url     *url.URL
	headers http.Header
	client  http.Client
	logger  *slog.Logger
	failing atomic.Bool
}

// newExporter returns the exporter of a signal to the collector that the environment names; nil if it
// names none, if OTEL_SDK_DISABLED is true, or if OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER is none. A
// variable of the signal takes precedence over the common one.
func newExporter(signal string, getenv func(string) string, logger *slog.Logger) (*exporter, error) {
	upper := strings.ToUpper(signal)
	variable := func(name string) (value, full string) {
		full = otlp + upper + "_" + name
		if value = strings.TrimSpace(getenv(full)); value != "" {
			return value, full
		}
		return strings.TrimSpace(getenv(otlp + name)), otlp + name
	}
	kind := getenv("OTEL_" + upper + "_EXPORTER")
	endpoint, name := variable("ENDPOINT")
	if endpoint == "" || kind == "none" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	e := &exporter{signal: signal, logger: logger, headers: http.Header{"User-Agent": {"sequent"}, "Content-Type": {"application/json"}}}
	var err error
	if e.url, err = url.Parse(endpoint); err != nil || e.url.Scheme != "http" && e.url.Scheme != "https" || e.url.Host == "" {
		return nil, invalid(endpoint, name, "use a URL such as http://127.0.0.1:4318")
	}
	if name == otlp+"ENDPOINT" {
		e.url = e.url.JoinPath("v1", signal)
	}
	if kind != "" && kind != "otlp" {
		return nil, invalid(kind, "OTEL_"+upper+"_EXPORTER", "use otlp or none; --metrics is for Prometheus")
	}
	if protocol, name := variable("PROTOCOL"); protocol != "" && !strings.HasPrefix(protocol, "http/") { // the same endpoint takes both
		return nil, invalid(protocol, name, "use http/json, which collectors accept on port 4318")
	}
	e.client.Timeout = 10 * time.Second
	if value, name := variable("TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return nil, invalid(value, name, "use milliseconds, such as 10000")
		}
		e.client.Timeout = time.Duration(ms) * time.Millisecond
	}
	// Those of the signal are added to the common ones. Values can be secret, so errors do not have them.
	for _, name := range []string{otlp + "HEADERS", otlp + upper + "_HEADERS"} {
		for pair := range strings.SplitSeq(strings.Trim(getenv(name), ", "), ",") {
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if key = strings.TrimSpace(key); key == "" && !ok {
				continue // there are none
			}
			if !ok || err != nil || key == "" {
				return nil, fmt.Errorf("invalid value for %s: use NAME=VALUE, with %%20 for a space, and commas between", name)
			}
			e.headers.Set(key, value)
		}
	}
	return e, nil
}

func invalid(value, name, use string) error {
	return fmt.Errorf("invalid value %q for %s: %s", value, name, use)
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
func (*exporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
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

// send posts a message. A failure is logged, once until the collector takes a message again.
func (e *exporter) send(ctx context.Context, message object) {
	err := e.post(ctx, message)
	switch failed := err != nil; {
	case e.failing.Swap(failed) == failed:
	case failed:
		e.logger.Warn("the collector does not take "+e.signal+", which are dropped; calls continue", "error", err)
	default:
		e.logger.Info("the collector takes " + e.signal + " again")
	}
}

func (e *exporter) post(ctx context.Context, message object) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = e.headers
	res, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	const maxReply = 64 << 10
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err == nil && (res.StatusCode/100 != 2 || bytes.Contains(reply, []byte("errorMessage"))) { // of a message that was taken in part
		err = fmt.Errorf("%s: %s: %.500q", e.url.Redacted(), res.Status, reply)
	}
	return err
}
