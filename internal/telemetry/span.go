package telemetry

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// A tracer records spans. A nil tracer records none.
//
// It takes the place of that of the SDK, which keeps each span as an object with a copy of all
// its attributes, wakes a goroutine for it, and converts it twice before it is sent: most of
// what traces cost a call. Here a span is encoded once, when it ends.
type tracer struct {
	sampler sdktrace.Sampler
	queue   *spanQueue
}

// A span is a span of the API of OpenTelemetry, so that it is found in a context, with what is
// known when it begins. A nil span is not exported.
type span struct {
	noop.Span // what this package does not use of the API
	tracer    *tracer
	context   trace.SpanContext
	begin     time.Time
	kind      trace.SpanKind
	above     trace.SpanID // of its parent; not valid for none
	remote    bool         // the parent is in another process
}

// SpanContext returns what identifies the span.
func (s *span) SpanContext() trace.SpanContext { return s.context }

// IsRecording reports whether the span is exported.
func (s *span) IsRecording() bool { return s != nil && s.context.IsSampled() }

// An ended has what is known of a span when it ends.
type ended struct {
	name   string
	at     time.Time
	shared []byte               // attributes that many spans have, from sharedAttributes
	own    []attribute.KeyValue // others
	link   trace.SpanContext    // not valid for none
	failed bool
}

// sharedAttributes encodes attributes for ended.
func sharedAttributes(attributes []attribute.KeyValue) []byte {
	return appendAttributes(nil, spanAttributes, attributes)
}

// start starts a span below a parent, or a new trace if that is not valid. A span of this
// process decides for all below it whether they are exported, and the sampler for the others.
func (t *tracer) start(ctx context.Context, parent trace.SpanContext, kind trace.SpanKind, at time.Time) (context.Context, *span) {
	if t == nil {
		return ctx, nil
	}
	of := trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: parent.TraceFlags(), TraceState: parent.TraceState()}
	binary.NativeEndian.PutUint64(of.SpanID[:], rand.Uint64()|1) // zero is not valid
	if !parent.IsValid() || parent.IsRemote() {
		above := context.Background()
		if parent.IsValid() {
			above = trace.ContextWithSpanContext(above, parent)
		} else {
			binary.NativeEndian.PutUint64(of.TraceID[:8], rand.Uint64())
			binary.NativeEndian.PutUint64(of.TraceID[8:], rand.Uint64()|1)
		}
		result := t.sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: above, TraceID: of.TraceID, Kind: kind})
		of.TraceFlags, of.TraceState = of.TraceFlags.WithSampled(result.Decision == sdktrace.RecordAndSample), result.Tracestate
	}
	s := &span{tracer: t, context: trace.NewSpanContext(of), begin: at, kind: kind, above: parent.SpanID(), remote: parent.IsRemote()}
	return trace.ContextWithSpan(ctx, s), s
}

// end passes the span on to the exporter, if it is recorded.
func (s *span) end(e *ended) {
	if !s.IsRecording() {
		return
	}
	var buf [1024]byte // most spans are shorter
	s.tracer.queue.add(appendSpan(buf[:0], s, e))
}

// envSampler returns the sampler that the environment names. With an error, it is the default,
// which the specification asks for then.
func envSampler(getenv func(string) string) (sdktrace.Sampler, error) {
	const variable = "OTEL_TRACES_SAMPLER"
	fallback := sdktrace.ParentBased(sdktrace.AlwaysSample())
	name := strings.ToLower(strings.TrimSpace(getenv(variable)))
	rule, parentBased := strings.CutPrefix(name, "parentbased_")
	var sampler sdktrace.Sampler
	switch rule {
	case "":
		if parentBased {
			return fallback, fmt.Errorf("invalid value %q for %s", name, variable)
		}
		return fallback, nil
	case "always_on":
		sampler = sdktrace.AlwaysSample()
	case "always_off":
		sampler = sdktrace.NeverSample()
	case "traceidratio":
		ratio := 1.0
		if arg := strings.TrimSpace(getenv(variable + "_ARG")); arg != "" {
			var err error
			if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
				return fallback, fmt.Errorf("invalid value %q for %s_ARG: use a number from 0 to 1", arg, variable)
			}
		}
		sampler = sdktrace.TraceIDRatioBased(ratio)
	default:
		return fallback, fmt.Errorf("invalid value %q for %s", name, variable)
	}
	if parentBased {
		sampler = sdktrace.ParentBased(sampler)
	}
	return sampler, nil
}
