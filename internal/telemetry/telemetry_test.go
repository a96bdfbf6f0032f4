package telemetry

import (
	"bytes"
	"cmp"
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
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/mcpserver"
)

// Messages of OTLP 1.11, as far as the program sends them: nothing else may be in what it sends.
// That a collector reads them is for e2e/telemetry.
type (
	message struct {
		ResourceSpans   []resourceMessage
		ResourceMetrics []resourceMessage
	}
	resourceMessage struct {
		Resource                 struct{ Attributes []keyValue }
		SchemaURL                string
		ScopeSpans, ScopeMetrics []scopeMessage
	}
	scopeMessage struct {
		Scope     struct{ Name, Version string }
		SchemaURL string
		Spans     []spanMessage
		Metrics   []metricMessage
	}
	keyValue struct {
		Key   string
		Value struct {
			StringValue, IntValue string
		}
	}
	spanMessage struct {
		TraceID, SpanID, TraceState, ParentSpanID, Name string
		Kind                                            int
		StartTimeUnixNano, EndTimeUnixNano              int64 `json:",string"`
		Attributes                                      []keyValue
		Links                                           []struct{ TraceID, SpanID, TraceState string }
		Status                                          struct{ Code int }
	}
	metricMessage struct {
		Name, Unit, Description string
		Gauge, Sum, Histogram   *data
	}
	data struct {
		DataPoints             []dataPoint
		AggregationTemporality int
		IsMonotonic            bool
	}
	dataPoint struct {
		Attributes                      []keyValue
		StartTimeUnixNano, TimeUnixNano int64  `json:",string"`
		AsInt                           int64  `json:",string"`
		Count                           uint64 `json:",string"`
		Sum                             float64
		BucketCounts                    []uint64
		ExplicitBounds                  []float64
	}
)

