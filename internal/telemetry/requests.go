package telemetry

import (
	"cmp"
	"context"
	"strconv"
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

// Observe begins the span of a request; see [mcpserver.Observer]. Its parent is the trace context of the
// request's _meta; that of the HTTP request is a link, because the two are independent. What is no request
// of the protocol is in the numbers of the limits.
func (t *Telemetry) Observe(ctx context.Context, x *mcpserver.Exchange) (context.Context, func()) {
	if t == nil || x.Bare {
		return ctx, func() {}
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(x.Received), trace.WithSpanKind(trace.SpanKindServer)}
	if link := remote(x.Via.Link); link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	ctx, span := t.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, remote(x.Parent)), other, options...)
	return ctx, func() {
		attributes := append(outcome(x), network(x)...)
		t.histograms["mcp.server.operation.duration"].Record(ctx, time.Since(x.Received).Seconds(), metric.WithAttributes(attributes...))
		if !span.IsRecording() {
			return
		}
		name := cmp.Or(x.Method, other)
		if target := x.Tool + x.Prompt; target != "" {
			name += " " + target
		}
		span.SetName(name)
		span.SetAttributes(attributes...)
		span.SetAttributes(texts("mcp.session.id", x.Via.Session)...)
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

// remote returns the span of a caller. What is malformed is as nothing.
func remote(c mcpserver.TraceContext) trace.SpanContext {
	headers := propagation.MapCarrier{"traceparent": c.Parent, "tracestate": c.State}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), headers))
}
