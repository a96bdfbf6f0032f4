package telemetry

import (
	"context"
	"log/slog"
	"math"

	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/protobuf/encoding/protowire"
)

// A traceExporter sends encoded spans to a collector.
type traceExporter struct {
	*sender
	// What all messages have in common: the resource and its schema, and the scope.
	resource, scope []byte
}

// The fields of an ExportTraceServiceRequest, a ResourceSpans and a ScopeSpans.
const (
	requestSpans                                                    = 1
	resourceSpansResource, resourceSpansScopes, resourceSpansSchema = 1, 2, 3
	scopeSpansScope                                                 = 1
)

func newTraceExporter(res *resource.Resource, version string, logger *slog.Logger) (*traceExporter, error) {
	s, err := newSender("traces", logger)
	if err != nil {
		return nil, err
	}
	return &traceExporter{
		sender:   s,
		resource: appendText(appendResource(nil, resourceSpansResource, res), resourceSpansSchema, res.SchemaURL()),
		scope:    appendScope(nil, scopeSpansScope, scope, version),
	}, nil
}

// room returns how many bytes send needs before the spans.
func (e *traceExporter) room() int {
	return len(e.resource) + len(e.scope) + 4*protowire.SizeVarint(math.MaxInt64)
}

// send sends the spans of a batch, which are encoded as fields of a ScopeSpans and have room
// before them.
func (e *traceExporter) send(ctx context.Context, batch []byte) {
	room := e.room()
	in := len(e.scope) + len(batch) - room
	b := make([]byte, 0, room)
	b = protowire.AppendTag(b, requestSpans, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(e.resource)+protowire.SizeTag(resourceSpansScopes)+protowire.SizeBytes(in)))
	b = append(b, e.resource...)
	b = protowire.AppendTag(b, resourceSpansScopes, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(in))
	b = append(b, e.scope...)
	message := batch[room-len(b):]
	copy(message, b)
	e.sender.send(ctx, message)
}
