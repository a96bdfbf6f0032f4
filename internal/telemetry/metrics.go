package telemetry

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/governor"
)

// A Metric describes one metric, for the code that records it and for the documentation.
type Metric struct {
	Name       string
	Kind       string // histogram, counter or gauge
	Unit       string // of UCUM
	Meaning    string
	Attributes []string // besides those of the resource
	buckets    []float64
}

// The buckets that the semantic conventions recommend.
var (
	mcpBuckets   = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	dbBuckets    = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	modelBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

var (
	networkAttributes = []string{"mcp.protocol.version", "network.transport", "network.protocol.name", "network.protocol.version", "sequent.dialect"}
	modelAttributes   = []string{"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model", "error.type"}
)

// Metrics returns all metrics but those of the Go runtime.
func Metrics() []Metric {
	limit := []string{"sequent.limit"}
	return []Metric{
		{"mcp.server.operation.duration", "histogram", "s", "time from the arrival of a request to its reply",
			append([]string{"mcp.method.name", "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.prompt.name", "error.type", "rpc.response.status_code", "sequent.reason"}, networkAttributes...), mcpBuckets},
		{"mcp.server.session.duration", "histogram", "s", "time from the handshake of an older client to the end of its session", networkAttributes, mcpBuckets},
		{"db.client.operation.duration", "histogram", "s", "time of an operation of the store (SQLite, PostgreSQL)", []string{"db.system.name", "db.operation.name", "error.type"}, dbBuckets},
		{"gen_ai.client.operation.duration", "histogram", "s", "time of a call of a language model, with its retries", modelAttributes, modelBuckets},
		{"gen_ai.client.token.usage", "histogram", "{token}", "tokens of a call of a language model", append([]string{"gen_ai.token.type"}, modelAttributes[:4]...), tokenBuckets},
		{"sequent.store.size", "gauge", "By", "size of the store's files (SQLite)", nil, nil},
		{"sequent.store.lanes.busy", "gauge", "{commit}", "commits that the store has not answered yet", nil, nil},
		{"sequent.store.lanes.limit", "gauge", "{commit}", "commits that may be under way at a time, besides those of locked sessions", nil, nil},
		{"sequent.store.lanes.waiting", "gauge", "{change}", "changes that wait for a commit", nil, nil},
		{"sequent.store.lanes.stalled", "gauge", "{commit}", "commits that have been under way for more than 5 s", nil, nil},
		{"sequent.index.lag", "gauge", "{thought}", "thoughts of this process that may not be in the search index yet", nil, nil},
		{"sequent.cache.size", "gauge", "By", "memory of cached sessions", nil, nil},
		{"sequent.cache.limit", "gauge", "By", "limit of that memory", nil, nil},
		{"sequent.cache.sessions", "gauge", "{session}", "cached sessions", nil, nil},
		{"sequent.cache.lookups", "counter", "{lookup}", "look-ups of sessions in the cache", []string{"sequent.result"}, nil},
		{"sequent.quota.refusals", "counter", "{change}", "changes refused by the quota of their owner", nil, nil},
		{"sequent.retention.deleted", "counter", "{session}", "expired and old sessions that were deleted", nil, nil},
		{"sequent.followers", "gauge", "{reader}", "readers that wait for new thoughts of a session", nil, nil},
		{"sequent.requests", "counter", "{request}", "HTTP requests and WebSocket messages, by whether the rate limit admitted them", []string{"sequent.result"}, nil},
		{"sequent.limit.used", "gauge", "{unit}", "what all clients hold of a limited resource, such as open streams", limit, nil},
		{"sequent.limit.capacity", "gauge", "{unit}", "the limit of that resource; none without a limit", limit, nil},
		{"sequent.limit.waiting", "gauge", "{call}", "calls that wait for that resource", limit, nil},
		{"sequent.limit.refusals", "counter", "{request}", "requests refused, because the client itself (own) or all together (all) hold too much", []string{"sequent.limit", "sequent.reason"}, nil},
	}
}

// named returns the description of a metric. A name that is not in Metrics is a fault of this
// package.
func named(name string) Metric {
	all := Metrics()
	i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		panic("telemetry: no metric " + name)
	}
	return all[i]
}

// must panics for an instrument that cannot be made: its name is malformed.
func must[T any](instrument T, err error) T {
	if err != nil {
		panic("telemetry: " + err.Error())
	}
	return instrument
}

func (t *Telemetry) histogram(name string) metric.Float64Histogram {
	m := named(name)
	return must(t.meter.Float64Histogram(name, metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning), metric.WithExplicitBucketBoundaries(m.buckets...)))
}

func (t *Telemetry) intHistogram(name string) metric.Int64Histogram {
	m := named(name)
	return must(t.meter.Int64Histogram(name, metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning), metric.WithExplicitBucketBoundaries(m.buckets...)))
}

