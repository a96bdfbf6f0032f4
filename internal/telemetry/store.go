package telemetry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent"
)

// Store returns a store that measures the operations of another one, and shows them in the
// trace of the request that they belong to. system is the name of its database in the
// semantic conventions: sqlite or postgresql. A nil Telemetry returns s.
func (t *Telemetry) Store(s sequent.Store, system string) sequent.Store {
	if t == nil {
		return s
	}
	return &store{s, t, system}
}

// A store measures the operations of another one.
type store struct {
	sequent.Store
	t      *Telemetry
	system string
}

// Unwrap returns the store that is measured; see [sequent.As].
func (s *store) Unwrap() sequent.Store { return s.Store }

// begin begins an operation. It has a span only as a part of a request that is recorded: the
// sweeps and polls of a server would be traces of their own.
func (s *store) begin(ctx context.Context, name string) (context.Context, func(error)) {
	start := time.Now()
	var span trace.Span
	if trace.SpanFromContext(ctx).IsRecording() {
		ctx, span = s.t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	}
	return ctx, func(err error) {
		class := errorClass(err)
		attributes := texts("db.system.name", s.system, "db.operation.name", name, "error.type", class)
		s.t.histograms["db.client.operation.duration"].Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(attributes...))
		if span == nil {
			return
		}
		span.SetAttributes(attributes...)
		if class != "" {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// errorClass returns the code of an error of a store; empty for none, and for a session that
// does not exist.
func errorClass(err error) string {
	if err == nil || errors.Is(err, sequent.ErrNotFound) {
		return ""
	}
	return cmp.Or(string(sequent.CodeOf(err)), other)
}

// Load implements [sequent.Store].
func (s *store) Load(
	ctx context.Context, k sequent.Key, have sequent.Position,
) (h sequent.Header, entries []sequent.Entry, err error) {
	ctx, end := s.begin(ctx, "load")
	defer func() { end(err) }()
	return s.Store.Load(ctx, k, have)
}

// Commit implements [sequent.Store].
func (s *store) Commit(ctx context.Context, batch []*sequent.Write) (err error) {
	ctx, end := s.begin(ctx, "commit")
	defer func() { end(err) }()
	if len(batch) > 1 { // a batch of one is none
		trace.SpanFromContext(ctx).SetAttributes(attribute.Int("db.operation.batch.size", len(batch)))
	}
	return s.Store.Commit(ctx, batch)
}

// Delete implements [sequent.Store].
func (s *store) Delete(ctx context.Context, k sequent.Key, epoch int64) (err error) {
	ctx, end := s.begin(ctx, "delete")
	defer func() { end(err) }()
	return s.Store.Delete(ctx, k, epoch)
}

// List implements [sequent.Store].
func (s *store) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	ctx, end := s.begin(ctx, "list")
	defer func() { end(err) }()
	return s.Store.List(ctx, q)
}

// Search implements [sequent.Searcher].
func (s *store) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	ctx, end := s.begin(ctx, "search")
	defer func() { end(err) }()
	return sequent.SearchStore(ctx, s.Store, q)
}
