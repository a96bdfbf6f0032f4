package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/sequent-dev/sequent"
)

// Store returns a store that measures each operation of another one, and shows it in the
// trace of the request that it belongs to. system is the name of its database in the
// semantic conventions: sqlite or postgresql.
func (t *Telemetry) Store(s sequent.ShareStore, system string) sequent.ShareStore {
	observed := &store{ShareStore: s, t: t, system: attribute.String("db.system.name", system)}
	if s, ok := s.(interface{ Lanes() int }); ok {
		return laneStore{observed, s}
	}
	return observed
}

// A laneStore is a store that commits several batches at a time.
type laneStore struct {
	*store
	lanes interface{ Lanes() int }
}

// Lanes returns the maximum number of batches at a time.
func (s laneStore) Lanes() int { return s.lanes.Lanes() }

// A store measures the operations of another one.
type store struct {
	sequent.ShareStore // the shares are not measured
	t                  *Telemetry
	system             attribute.KeyValue
	operations         sync.Map // of *operation by name and class
}

// An operation has what all operations of a store with the same name and outcome have in common.
type operation struct {
	name       string
	attributes []attribute.KeyValue
	shared     []byte // the same, encoded
	measure    []metric.RecordOption
}

// operation returns the operation with an outcome, the class of an error or "".
func (s *store) operation(name, class string) *operation {
	key := [2]string{name, class}
	made, ok := s.operations.Load(key)
	if !ok {
		o := &operation{name: name, attributes: []attribute.KeyValue{s.system, attribute.String("db.operation.name", name)}}
		if class != "" {
			o.attributes = append(o.attributes, attribute.String("error.type", class))
		}
		o.shared = sharedAttributes(o.attributes)
		o.measure = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(o.attributes...))}
		made, _ = s.operations.LoadOrStore(key, o)
	}
	return made.(*operation)
}

// begin begins an operation. It has a span only as a part of a request that is recorded: the
// sweeps and polls of a server would be traces of their own.
func (s *store) begin(ctx context.Context, name string, more ...attribute.KeyValue) (context.Context, func(error)) {
	start := time.Now()
	var span *span
	if above := trace.SpanFromContext(ctx); above.IsRecording() {
		ctx, span = s.t.tracer.start(ctx, above.SpanContext(), trace.SpanKindClient, start)
	}
	return ctx, func(err error) {
		now := time.Now()
		class := errorClass(err)
		o := s.operation(name, class)
		s.t.stores.Record(ctx, now.Sub(start).Seconds(), o.measure...)
		span.end(&ended{name: o.name, at: now, shared: o.shared, own: more, failed: class != ""})
	}
}

// errorClass returns the code of an error of a store; empty for none, and for a session that
// does not exist.
func errorClass(err error) string {
	if err == nil || errors.Is(err, sequent.ErrNotFound) {
		return ""
	}
	if code := sequent.CodeOf(err); code != "" {
		return string(code)
	}
	return other
}

// The operations.

func (s *store) Load(ctx context.Context, k sequent.Key, have sequent.Position, limit int) (sequent.Header, []sequent.Entry, error) {
	ctx, end := s.begin(ctx, "load")
	h, entries, err := s.ShareStore.Load(ctx, k, have, limit)
	end(err)
	return h, entries, err
}

func (s *store) Commit(ctx context.Context, batch []*sequent.Write) error {
	var size []attribute.KeyValue
	if len(batch) > 1 { // a batch of one is none
		size = []attribute.KeyValue{attribute.Int("db.operation.batch.size", len(batch))}
	}
	ctx, end := s.begin(ctx, "commit", size...)
	err := s.ShareStore.Commit(ctx, batch)
	end(err)
	return err
}

func (s *store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	ctx, end := s.begin(ctx, "delete")
	err := s.ShareStore.Delete(ctx, k, epoch)
	end(err)
	return err
}

func (s *store) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	ctx, end := s.begin(ctx, "list")
	page, err := s.ShareStore.List(ctx, q)
	end(err)
	return page, err
}

func (s *store) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	ctx, end := s.begin(ctx, "search")
	hits, err := s.ShareStore.Search(ctx, q)
	end(err)
	return hits, err
}

func (s *store) Sweep(ctx context.Context, q sequent.SweepQuery, limit int) (int, error) {
	ctx, end := s.begin(ctx, "sweep")
	n, err := s.ShareStore.Sweep(ctx, q, limit)
	end(err)
	return n, err
}

func (s *store) Usage(ctx context.Context, q sequent.UsageQuery) ([]sequent.Usage, error) {
	ctx, end := s.begin(ctx, "usage")
	usage, err := s.ShareStore.Usage(ctx, q)
	end(err)
	return usage, err
}
