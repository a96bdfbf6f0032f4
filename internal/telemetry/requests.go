package telemetry

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent/mcpserver"
)

// other is the name of a method that the protocol does not have, and of an error without a
// class.
const other = "_OTHER"

// requests observes requests of MCP. It is a [mcpserver.Observer].
type requests struct {
	tracer    *tracer
	operation metric.Float64Histogram
	session   metric.Float64Histogram
	kinds     sync.Map                    // of *kindOptions by kind
	latest    atomic.Pointer[kindOptions] // used last; nearly all requests of a client are of one kind
}

func (o *requests) init(t *Telemetry) {
	o.tracer = t.tracer
	o.operation = t.histogram("mcp.server.operation.duration")
	o.session = t.histogram("mcp.server.session.duration")
}

// Observer returns what a server of MCP tells of its requests.
func (t *Telemetry) Observer() mcpserver.Observer { return &t.requests }

// A kind has what requests have in common that are counted together.
type kind struct {
	dialect, method, tool, prompt, protocol string
	transport, network, version             string
	reason                                  string
	code                                    int
	failed                                  bool
}

// kindOf returns the kind of an exchange that has ended. All its fields have few values: names
// are those of the server, and a failed call of any client is of the same kind.
func kindOf(x *mcpserver.Exchange) kind {
	return kind{
		dialect: x.Dialect, method: x.Method, tool: x.Tool, prompt: x.Prompt, protocol: x.Protocol,
		transport: x.Via.Transport, network: x.Via.Protocol, version: x.Via.Version, code: x.Code, failed: x.Failed, reason: x.Reason,
	}
}

// kindOptions are the options of a kind for spans and metrics.
type kindOptions struct {
	kind       kind
	name       string
	attributes []attribute.KeyValue
	shared     []byte // the same, encoded
	failed     bool
	measure    []metric.RecordOption
}

// options returns the options of a kind, which are made once.
func (o *requests) options(k kind) *kindOptions {
	if latest := o.latest.Load(); latest != nil && latest.kind == k {
		return latest
	}
	made, ok := o.kinds.Load(k)
	if !ok {
		made, _ = o.kinds.LoadOrStore(k, newKindOptions(k))
	}
	o.latest.Store(made.(*kindOptions))
	return made.(*kindOptions)
}

func newKindOptions(k kind) *kindOptions {
	made := &kindOptions{kind: k, name: k.method}
	add := func(key, value string) {
		if value != "" {
			made.attributes = append(made.attributes, attribute.String(key, value))
		}
	}
	if made.name == "" {
		made.name = other
	}
	add("mcp.method.name", made.name)
	if k.method == "tools/call" {
		add("gen_ai.operation.name", "execute_tool")
	}
	add("gen_ai.tool.name", k.tool)
	add("gen_ai.prompt.name", k.prompt)
	if target := k.tool + k.prompt; target != "" {
		made.name += " " + target
	}
	switch {
	case k.code != 0:
		add("error.type", strconv.Itoa(k.code))
		add("rpc.response.status_code", strconv.Itoa(k.code))
	case k.failed:
		add("error.type", "tool_error")
	}
	add("sequent.reason", k.reason)
	made.failed = k.code != 0 || k.failed
	add("mcp.protocol.version", k.protocol)
	add("network.transport", k.transport)
	add("network.protocol.name", k.network)
	add("network.protocol.version", k.version)
	add("sequent.dialect", k.dialect)
	made.shared = sharedAttributes(made.attributes)
	made.measure = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(made.attributes...))}
	return made
}

// Begin begins the span of a request. Its parent is the trace context of the request's _meta;
// that of the HTTP request is a link, because the two are independent.
func (o *requests) Begin(ctx context.Context, x *mcpserver.Exchange) (context.Context, func()) {
	if o.tracer == nil {
		return ctx, func() { o.record(ctx, x, time.Now()) }
	}
	ctx, span := o.tracer.start(ctx, remote(x.Parent), trace.SpanKindServer, x.Received)
	return ctx, func() { o.end(ctx, span, x) }
}

// record records how long a request has taken, and returns what it has in common with others.
func (o *requests) record(ctx context.Context, x *mcpserver.Exchange, now time.Time) *kindOptions {
	k := o.options(kindOf(x))
	o.operation.Record(ctx, now.Sub(x.Received).Seconds(), k.measure...)
	return k
}

func (o *requests) end(ctx context.Context, span *span, x *mcpserver.Exchange) {
	now := time.Now()
	k := o.record(ctx, x, now)
	if !span.IsRecording() {
		return
	}
	var buf [3]attribute.KeyValue
	own := buf[:0]
	if id := requestID(x.ID); id != "" {
		own = append(own, attribute.String("jsonrpc.request.id", id))
	}
	if x.Via.Session != "" {
		own = append(own, attribute.String("mcp.session.id", x.Via.Session))
	}
	if x.Via.Client.IsValid() {
		own = append(own, attribute.String("client.address", x.Via.Client.String()))
	}
	span.end(&ended{name: k.name, at: now, shared: k.shared, own: own, link: remote(x.Via.Link), failed: k.failed})
}

// Other ignores what is no request of the protocol. Refusals are in the numbers of the limits.
func (o *requests) Other(*mcpserver.Exchange) {}

// Closed records how long a session of the handshake era lasted.
func (o *requests) Closed(x *mcpserver.Exchange, lasted time.Duration) {
	k := o.options(kind{
		dialect: x.Dialect, method: "initialize", protocol: x.Protocol,
		transport: x.Via.Transport, network: x.Via.Protocol, version: x.Via.Version,
	})
	session := attribute.NewSet(k.attributes[1:]...) // without the method
	o.session.Record(context.Background(), lasted.Seconds(), metric.WithAttributeSet(session))
}

// remote returns the span of a caller. What is malformed is as nothing.
func remote(c mcpserver.TraceContext) trace.SpanContext {
	if c.Parent == "" {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier(c)))
}

// A carrier has the headers of a trace context.
type carrier mcpserver.TraceContext

// Get returns a header.
func (c carrier) Get(key string) string {
	switch key {
	case "traceparent":
		return c.Parent
	case "tracestate":
		return c.State
	}
	return ""
}

// Set is not used to read.
func (carrier) Set(string, string) {}

// Keys returns the names of the headers.
func (carrier) Keys() []string { return []string{"traceparent", "tracestate"} }

// maxID is the longest id of a request that is exported. Clients count, or generate UUIDs;
// other ids could be texts.
const maxID = 40

// requestID returns the id of a request as text, or "" for one that is not exported.
func requestID(raw json.RawMessage) string {
	if len(raw) == 0 || len(raw) > maxID+2 {
		return ""
	}
	id := string(raw)
	if id[0] == '"' {
		id = id[1 : len(id)-1]
	}
	for _, c := range []byte(id) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', c == '_', c == '.', c == ':', c == '+':
		default:
			return ""
		}
	}
	return id
}