// A receiver takes what is exported over OTLP.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []spanMessage
	metrics map[string]metricMessage // the latest of each name
	tokens  []string
	bytes   bytes.Buffer // everything
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{metrics: make(map[string]metricMessage)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bytes.Write(body)
		r.tokens = append(r.tokens, req.Header.Get("X-Token"))
		var m message
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil || (req.URL.Path == "/v1/traces") == (m.ResourceSpans == nil) || (req.URL.Path == "/v1/metrics") == (m.ResourceMetrics == nil) {
			t.Errorf("%s: %s, %v", req.URL, body, err)
		}
		for _, of := range append(m.ResourceSpans, m.ResourceMetrics...) {
			for _, s := range append(of.ScopeSpans, of.ScopeMetrics...) {
				r.spans = append(r.spans, s.Spans...)
				for _, metric := range s.Metrics {
					r.metrics[metric.Name] = metric
				}
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// span returns the span with a name.
func (r *receiver) span(t *testing.T, name string) spanMessage {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.spans, func(s spanMessage) bool { return s.Name == name })
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
func attributes(all []keyValue) string {
	var out []string
	for _, a := range all {
		out = append(out, a.Key+"="+cmp.Or(a.Value.StringValue, a.Value.IntValue))
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
	tel, err := Start(t.Context(), Config{Getenv: os.Getenv, Prometheus: true, Version: "v1", Logger: slog.New(slog.NewTextHandler(log, nil))})
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
	ctx, end := t.Observe(context.Background(), &x)
	f(ctx, &x)
	end()
}

func call(via mcpserver.Via) mcpserver.Exchange {
	return mcpserver.Exchange{Dialect: "standard", Method: "tools/call", ID: json.RawMessage(`7`), Protocol: "2026-07-28", Via: via}
}

var overHTTP = mcpserver.Via{Transport: "tcp", Protocol: "http", Version: "1.1", Client: netip.MustParseAddr("192.0.2.1")}

// Enumerations of OTLP.
const kindServer, kindClient, statusError, cumulative = 2, 3, 2, 2

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
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	s := r.span(t, "tools/call sequentialthinking")
	if got := attributes(s.Attributes); got != "client.address=192.0.2.1 gen_ai.operation.name=execute_tool gen_ai.tool.name=sequentialthinking mcp.method.name=tools/call "+
		"mcp.protocol.version=2026-07-28 mcp.session.id=session-1 network.protocol.name=http network.protocol.version=1.1 network.transport=tcp sequent.dialect=standard" {
		t.Errorf("attributes %s", got)
	}
	if s.Kind != kindServer || s.TraceID != parent[3:35] || s.ParentSpanID != parent[36:52] ||
		s.TraceState != "vendor=1" || s.StartTimeUnixNano == 0 || s.EndTimeUnixNano <= s.StartTimeUnixNano {
		t.Errorf("it is not a child of the client's span: %v", s)
	}
	if len(s.Links) != 1 || s.Links[0].TraceID != linked[3:35] || s.Links[0].SpanID != linked[36:52] {
		t.Errorf("links %v, want that of the HTTP request", s.Links)
	}
	commit := r.span(t, "commit")
	if commit.ParentSpanID != s.SpanID || commit.Kind != kindClient ||
		attributes(commit.Attributes) != "db.operation.name=commit db.system.name=sqlite" {
		t.Errorf("the commit: %v", commit)
	}
	failed := r.span(t, "tools/call recall_thinking")
	if a := attributes(failed.Attributes); !strings.Contains(a, "error.type=tool_error") || strings.Contains(a, "client.address") || failed.Status.Code != statusError {
		t.Errorf("the failed call: %v", failed)
	}
	unknown := r.span(t, "_OTHER")
	if a := attributes(unknown.Attributes); !strings.Contains(a, "error.type=-32601") || !strings.Contains(a, "rpc.response.status_code=-32601") {
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
	duration := r.metrics["mcp.server.operation.duration"].Histogram
	if duration == nil || len(duration.DataPoints) != 3 || !slices.Equal(duration.DataPoints[0].ExplicitBounds, mcpBuckets) ||
		len(duration.DataPoints[0].BucketCounts) != len(mcpBuckets)+1 || duration.DataPoints[0].Count != 1 ||
		duration.AggregationTemporality != cumulative {
		t.Errorf("durations %v", duration)
	}
	if used := r.metrics["go.memory.used"].Sum; used == nil || used.IsMonotonic || used.DataPoints[0].AsInt == 0 {
		t.Errorf("memory of the Go runtime: %v", used)
	}
}

// unreachable is a collector that cannot be reached, or hangs.
type unreachable struct{ hangs bool }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	if u.hangs {
		<-r.Context().Done()
	}
	return nil, errors.New("unreachable")
}

// A failure of the collector is no failure of a call: it is reported once, memory is bounded,
// and Close takes no longer than it says.
func TestCollectorAway(t *testing.T) {
	usual := http.DefaultTransport
	defer func() { http.DefaultTransport = usual }()
	for _, hangs := range []bool{false, true} {
		http.DefaultTransport = unreachable{hangs}
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			tel := start(t, "http://127.0.0.1:1", &log, "OTEL_BSP_MAX_QUEUE_SIZE=64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=32")
			for range 2000 {
				observe(tel, call(overHTTP), func(_ context.Context, x *mcpserver.Exchange) { x.Tool = "sequentialthinking" })
			}
			time.Sleep(5 * time.Minute)
			begin := time.Now()
			if err := tel.Close(); err != nil || time.Since(begin) > 2*closeTimeout {
				t.Errorf("Close took %v, error %v", time.Since(begin), err)
			}
			synctest.Wait()
			for _, kind := range []string{"traces", "metrics"} {
				if strings.Count(log.String(), "does not take "+kind) != 1 {
					t.Errorf("hangs: %t: want one warning for %s:\n%s", hangs, kind, &log)
				}
			}
		})
	}
}

// A measured store can do what the store can, and its searches are measured.
func TestStoreUnwraps(t *testing.T) {
	r := newReceiver(t)
	tel := start(t, r.URL, io.Discard)
	defer tel.Close()
	measured := tel.Store(sequent.NewMemoryStore(), "sqlite")
	if _, ok := sequent.As[sequent.Values](measured); !ok {
		t.Error("it keeps no values")
	}
	if _, ok := sequent.As[sequent.Sweeper](measured); ok {
		t.Error("it sweeps, and the store does not")
	}
	if s, _ := sequent.As[sequent.Searcher](measured); s != measured.(sequent.Searcher) {
		t.Errorf("%T searches", s)
	}
}

// answering is a model that answers with a secret.
type answering struct{ err error }

func (answering) Name() string { return "gpt-test" }

func (a answering) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		res := llm.Response{Message: llm.Message{Text: "CANARY"}, Stop: llm.StopEnd, Usage: llm.Usage{Input: 5, Output: 3}, Model: "gpt-test-1"}
		if a.err != nil {
			yield(llm.Event{}, a.err)
		} else if yield(llm.Event{Text: "CANARY"}, nil) {
			yield(llm.Event{Response: &res}, nil)
		}
	}
}

func TestModels(t *testing.T) {
	r := newReceiver(t)
	tel := start(t, r.URL, io.Discard)
	failing := tel.Model(answering{err: &llm.Error{Code: llm.CodeUnavailable, Msg: "CANARY"}}, "openai")
	for _, err := range failing.Stream(t.Context(), llm.Request{}) {
		if err == nil {
			t.Error("no error")
		}
	}
	answered := tel.Model(answering{}, "openai")
	for e, err := range answered.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Text: "CANARY"}}}) {
		if err != nil {
			t.Error(e, err)
		}
	}
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var calls []string
	for _, s := range r.spans {
		if s.Name == "chat" {
			calls = append(calls, attributes(s.Attributes))
		}
	}
	if want := []string{
		"error.type=model_unavailable gen_ai.operation.name=chat gen_ai.provider.name=openai",
		"gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.response.model=gpt-test-1 gen_ai.usage.input_tokens=5 gen_ai.usage.output_tokens=3",
	}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if bytes.Contains(r.bytes.Bytes(), []byte("CANARY")) {
		t.Error("a text was exported")
	}
	if tokens := r.metrics["gen_ai.client.token.usage"].Histogram; tokens == nil || len(tokens.DataPoints) != 2 {
		t.Errorf("tokens %v", tokens)
	}
}