// Sources return the numbers of the parts of a server. They are called for each export; nil
// means that the server has no such part.
type Sources struct {
	Engine    func() sequent.Stats
	Stalled   func() (commits int) // under way for long
	StoreSize func() int64         // bytes
	IndexLag  func() int64         // thoughts
	Governor  func() governor.Stats
}

// observed collects observable instruments and what reads them.
type observed struct {
	t           *Telemetry
	instruments []metric.Observable
}

func (o *observed) instrument(name string) metric.Int64Observable {
	m := named(name)
	var i metric.Int64Observable
	if m.Kind == "counter" {
		i = must(o.t.meter.Int64ObservableCounter(name, metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning)))
	} else {
		i = must(o.t.meter.Int64ObservableGauge(name, metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning)))
	}
	o.instruments = append(o.instruments, i)
	return i
}

// read has instruments read by f, until Close.
func (o *observed) read(f func(metric.Observer)) {
	if len(o.instruments) == 0 {
		return
	}
	_ = must(o.t.meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		f(to)
		return nil
	}, o.instruments...))
}

// with returns the option of one attribute.
func with(key, value string) metric.ObserveOption {
	return metric.WithAttributes(attribute.String(key, value))
}

// Watch exports the numbers of the parts of a server.
func (t *Telemetry) Watch(s Sources) {
	if s.Engine != nil {
		t.watchEngine(s.Engine)
	}
	for name, f := range map[string]func() int64{"sequent.store.size": s.StoreSize, "sequent.index.lag": s.IndexLag} {
		if f != nil {
			o := &observed{t: t}
			i := o.instrument(name)
			o.read(func(to metric.Observer) { to.ObserveInt64(i, f()) })
		}
	}
	if s.Stalled != nil {
		o := &observed{t: t}
		i := o.instrument("sequent.store.lanes.stalled")
		o.read(func(to metric.Observer) { to.ObserveInt64(i, int64(s.Stalled())) })
	}
	if s.Governor != nil {
		t.watchGovernor(s.Governor)
	}
}

func (t *Telemetry) watchEngine(stats func() sequent.Stats) {
	o := &observed{t: t}
	busy, limit, waiting := o.instrument("sequent.store.lanes.busy"), o.instrument("sequent.store.lanes.limit"), o.instrument("sequent.store.lanes.waiting")
	size, most, sessions := o.instrument("sequent.cache.size"), o.instrument("sequent.cache.limit"), o.instrument("sequent.cache.sessions")
	lookups := o.instrument("sequent.cache.lookups")
	refused, deleted, followers := o.instrument("sequent.quota.refusals"), o.instrument("sequent.retention.deleted"), o.instrument("sequent.followers")
	hit, miss := with("sequent.result", "hit"), with("sequent.result", "miss")
	o.read(func(to metric.Observer) {
		s := stats()
		to.ObserveInt64(busy, int64(s.Committing))
		to.ObserveInt64(limit, int64(s.Lanes))
		to.ObserveInt64(waiting, int64(s.Waiting))
		to.ObserveInt64(size, s.CacheBytes)
		to.ObserveInt64(most, max(0, s.CacheLimit))
		to.ObserveInt64(sessions, int64(s.CacheSessions))
		to.ObserveInt64(lookups, s.CacheHits, hit)
		to.ObserveInt64(lookups, s.CacheMisses, miss)
		to.ObserveInt64(refused, s.QuotaRefused)
		to.ObserveInt64(deleted, s.Swept)
		to.ObserveInt64(followers, int64(s.Followers))
	})
}

func (t *Telemetry) watchGovernor(stats func() governor.Stats) {
	o := &observed{t: t}
	requests := o.instrument("sequent.requests")
	used, total, waiting := o.instrument("sequent.limit.used"), o.instrument("sequent.limit.capacity"), o.instrument("sequent.limit.waiting")
	refusals := o.instrument("sequent.limit.refusals")
	admitted, throttled := with("sequent.result", "admitted"), with("sequent.result", "throttled")
	own, all := with("sequent.reason", "own"), with("sequent.reason", "all")
	o.read(func(to metric.Observer) {
		s := stats()
		to.ObserveInt64(requests, s.Requests-s.Throttled, admitted)
		to.ObserveInt64(requests, s.Throttled, throttled)
		for _, r := range s.Resources {
			name := with("sequent.limit", r.Resource.String())
			to.ObserveInt64(used, r.Used, name)
			if r.Limit >= 0 {
				to.ObserveInt64(total, r.Limit, name)
			}
			to.ObserveInt64(waiting, int64(r.Waiting), name)
			to.ObserveInt64(refusals, r.RefusedOwn, name, own)
			to.ObserveInt64(refusals, r.RefusedAll, name, all)
		}
	})
}

// Prometheus returns the name of the metric on the page for Prometheus.
func (m Metric) Prometheus() string { return prometheusName(m.Name, m.Unit, m.Kind) }
