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
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
)

// scope is the name of the instrumentation in what is exported.
const scope = "github.com/sequent-dev/sequent"

// A Config configures Start. At least one of the exporters is on; see [FromEnvironment].
type Config struct {
	Traces     bool         // export traces over OTLP
	Metrics    bool         // export metrics over OTLP
	Prometheus bool         // have metrics for [Telemetry.Handler]
	Version    string       // of the program
	Logger     *slog.Logger // required
}

// A Telemetry collects and exports. The caller must call Close.
type Telemetry struct {
	logger   *slog.Logger
	tracer   *tracer // nil if traces are not exported
	meter    metric.Meter
	metrics  *sdkmetric.MeterProvider
	page     *metricsPage // nil without Prometheus
	requests requests
	models   models
	stores   metric.Float64Histogram
}

// Start starts collecting and exporting. It does not wait for a collector: one that cannot be
// reached is reported with one warning, and what does not fit into a bounded queue meanwhile
// is dropped.
func Start(ctx context.Context, cfg Config) (*Telemetry, error) {
	t := &Telemetry{logger: cfg.Logger}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // the SDK has no other way
		t.logger.DebugContext(context.Background(), "telemetry", "error", err)
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
	if err := t.startTraces(ctx, cfg, res); err != nil {
		return nil, err
	}
	if err := t.startMetrics(ctx, cfg, res); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// startTraces starts the export of traces. Sampler, queue and collector are those of the
// environment.
func (t *Telemetry) startTraces(ctx context.Context, cfg Config, res *resource.Resource) error {
	if !cfg.Traces {
		return nil
	}
	exporter, err := newTraceExporter(res, cfg.Version, t.logger)
	if err != nil {
		return err
	}
	sampler, err := envSampler(os.Getenv)
	if err != nil {
		t.logger.WarnContext(ctx, "a setting is ignored: all traces are exported but those that the client does not sample", "error", err)
	}
	config := envQueue(os.Getenv)
	config.Room = exporter.room()
	t.tracer = &tracer{sampler: sampler, queue: newSpanQueue(config, exporter.send)}
	return nil
}

// startMetrics starts the export of metrics, to one exporter or both.
func (t *Telemetry) startMetrics(ctx context.Context, cfg Config, res *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if os.Getenv("OTEL_METRICS_EXEMPLAR_FILTER") == "" { // as much work for a traced call as all else of a metric
		options = append(options, sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	}
	if cfg.Metrics {
		exporter, err := newMetricExporter(t.logger)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	if cfg.Prometheus {
		t.page = newMetricsPage(t.logger)
		options = append(options, sdkmetric.WithReader(t.page.reader))
	}
	t.metrics = sdkmetric.NewMeterProvider(options...)
	t.meter = t.metrics.Meter(scope, metric.WithInstrumentationVersion(cfg.Version))
	t.requests.init(t)
	t.models.init(t)
	t.stores = t.histogram("db.client.operation.duration")
	return runtime.Start(runtime.WithMeterProvider(t.metrics))
}

// Handler returns the page with metrics for Prometheus, nil if Config.Prometheus was not set.
func (t *Telemetry) Handler() http.Handler {
	if t.page == nil {
		return nil
	}
	return t.page
}

// closeTimeout limits how long Close tries to export what is left.
const closeTimeout = 2 * time.Second

// Close exports what is left, for at most two seconds, and stops exporting.
func (t *Telemetry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	done := make(chan struct{})
	go func() { // both at a time, so that one cannot use up the time of the other
		defer close(done)
		if t.metrics != nil {
			_ = t.metrics.Shutdown(ctx) // reported by the exporter
		}
	}()
	if t.tracer != nil {
		t.tracer.queue.close(ctx)
	}
	<-done
	return nil
}
