package telemetry

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prommodel "github.com/prometheus/common/model"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/protobuf/proto"
)

// families reads a page as Prometheus does.
func families(t *testing.T, h http.Handler) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%d %s: %s", w.Code, kind, w.Body)
	}
	parser := expfmt.NewTextParser(prommodel.LegacyValidation)
	all, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.Metric {
			slices.SortFunc(m.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
		}
		slices.SortFunc(f.Metric, func(a, b *dto.Metric) int { return strings.Compare(a.String(), b.String()) })
	}
	return all
}

// Prometheus reads the same from our page and from that of the official exporter.
func TestPageIsThatOfTheOfficialExporter(t *testing.T) {
	p, registry := newMetricsPage(slog.New(slog.DiscardHandler)), prom.NewRegistry()
	official, err := prometheus.New(prometheus.WithRegisterer(registry), prometheus.WithoutScopeInfo())
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(p.reader), sdkmetric.WithReader(official),
		sdkmetric.WithResource(resource.NewSchemaless(attribute.String("service.name", "sequent"), attribute.String("text", "a \"b\"\\\nc"), attribute.Int("n", 7), attribute.Bool("b", true))))
	meter := provider.Meter(scope)
	hostile := metric.WithAttributes(attribute.String("error.type", "a \"b\" \\ \n ü"), attribute.Int("rpc.response.status_code", -32601))
	plain := metric.WithAttributes(attribute.String("error.type", ""))
	for _, m := range Metrics() {
		name, unit, text := m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning+"\n\"\\")
		switch m.Kind {
		case "histogram":
			if m.Unit == "{token}" {
				h := must(meter.Int64Histogram(name, unit, text, metric.WithExplicitBucketBoundaries(m.buckets...)))
				h.Record(t.Context(), 3)
				continue
			}
			h := must(meter.Float64Histogram(name, unit, text, metric.WithExplicitBucketBoundaries(m.buckets...)))
			for _, v := range []float64{0, 0.01, 0.1234567, 5, 1e9} {
				h.Record(t.Context(), v, hostile)
			}
			h.Record(t.Context(), 1, plain)
		case "counter":
			must(meter.Int64Counter(name, unit, text)).Add(t.Context(), 1<<53, hostile)
		default:
			g := must(meter.Int64Gauge(name, unit, text))
			g.Record(t.Context(), -1_000_000)
			g.Record(t.Context(), 1, hostile)
		}
	}
	must(meter.Float64Gauge("share", metric.WithUnit("%"))).Record(t.Context(), math.Pi)
	must(meter.Float64Gauge("infinite")).Record(t.Context(), math.Inf(1))
	must(meter.Float64Counter("cost")).Add(t.Context(), 1e21)
	must(meter.Int64UpDownCounter("up.and.down")).Add(t.Context(), -3, plain)

	got, want := families(t, p), families(t, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if len(want) < len(Metrics())+5 {
		t.Errorf("the official page has %d metrics", len(want))
	}
	compare(t, got, want, true)

	if err := runtime.Start(runtime.WithMeterProvider(provider)); err != nil {
		t.Fatal(err)
	}
	got, want = families(t, p), families(t, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if want["go_memory_used_bytes"] == nil {
		t.Error("the official page has no metrics of the runtime")
	}
	compare(t, got, want, false) // their values change
}

func compare(t *testing.T, got, want map[string]*dto.MetricFamily, values bool) {
	t.Helper()
	for name, f := range want {
		switch g := got[name]; {
		case g == nil:
			t.Errorf("no %s", name)
		case g.GetType() != f.GetType() || g.GetHelp() != f.GetHelp() || len(g.Metric) != len(f.Metric):
			t.Errorf("%s is\n%v\nwant\n%v", name, g, f)
		case values && !proto.Equal(g, f):
			t.Errorf("%s is\n%v\nwant\n%v", name, g, f)
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("%s is on our page only", name)
		}
	}
}

// A page answers a few requests at a time, and reports what cannot be collected.
func TestPageLimits(t *testing.T) {
	p := newMetricsPage(slog.New(slog.DiscardHandler))
	get := func() int {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Code
	}
	if got := get(); got != http.StatusInternalServerError {
		t.Errorf("status %d of a page without a provider", got)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(p.reader))
	_, err := provider.Meter(scope).Int64ObservableGauge("slow", metric.WithInt64Callback(func(context.Context, metric.Int64Observer) error {
		entered <- struct{}{}
		<-release
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	codes := make(chan int)
	for range maxPageReaders {
		go func() { codes <- get() }()
	}
	<-entered // the others wait for the reader
	for deadline := time.Now().Add(time.Minute); len(p.readers) < maxPageReaders; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the requests do not begin")
		}
	}
	if got := get(); got != http.StatusServiceUnavailable {
		t.Errorf("status %d of one request too many", got)
	}
	go func() {
		for range maxPageReaders - 1 {
			<-entered
		}
	}()
	close(release)
	for range maxPageReaders {
		if got := <-codes; got != http.StatusOK {
			t.Errorf("status %d", got)
		}
	}
}
