package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/mcpserver"
)

// shown returns what a handler shows to Prometheus, as sorted lines.
func shown(t *testing.T, h http.Handler) []string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%d %s: %s", w.Code, kind, w.Body)
	}
	return slices.Sorted(strings.Lines(w.Body.String()))
}

// Prometheus reads the same from our page and from that of the official exporter.
func TestPageIsThatOfTheOfficialExporter(t *testing.T) {
	p, registry := &metricsPage{sdkmetric.NewManualReader()}, prom.NewRegistry()
	official, err := prometheus.New(prometheus.WithRegisterer(registry), prometheus.WithoutScopeInfo(), prometheus.WithoutTargetInfo())
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(p), sdkmetric.WithReader(official),
		sdkmetric.WithResource(resource.NewSchemaless(attribute.String("service.name", "sequent"), attribute.String("text", "a \"b\"\\\nc"), attribute.Int("n", 7), attribute.Bool("b", true))))
	meter := provider.Meter(scope)
	hostile := metric.WithAttributes(attribute.String("error.type", "a \"b\" \\ \n ü"), attribute.Int("rpc.response.status_code", -32601))
	plain := metric.WithAttributes(attribute.String("error.type", ""))
	for _, m := range Metrics() {
		name, unit, text := m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning+"\n\"\\")
		switch m.Kind {
		case "histogram":
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
	must(meter.Int64Gauge("share", metric.WithUnit("%"))).Record(t.Context(), 3)
	must(meter.Int64UpDownCounter("up.and.down")).Add(t.Context(), -3, plain)

	theirs := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	got, want := shown(t, p), shown(t, theirs)
	if n := len(Metrics()) + 2; count(want, "# TYPE ") < n {
		t.Errorf("the official page has fewer metrics than %d", n)
	}
	compare(t, got, want)

	if err := runtime.Start(runtime.WithMeterProvider(provider)); err != nil {
		t.Fatal(err)
	}
	got, want = withoutValues(shown(t, p)), withoutValues(shown(t, theirs)) // which change
	if count(want, "go_memory_used_bytes{") == 0 {
		t.Error("the official page has no metrics of the runtime")
	}
	compare(t, got, want)
}

// count returns how many lines begin with something.
func count(lines []string, prefix string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func withoutValues(lines []string) []string {
	for i, line := range lines {
		if !strings.HasPrefix(line, "#") {
			lines[i] = line[:strings.LastIndexByte(line, ' ')]
		}
	}
	return lines
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("our page is\n%s\nand theirs\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

// The page can be read by the parser of Prometheus, its linter finds nothing in it, and it has
// every metric that the documentation lists.
func TestPrometheus(t *testing.T) {
	quiet(t)
	tel, err := Start(t.Context(), Config{Prometheus: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close()
	g := limits.New(limits.Config{})
	engine := sequent.New(sequent.Config{Store: tel.Store(sequent.NewMemoryStore(), "sqlite")})
	tel.Watch(Sources{
		Engine: engine.Stats, Limits: g.Stats, StoreSize: func() int64 { return 4096 },
	})
	observe(tel, call(overHTTP), func(_ context.Context, x *mcpserver.Exchange) { x.Tool = "sequentialthinking" })
	if _, err := engine.Session(t.Context(), "none"); !errors.Is(err, sequent.ErrNotFound) {
		t.Fatal(err)
	}
	for _, err := range tel.Model(answering{}, "openai").Stream(t.Context(), llm.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	lines := shown(t, tel.Handler())
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	problems, err := promlint.New(w.Body).Lint()
	problems = slices.DeleteFunc(problems, func(p promlint.Problem) bool { return strings.HasPrefix(p.Metric, "go_") }) // names of the conventions
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
	for _, m := range Metrics() {
		if count(lines, "# TYPE "+m.Prometheus()+" ") != 1 {
			t.Errorf("no %s of %s", m.Prometheus(), m.Name)
		}
	}
}
