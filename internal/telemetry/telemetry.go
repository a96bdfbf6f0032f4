// Package telemetry exports traces and metrics with the OpenTelemetry SDK: over OTLP, as the
// variables OTEL_… of the environment say, and as a page for Prometheus. The names are those
// of the semantic conventions for MCP, generative AI, databases and Go, or begin with
// sequent. Nothing that is exported has a text of a client: no thought, title, query, id of a
// session of thoughts, owner or token.
package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// scope is the name of the instrumentation in what is exported.
const scope = "github.com/sequent-dev/sequent"

// A Config configures Start.
type Config struct {
	Getenv     func(string) string // variables OTEL_…, which turn on exports over OTLP; nil means none
	Prometheus bool                // have metrics for [Telemetry.Handler]
	Version    string              // of the program
	Logger     *slog.Logger        // required
}

// A Telemetry collects and exports. The caller must call Close. A nil Telemetry collects nothing.
type Telemetry struct {
	tracer     trace.Tracer // records nothing if traces are not exported
	meter      metric.Meter
	page       http.Handler // nil without Prometheus
	histograms map[string]metric.Float64Histogram
	shutdown   []func(context.Context) error
}

// Start starts collecting and exporting. It returns nil if nothing is to be exported. It does not wait for a
// collector: one that cannot be reached is reported with one warning, and what it does not take meanwhile is
// dropped. The SDK reads the other variables OTEL_… itself.
func Start(ctx context.Context, cfg Config) (*Telemetry, error) {
	var traces, metrics *exporter
	var err error
	if cfg.Getenv != nil {
		if traces, err = newExporter("traces", cfg.Getenv, cfg.Logger); err == nil {
			metrics, err = newExporter("metrics", cfg.Getenv, cfg.Logger)
		}
	}
	if err != nil || traces == nil && metrics == nil && !cfg.Prometheus {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // the SDK has no other way
		cfg.Logger.Warn("telemetry: " + err.Error())
	}))
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "sequent"),
			attribute.String("service.version", cmp.Or(cfg.Version, "dev")),
			attribute.String("service.instance.id", rand.Text()),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{tracer: noop.NewTracerProvider().Tracer(scope)}
	if traces != nil {
		provider := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(traces))
		t.tracer = provider.Tracer(scope, trace.WithInstrumentationVersion(cfg.Version))
		t.shutdown = append(t.shutdown, provider.Shutdown)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if metrics != nil {
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)))
	}
	if cfg.Prometheus {
		registry := prometheus.NewRegistry()
		page, err := promexporter.New(promexporter.WithRegisterer(registry), promexporter.WithoutScopeInfo(), promexporter.WithoutTargetInfo())
		if err != nil {
			return nil, err
		}
		t.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
		options = append(options, sdkmetric.WithReader(page))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.shutdown = append(t.shutdown, provider.Shutdown)
	t.meter = provider.Meter(scope, metric.WithInstrumentationVersion(cfg.Version))
	t.histograms = histograms(t.meter)
	return t, runtime.Start(runtime.WithMeterProvider(provider))
}

// Handler returns the page with metrics for Prometheus, which Config.Prometheus turns on.
func (t *Telemetry) Handler() http.Handler { return t.page }

// closeTimeout limits how long Close tries to export what is left of each kind.
const closeTimeout = time.Second

// Close exports what is left, for at most a second of each kind, and stops exporting.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	for _, shutdown := range t.shutdown {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		_ = shutdown(ctx) // failures are reported by the exporter
		cancel()
	}
	return nil
}

// texts returns attributes from pairs of a name and a value, without those that have no value.
func texts(pairs ...string) []attribute.KeyValue {
	var list []attribute.KeyValue
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, attribute.String(pairs[i], pairs[i+1]))
		}
	}
	return list
}
