package telemetry

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent/llm"
)

// models observes calls of language models.
type models struct {
	tracer    *tracer
	operation metric.Float64Histogram
	tokens    metric.Int64Histogram
	// answered has the names of models that have answered. The name of another one can be
	// any text of a client, and is not exported.
	answered sync.Map
}

func (o *models) init(t *Telemetry) {
	o.tracer = t.tracer
	o.operation = t.histogram("gen_ai.client.operation.duration")
	o.tokens = t.intHistogram("gen_ai.client.token.usage")
}

// Model returns a model that measures the calls of another one. Prompts and answers are not
// exported.
// The provider is that of the semantic conventions where these have one, such as openai.
func (t *Telemetry) Model(m llm.Model, provider string) llm.Model {
	return &model{Model: m, models: &t.models, provider: provider}
}

type model struct {
	llm.Model
	*models
	provider string
}

// Chat returns the complete answer.
func (m *model) Chat(ctx context.Context, r llm.Request) (llm.Response, error) {
	ctx, end := m.begin(ctx)
	res, err := m.Model.Chat(ctx, r)
	end(&res, err)
	return res, err
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
	ctx, span := m.tracer.start(ctx, trace.SpanContextFromContext(ctx), trace.SpanKindClient, start)
	return ctx, func(res *llm.Response, err error) {
		name := m.Name()
		is := ended{name: "chat", at: time.Now(), failed: err != nil}
		attributes := []attribute.KeyValue{attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", m.provider)}
		if err == nil {
			m.answered.Store(name, true)
		}
		if _, ok := m.answered.Load(name); ok && name != "" {
			is.name += " " + name
			attributes = append(attributes, attribute.String("gen_ai.request.model", name))
		}
		if err != nil {
			class := string(llm.CodeOf(err))
			if class == "" {
				class = other
			}
			attributes = append(attributes, attribute.String("error.type", class))
		} else {
			if res.Model != "" {
				attributes = append(attributes, attribute.String("gen_ai.response.model", res.Model))
			}
			m.count(ctx, "input", res.Usage.Input, attributes)
			m.count(ctx, "output", res.Usage.Output, attributes)
			is.own = append(is.own,
				attribute.Int("gen_ai.usage.input_tokens", res.Usage.Input),
				attribute.Int("gen_ai.usage.output_tokens", res.Usage.Output),
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{finishReason(res.Stop)}),
			)
		}
		is.own = append(is.own, attributes...)
		m.operation.Record(ctx, is.at.Sub(start).Seconds(), metric.WithAttributes(attributes...))
		span.end(&is)
	}
}

func (m *model) count(ctx context.Context, kind string, n int, attributes []attribute.KeyValue) {
	if n > 0 {
		m.tokens.Record(ctx, int64(n), metric.WithAttributes(attributes...), metric.WithAttributes(attribute.String("gen_ai.token.type", kind)))
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
	if trace.SpanContextFromContext(r.Context()).IsValid() {
		r = r.Clone(r.Context())
		propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	}
	return t.next.RoundTrip(r)
}
