package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent/mcpserver"
)

// other is the name of a method that the protocol does not have, and of an error without a
// class.
const other = "_OTHER"

// Observer returns what a server of MCP tells of its requests.
func (t *Telemetry) Observer() mcpserver.Observer { return requests{t} }

// requests observes requests of MCP.
type requests struct{ *Telemetry }

// Begin begins the span of a request. Its parent is the trace context of the request's _meta;
// that of the HTTP request is a link, because the two are independent.
func (o requests) Begin(ctx context.Context, x *mcpserver.Exchange) (context.Context, func()) {
	options := []trace.SpanStartOption{trace.WithTimestamp(x.Received), trace.WithSpanKind(trace.SpanKindServer)}
	if link := remote(x.Via.Link); link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	ctx, span := o.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, remote(x.Parent)), other, options...)
	return ctx, func() {
		attributes := append(outcome(x), network(x)...)
		o.histograms["mcp.server.operation.duration"].Record(ctx, time.Since(x.Received).Seconds(), metric.WithAttributes(attributes...))
		if !span.IsRecording() {
			return
		}
		name := cmp.Or(x.Method, other)
		if target := x.Tool + x.Prompt; target != "" {
			name += " " + target
		}
		span.SetName(name)
		span.SetAttributes(attributes...)
		span.SetAttributes(texts("jsonrpc.request.id", requestID(x.ID), "mcp.session.id", x.Via.Session)...)
		if x.Via.Client.IsValid() {
			span.SetAttributes(attribute.String("client.address", x.Via.Client.String()))
		}
		if x.Code != 0 || x.Failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// outcome returns what was asked for and what became of it. All attributes have few values: names
// are those of the server.
func outcome(x *mcpserver.Exchange) []attribute.KeyValue {
	operation, status, class := "", "", ""
	if x.Method == "tools/call" {
		operation = "execute_tool"
	}
	switch {
	case x.Code != 0:
		status = strconv.Itoa(x.Code)
		class = status
	case x.Failed:
		class = "tool_error"
	}
	return texts("mcp.method.name", cmp.Or(x.Method, other), "gen_ai.operation.name", operation, "gen_ai.tool.name", x.Tool,
		"gen_ai.prompt.name", x.Prompt, "error.type", class, "rpc.response.status_code", status, "sequent.reason", x.Reason)
}

// network returns how a request came in.
func network(x *mcpserver.Exchange) []attribute.KeyValue {
	return texts("mcp.protocol.version", x.Protocol, "network.transport", x.Via.Transport, "network.protocol.name", x.Via.Protocol,
		"network.protocol.version", x.Via.Version, "sequent.dialect", x.Dialect)
}

// Other ignores what is no request of the protocol. Refusals are in the numbers of the limits.
func (requests) Other(*mcpserver.Exchange) {}

// Closed records how long a session of the handshake era lasted.
func (o requests) Closed(x *mcpserver.Exchange, lasted time.Duration) {
	o.histograms["mcp.server.session.duration"].Record(context.Background(), lasted.Seconds(), metric.WithAttributes(network(x)...))
}

// remote returns the span of a caller. What is malformed is as nothing.
func remote(c mcpserver.TraceContext) trace.SpanContext {
	headers := propagation.MapCarrier{"traceparent": c.Parent, "tracestate": c.State}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), headers))
}

// requestID returns the id of a request as text, or "" for one that is not exported: clients
// count, or generate UUIDs, and other ids could be texts.
func requestID(raw json.RawMessage) string {
	const maxID = 40
	id := strings.Trim(string(raw), `"`)
	isText := func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("-_.:+", r))
	}
	if len(id) > maxID || strings.ContainsFunc(id, isText) {
		return ""
	}
	return id
}
