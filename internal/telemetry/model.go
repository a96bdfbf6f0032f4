package telemetry

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent/llm"
)

// Model returns a model that measures the calls of another one. Prompts and answers are not
// exported. The provider is that of the semantic conventions where these have one, such as
// openai.
func (t *Telemetry) Model(m llm.Model, provider string) llm.Model { return &model{m, t, provider} }

type model struct {
	llm.Model
	t        *Telemetry
	provider string
}

// Stream yields the answer in pieces.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		ctx, end := m.begin(ctx)
		var res llm.Response
		var failed error = &llm.Error{Code: llm.CodeCanceled} // unless the loop is run to its end
		defer func() { end(&res, failed) }()
		for e, err := range m.Model.Stream(ctx, r) {
			switch {
			case err != nil:
				failed = err
			case e.Response != nil:
				res, failed = *e.Response, nil
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// begin begins a call.
func (m *model) begin(ctx context.Context) (context.Context, func(*llm.Response, error)) {
	start := time.Now()
	ctx, span := m.t.tracer.Start(ctx, "chat", trace.WithSpanKind(trace.SpanKindClient))
	return ctx, func(res *llm.Response, err error) {
		defer span.End()
		name, answered, class := m.Name(), "", ""
		if err == nil {
			m.t.models.Store(name, true)
			answered = res.Model
		} else {
			class = cmp.Or(string(llm.CodeOf(err)), other)
			span.SetStatus(codes.Error, "")
		}
		if _, ok := m.t.models.Load(name); !ok {
			name = ""
		} else if name != "" {
			span.SetName("chat " + name)
		}
		attributes := texts("gen_ai.operation.name", "chat", "gen_ai.provider.name", m.provider, "gen_ai.request.model", name,
			"gen_ai.response.model", answered, "error.type", class)
		span.SetAttributes(attributes...)
		m.t.histograms["gen_ai.client.operation.duration"].Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(attributes...))
		if err != nil {
			return
		}
		m.count(ctx, "input", res.Usage.Input, attributes)
		m.count(ctx, "output", res.Usage.Output, attributes)
		span.SetAttributes(
			attribute.Int("gen_ai.usage.input_tokens", res.Usage.Input),
			attribute.Int("gen_ai.usage.output_tokens", res.Usage.Output),
			attribute.StringSlice("gen_ai.response.finish_reasons", []string{finishReason(res.Stop)}),
		)
	}
}

func (m *model) count(ctx context.Context, kind string, n int, attributes []attribute.KeyValue) {
	if n > 0 {
		of := metric.WithAttributes(attribute.String("gen_ai.token.type", kind))
		m.t.histograms["gen_ai.client.token.usage"].Record(ctx, float64(n), metric.WithAttributes(attributes...), of)
	}
}

// finishReason returns the reason as Chat Completions words it.
func finishReason(s llm.Stop) string {
	switch s {
	case llm.StopCalls:
		return "tool_calls"
	case llm.StopLength:
		return "length"
	}
	return "stop"
}

// Transport returns a transport that passes the trace context on to the service of a model.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	return t.next.RoundTrip(r)
}
