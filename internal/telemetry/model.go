package telemetry

import (
	"cmp"
	"context"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent/llm"
)

// Model returns a model that measures the calls of another one. Prompts and answers are not
// exported, nor the name that was asked for, which can be any text of a client. The provider is that of
// the semantic conventions where these have one, such as openai. A nil Telemetry returns m.
func (t *Telemetry) Model(m llm.Model, provider string) llm.Model {
	if t == nil {
		return m
	}
	return &model{m, t, provider}
}

type model struct {
	llm.Model
	t        *Telemetry
	provider string
}

// Stream yields the answer in pieces.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		start := time.Now()
		ctx, span := m.t.tracer.Start(ctx, "chat", trace.WithSpanKind(trace.SpanKindClient))
		var res llm.Response
		var failed error = &llm.Error{Code: llm.CodeCanceled} // unless the loop is run to its end
		defer func() { m.end(ctx, span, time.Since(start), res, failed) }()
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

// end ends a call.
func (m *model) end(ctx context.Context, span trace.Span, took time.Duration, res llm.Response, err error) {
	defer span.End()
	class := ""
	if err != nil {
		class = cmp.Or(string(llm.CodeOf(err)), other)
		span.SetStatus(codes.Error, "")
	}
	attributes := texts("gen_ai.operation.name", "chat", "gen_ai.provider.name", m.provider, "gen_ai.response.model", res.Model, "error.type", class)
	span.SetAttributes(attributes...)
	of := metric.WithAttributes(attributes...)
	m.t.histograms["gen_ai.client.operation.duration"].Record(ctx, took.Seconds(), of)
	for kind, n := range map[string]int{"input": res.Usage.Input, "output": res.Usage.Output} {
		if n > 0 {
			m.t.histograms["gen_ai.client.token.usage"].Record(ctx, float64(n), of, metric.WithAttributes(attribute.String("gen_ai.token.type", kind)))
			span.SetAttributes(attribute.Int("gen_ai.usage."+kind+"_tokens", n))
		}
	}
}
