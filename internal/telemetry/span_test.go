package telemetry

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sequent-dev/sequent/mcpserver"
)

// A decoder that is generated from the definition of OTLP reads what is encoded, and knows every
// field of it.
func TestEncode(t *testing.T) {
	begin := time.Unix(1_700_000_000, 123)
	above := remote(mcpserver.TraceContext{Parent: parent, State: "vendor=1"})
	s := &span{
		context: above.WithSpanID(trace.SpanID{1, 2, 3, 4, 5, 6, 7, 8}).WithRemote(false),
		kind:    trace.SpanKindClient, begin: begin, above: above.SpanID(), remote: true,
	}
	encoded := appendSpan(nil, s, &ended{
		name: "chat gpt", at: begin.Add(time.Second), failed: true, link: remote(mcpserver.TraceContext{Parent: linked, State: "other=2"}),
		shared: sharedAttributes([]attribute.KeyValue{attribute.String("a", "text"), attribute.String("empty", "")}),
		own:    []attribute.KeyValue{attribute.Int("n", -5), attribute.StringSlice("all", []string{"x", ""})},
	})
	var got tracepb.Span
	if err := proto.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	if unknown := got.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		t.Errorf("unknown fields %x", unknown)
	}
	if a := attributes(got.Attributes); a != `a=text all={"ArrayValue":{"values":[{"Value":{"StringValue":"x"}},{"Value":{"StringValue":""}}]}} empty={"StringValue":""} n={"IntValue":-5}` {
		t.Errorf("attributes %s", a)
	}
	id, parentID := s.context.SpanID(), above.SpanID()
	if got.Name != "chat gpt" || got.Kind != tracepb.Span_SPAN_KIND_CLIENT || got.TraceState != "vendor=1" || got.Flags != 0x301 ||
		!bytes.Equal(got.SpanId, id[:]) || !bytes.Equal(got.ParentSpanId, parentID[:]) || got.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("decoded %v", &got)
	}
	if got.StartTimeUnixNano != uint64(begin.UnixNano()) || got.EndTimeUnixNano-got.StartTimeUnixNano != uint64(time.Second) {
		t.Errorf("from %d to %d", got.StartTimeUnixNano, got.EndTimeUnixNano)
	}
	if len(got.Links) != 1 || got.Links[0].TraceState != "other=2" || got.Links[0].Flags != 0x301 || len(got.Links[0].TraceId) != 16 || len(got.Links[0].SpanId) != 8 {
		t.Errorf("links %v", got.Links)
	}
}

// room is how many bytes exports have before the spans.
const room = 7

// exports records the numbers of spans of exports, each of which takes a second.
type exports struct{ sizes []int }

func (e *exports) export(ctx context.Context, spans []byte) {
	var of tracepb.ScopeSpans
	if err := proto.Unmarshal(spans[room:], &of); err != nil {
		panic(err)
	}
	select {
	case <-time.After(time.Second):
		e.sizes = append(e.sizes, len(of.Spans))
	case <-ctx.Done():
		e.sizes = append(e.sizes, -len(of.Spans))
	}
}

func TestSpanQueue(t *testing.T) {
	add := func(q *spanQueue, n int) {
		for range n {
			q.add(appendBytes(nil, spanName, []byte("name")))
		}
	}
	for _, tt := range []struct {
		name string
		do   func(*spanQueue)
		want []int // sizes of exports; negative for one that was cancelled
	}{
		{"nothing", func(*spanQueue) { time.Sleep(time.Minute) }, nil},
		{"waits for the delay", func(q *spanQueue) {
			add(q, 3)
			time.Sleep(4 * time.Second)
			add(q, 1)
			time.Sleep(2 * time.Second)
			add(q, 2)
		}, []int{4, 2}},
		{"full batches do not wait", func(q *spanQueue) { add(q, 25); time.Sleep(3 * time.Second); add(q, 1) }, []int{10, 10, 6}},
		{"drops what is too much", func(q *spanQueue) { add(q, 100) }, []int{10, 10, 10}},
		{"takes more when there is room", func(q *spanQueue) { add(q, 100); time.Sleep(1500 * time.Millisecond); add(q, 100) }, []int{10, 10, 10, 10}},
		{"nothing after the end", func(q *spanQueue) { q.close(context.Background()); add(q, 5) }, nil},
		{"the end is bounded", func(q *spanQueue) {
			add(q, 30)
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			begin := time.Now()
			if q.close(ctx); time.Since(begin) > 2*time.Second {
				t.Errorf("the end took %v", time.Since(begin))
			}
		}, []int{10, -10, -10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var to exports
				q := newSpanQueue(queueConfig{Most: 30, Batch: 10, Delay: 5 * time.Second, Timeout: time.Minute, Room: room}, to.export)
				tt.do(q)
				q.close(t.Context())
				if !slices.Equal(to.sizes, tt.want) {
					t.Errorf("exports of %v spans, want %v", to.sizes, tt.want)
				}
			})
		})
	}
}

func TestSampler(t *testing.T) {
	sampled := remote(mcpserver.TraceContext{Parent: parent})
	unsampled := sampled.WithTraceFlags(0)
	for _, tt := range []struct {
		name, arg          string
		root, above, below bool // recorded: without a parent, below one that is sampled, below one that is not
		wrong              bool
	}{
		{"", "", true, true, false, false},
		{"always_on", "", true, true, true, false},
		{"always_off", "", false, false, false, false},
		{"traceidratio", "0", false, false, false, false},
		{"traceidratio", "", true, true, true, false},
		{"parentbased_always_on", "", true, true, false, false},
		{" ParentBased_Always_Off", "", false, true, false, false},
		{"parentbased_traceidratio", "0", false, true, false, false},
		{"parentbased_traceidratio", "2", true, true, false, true},
		{"traceidratio", "NaN", true, true, false, true},
		{"parentbased_", "", true, true, false, true},
		{"sometimes", "", true, true, false, true},
	} {
		t.Run(tt.name+tt.arg, func(t *testing.T) {
			sampler, err := envSampler(func(name string) string {
				return map[string]string{"OTEL_TRACES_SAMPLER": tt.name, "OTEL_TRACES_SAMPLER_ARG": tt.arg}[name]
			})
			if (err != nil) != tt.wrong {
				t.Errorf("error %v", err)
			}
			tr := &tracer{sampler: sampler}
			recorded := func(above trace.SpanContext) bool {
				ctx, s := tr.start(t.Context(), above, trace.SpanKindServer, time.Now())
				if _, below := tr.start(ctx, trace.SpanContextFromContext(ctx), trace.SpanKindClient, time.Now()); below.IsRecording() != s.IsRecording() || below.context.TraceID() != s.context.TraceID() {
					t.Errorf("a span below decides otherwise")
				}
				return s.IsRecording()
			}
			if root, above, below := recorded(trace.SpanContext{}), recorded(sampled), recorded(unsampled); root != tt.root || above != tt.above || below != tt.below {
				t.Errorf("recorded: %v %v %v, want %v %v %v", root, above, below, tt.root, tt.above, tt.below)
			}
		})
	}
}
