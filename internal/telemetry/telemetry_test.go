package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	prommodel "github.com/prometheus/common/model"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/mcpserver"
)

// A receiver takes what is exported over OTLP, and decodes it with the protobufs of
// OpenTelemetry.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []*tracepb.Span
	metrics map[string]*metricspb.Metric // the latest of each name
	tokens  []string
	bytes   bytes.Buffer // everything
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{metrics: make(map[string]*metricspb.Metric)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		in := io.Reader(req.Body)
		if req.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(in)
			if err != nil {
				t.Error(err)
				return
			}
			in = unzipped
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bytes.Write(body)
		r.tokens = append(r.tokens, req.Header.Get("X-Token"))
		switch req.URL.Path {
		case "/v1/traces":
			var m tracepb.TracesData // has the same form as a request
			if err := proto.Unmarshal(body, &m); err != nil {
				t.Error(err)
			}
			for _, of := range m.ResourceSpans {
				for _, s := range of.ScopeSpans {
					r.spans = append(r.spans, s.Spans...)
				}
			}
		case "/v1/metrics":
			var m metricspb.MetricsData
			if err := proto.Unmarshal(body, &m); err != nil {
				t.Error(err)
			}
			for _, of := range m.ResourceMetrics {
				for _, s := range of.ScopeMetrics {
					for _, metric := range s.Metrics {
						r.metrics[metric.Name] = metric
					}
				}
			}
		default:
			http.NotFound(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// span returns the span with a name.
func (r *receiver) span(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.spans, func(s *tracepb.Span) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range r.spans {
			names = append(names, s.Name)
		}
		t.Fatalf("no span %q among %q", name, names)
	}
	return r.spans[i]
}

// attributes returns attributes as name=value, sorted.
func attributes(all []*commonpb.KeyValue) string {
	var out []string
	for _, a := range all {
		value := a.Value.GetStringValue()
		if value == "" {
			text, _ := json.Marshal(a.Value.Value)
			value = string(text)
		}
		out = append(out, a.Key+"="+value)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// quiet removes variables of the environment that would change what is exported.
func quiet(t *testing.T) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// start starts a Telemetry that exports to url.
func start(t *testing.T, url string, log io.Writer, env ...string) *Telemetry {
	t.Helper()
	quiet(t)
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Token=secret")
	tel, err := Start(t.Context(), Config{Traces: true, Metrics: true, Prometheus: true, Version: "v1", Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

const (
	parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	linked = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

// observe observes one request, which does f.
func observe(t *Telemetry, x mcpserver.Exchange, f func(ctx context.Context, x *mcpserver.Exchange)) {
	x.Received = time.Now()
	ctx, end := t.Observer().Begin(context.Background(), &x)
	f(ctx, &x)
	end()
}

func call(via mcpserver.Via) mcpserver.Exchange {
	return mcpserver.Exchange{Dialect: "standard", Method: "tools/call", ID: json.RawMessage(`"req-7"`), Protocol: "2026-07-28", Via: via}
}

var overHTTP = mcpserver.Via{Transport: "tcp", Protocol: "http", Version: "1.1", Client: netip.MustParseAddr("192.0.2.1")}

func TestSpans(t *testing.T) {
	r := newReceiver(t)
	tel := start(t, r.URL, io.Discard)
	x := call(overHTTP)
	x.Parent = mcpserver.TraceContext{Parent: parent, State: "vendor=1"}
	x.Via.Link = mcpserver.TraceContext{Parent: linked}
	x.Via.Session = "session-1"
	engine := sequent.New(sequent.Config{Store: tel.Store(sequent.NewMemoryStore(), "sqlite")})
	observe(tel, x, func(ctx context.Context, x *mcpserver.Exchange) {
		x.Tool = "sequentialthinking"
		_, err := engine.Begin(ctx, "s", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Text: "CANARY", Number: 1, Total: 1})
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	observe(tel, call(mcpserver.Via{Transport: "pipe"}), func(_ context.Context, x *mcpserver.Exchange) { x.Tool, x.Failed = "recall_thinking", true })
	observe(tel, mcpserver.Exchange{ID: json.RawMessage(`"a CANARY"`), Via: overHTTP}, func(_ context.Context, x *mcpserver.Exchange) { x.Code = -32601 })
	tel.Observer().Closed(&mcpserver.Exchange{Dialect: "standard", Protocol: "2025-11-25", Via: mcpserver.Via{Transport: "pipe"}}, time.Second)
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	s := r.span(t, "tools/call sequentialthinking")
	if got := attributes(s.Attributes); got != "client.address=192.0.2.1 gen_ai.operation.name=execute_tool gen_ai.tool.name=sequentialthinking jsonrpc.request.id=req-7 mcp.method.name=tools/call "+
		"mcp.protocol.version=2026-07-28 mcp.session.id=session-1 network.protocol.name=http network.protocol.version=1.1 network.transport=tcp sequent.dialect=standard" {
		t.Errorf("attributes %s", got)
	}
	if s.Kind != tracepb.Span_SPAN_KIND_SERVER || !bytes.Equal(s.TraceId, []byte("\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36")) ||
		!bytes.Equal(s.ParentSpanId, []byte("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7")) || s.TraceState != "vendor=1" {
		t.Errorf("it is not a child of the client's span: %v", s)
	}
	if len(s.Links) != 1 || !bytes.HasPrefix(s.Links[0].TraceId, []byte("\x0a\xf7\x65\x19")) {
		t.Errorf("links %v, want that of the HTTP request", s.Links)
	}
	commit := r.span(t, "commit")
	if !bytes.Equal(commit.ParentSpanId, s.SpanId) || commit.Kind != tracepb.Span_SPAN_KIND_CLIENT || attributes(commit.Attributes) != "db.operation.name=commit db.system.name=sqlite" {
		t.Errorf("the commit: %v", commit)
	}
	failed := r.span(t, "tools/call recall_thinking")
	if a := attributes(failed.Attributes); !strings.Contains(a, "error.type=tool_error") || strings.Contains(a, "client.address") || failed.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("the failed call: %v", failed)
	}
	unknown := r.span(t, "_OTHER")
	if a := attributes(unknown.Attributes); !strings.Contains(a, "error.type=-32601") || !strings.Contains(a, "rpc.response.status_code=-32601") || strings.Contains(a, "jsonrpc") {
		t.Errorf("the unknown method: %v", unknown)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Contains(r.bytes.Bytes(), []byte("CANARY")) || bytes.Contains(r.bytes.Bytes(), []byte("secret")) {
		t.Error("a text of a client or a token was exported")
	}
	if len(r.tokens) == 0 || slices.ContainsFunc(r.tokens, func(s string) bool { return s != "secret" }) {
		t.Errorf("headers of the exporter: %q", r.tokens)
	}
	duration := r.metrics["mcp.server.operation.duration"].GetHistogram()
	if duration == nil || len(duration.DataPoints) != 3 || !slices.Equal(duration.DataPoints[0].ExplicitBounds, mcpBuckets) {
		t.Errorf("durations %v", duration)
	}
	if session := r.metrics["mcp.server.session.duration"].GetHistogram(); session == nil || session.DataPoints[0].GetSum() != 1 ||
		attributes(session.DataPoints[0].Attributes) != "mcp.protocol.version=2025-11-25 network.transport=pipe sequent.dialect=standard" {
		t.Errorf("sessions %v", session)
	}
	if r.metrics["go.memory.used"] == nil {
		t.Error("no metrics of the Go runtime")
	}
}

// A failure of the collector is no failure of a call: it is reported once, memory is bounded,
// and Close takes no longer than it says.
func TestCollectorAway(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	url := away.URL
	away.Close()
	for name, url := range map[string]string{"refuses": url, "hangs": hanging(t)} {
		t.Run(name, func(t *testing.T) {
			var log syncBuffer
			tel := start(t, url, &log, "OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_BSP_MAX_QUEUE_SIZE=64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=32", "OTEL_BSP_EXPORT_TIMEOUT=200")
			begin := time.Now()
			for range 2000 {
				observe(tel, call(overHTTP), func(_ context.Context, x *mcpserver.Exchange) { x.Tool = "sequentialthinking" })
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("2,000 calls took %v", took)
			}
			for deadline := time.Now().Add(time.Minute); !strings.Contains(log.String(), "traces") && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			begin = time.Now()
			if err := tel.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > closeTimeout+5*time.Second {
				t.Errorf("Close took %v, of %v", took, closeTimeout)
			}
			if n := strings.Count(log.String(), "level=WARN"); n == 0 || n > 2 || strings.Count(log.String(), "does not take traces") != 1 {
				t.Errorf("%d warnings, want one for each kind:\n%s", n, log.String())
			}
		})
	}
}

// hanging returns the URL of a collector that never answers.
func hanging(t *testing.T) string {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); s.Close() })
	return s.URL
}

type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// A measured store has everything that an engine asks a store for.
func TestStoreKeepsMethods(t *testing.T) {
	r := newReceiver(t)
	tel := start(t, r.URL, io.Discard)
	defer tel.Close()
	plain := sequent.NewMemoryStore()
	if s, ok := tel.Store(plain, "sqlite").(interface{ Lanes() int }); ok {
		t.Errorf("it has %d lanes, and the store none", s.Lanes())
	}
	e := sequent.New(sequent.Config{Store: tel.Store(twoLanes{plain}, "sqlite")})
	if n := e.Stats().Lanes; n != 2 {
		t.Errorf("%d lanes, want 2", n)
	}
	_, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "x", Number: 1, Total: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Share(t.Context(), "s", sequent.ShareConfig{}); err != nil {
		t.Error(err)
	}
}

// twoLanes commits two batches at a time.
type twoLanes struct{ *sequent.MemoryStore }

func (twoLanes) Lanes() int { return 2 }

// The page can be read by the parser of Prometheus, its linter finds nothing in it, and it has
// every metric that the documentation lists.
func TestPrometheus(t *testing.T) {
	quiet(t)
	tel, err := Start(t.Context(), Config{Prometheus: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close()
	g := governor.New(governor.Config{})
	engine := sequent.New(sequent.Config{Store: tel.Store(sequent.NewMemoryStore(), "sqlite")})
	tel.Watch(Sources{
		Engine: engine.Stats, Governor: g.Stats, Stalled: func() int { return 0 },
		StoreSize: func() int64 { return 4096 }, IndexLag: func() int64 { return 7 },
	})
	observe(tel, call(overHTTP), func(_ context.Context, x *mcpserver.Exchange) { x.Tool = "sequentialthinking" })
	tel.Observer().Closed(&mcpserver.Exchange{Protocol: "2025-11-25"}, time.Second)
	if _, err := engine.Session(t.Context(), "none"); !errors.Is(err, sequent.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := tel.Model(answering{}, "openai").Chat(t.Context(), llm.Request{}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(prommodel.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.New(bytes.NewReader(w.Body.Bytes())).Lint()
	problems = slices.DeleteFunc(problems, func(p promlint.Problem) bool { return strings.HasPrefix(p.Metric, "go_") }) // names of the conventions
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
	for _, m := range Metrics() {
		if families[m.Prometheus()] == nil {
			t.Errorf("no %s of %s", m.Prometheus(), m.Name)
		}
	}
	if t.Failed() {
		t.Log(w.Body)
	}
}

// answering is a model that answers with a secret.
type answering struct{ err error }

func (answering) Name() string { return "gpt-test" }

func (a answering) Chat(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Message: llm.Message{Text: "CANARY"}, Stop: llm.StopEnd, Usage: llm.Usage{Input: 5, Output: 3}, Model: "gpt-test-1"}, a.err
}

func (a answering) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		res, err := a.Chat(ctx, r)
		if err != nil {
			yield(llm.Event{}, err)
		} else if yield(llm.Event{Text: "CANARY"}, nil) {
			yield(llm.Event{Response: &res}, nil)
		}
	}
}

func TestModels(t *testing.T) {
	r := newReceiver(t)
	tel := start(t, r.URL, io.Discard)
	failing := tel.Model(answering{err: &llm.Error{Code: llm.CodeUnavailable, Msg: "CANARY"}}, "openai")
	if _, err := failing.Chat(t.Context(), llm.Request{}); err == nil {
		t.Error("no error")
	}
	answered := tel.Model(answering{}, "openai")
	for e, err := range answered.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Text: "CANARY"}}}) {
		if err != nil {
			t.Error(e, err)
		}
	}
	// The service gets the context of the call.
	var header string
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { header = r.Header.Get("Traceparent") }))
	defer service.Close()
	observe(tel, call(overHTTP), func(ctx context.Context, _ *mcpserver.Exchange) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, service.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&http.Client{Transport: Transport(http.DefaultTransport)}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	})
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	if len(header) != len(parent) {
		t.Errorf("traceparent %q", header)
	}
	if a := attributes(r.span(t, "chat").Attributes); a != "error.type=model_unavailable gen_ai.operation.name=chat gen_ai.provider.name=openai" {
		t.Errorf("the failed call: %s", a)
	}
	if a := attributes(r.span(t, "chat gpt-test").Attributes); !strings.Contains(a, "gen_ai.request.model=gpt-test gen_ai.response.finish_reasons=") || !strings.Contains(a, "gen_ai.usage.input_tokens=") {
		t.Errorf("the answered call: %s", a)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Contains(r.bytes.Bytes(), []byte("CANARY")) {
		t.Error("a text was exported")
	}
	if tokens := r.metrics["gen_ai.client.token.usage"].GetHistogram(); tokens == nil || len(tokens.DataPoints) != 2 {
		t.Errorf("tokens %v", tokens)
	}
}

func TestFromEnvironment(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"
	for _, tt := range []struct {
		env             string
		traces, metrics bool
		err             string
	}{
		{env: ""},
		{env: endpoint, traces: true, metrics: true},
		{env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/v1/traces", traces: true},
		{env: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4318/v1/metrics", metrics: true},
		{env: endpoint + " OTEL_TRACES_EXPORTER=none", metrics: true},
		{env: endpoint + " OTEL_METRICS_EXPORTER=none OTEL_TRACES_EXPORTER=otlp", traces: true},
		{env: endpoint + " OTEL_SDK_DISABLED=TRUE"},
		{env: endpoint + " OTEL_TRACES_EXPORTER=zipkin", err: "OTEL_TRACES_EXPORTER: use otlp or none"},
		{env: endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", traces: true, metrics: true},
		{env: endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc", err: "use http/protobuf"},
		{env: endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf OTEL_METRICS_EXPORTER=none", traces: true},
	} {
		env := make(map[string]string)
		for v := range strings.FieldsSeq(tt.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		traces, metrics, err := FromEnvironment(func(name string) string { return env[name] })
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || tt.err == "" && (err != nil || traces != tt.traces || metrics != tt.metrics) {
			t.Errorf("%q: traces %t, metrics %t, %v", tt.env, traces, metrics, err)
		}
	}
}

func TestLogHandler(t *testing.T) {
	r := newReceiver(t)
	var out bytes.Buffer
	tel := start(t, r.URL, io.Discard)
	logger := slog.New(LogHandler(slog.NewTextHandler(&out, nil))).With("a", 1).WithGroup("g")
	x := call(overHTTP)
	x.Parent.Parent = parent
	observe(tel, x, func(ctx context.Context, _ *mcpserver.Exchange) { logger.InfoContext(ctx, "here") })
	logger.Info("there")
	if lines := strings.Split(out.String(), "\n"); !strings.Contains(lines[0], "trace_id=4bf92f3577b34da6a3ce929d0e0e4736") || !strings.Contains(lines[0], "span_id=") || strings.Contains(lines[1], "span_id") {
		t.Errorf("logged:\n%s", out.String())
	}
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
}
