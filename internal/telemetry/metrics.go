package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/limits"
)

// A Metric describes one metric, for the code that records it and for the documentation.
type Metric struct {
	Name       string
	Kind       string // histogram, counter or gauge
	Unit       string // of UCUM
	Meaning    string
	Attributes []string  // besides those of the resource
	buckets    []float64 // of a histogram
}

// The buckets that the semantic conventions recommend.
var (
	mcpBuckets   = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	dbBuckets    = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	modelBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

var (
	requestAttributes = []string{
		"mcp.method.name", "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.prompt.name", "error.type", "rpc.response.status_code",
		"sequent.reason", "mcp.protocol.version", "network.transport", "network.protocol.name", "network.protocol.version", "sequent.dialect",
	}
	storeAttributes = []string{"db.system.name", "db.operation.name", "error.type"}
	tokenAttributes = []string{
		"gen_ai.token.type", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.response.model",
	}
	modelAttributes  = append(tokenAttributes[1:len(tokenAttributes):len(tokenAttributes)], "error.type")
	resultAttributes = []string{"sequent.result"}
	limitAttributes  = []string{"sequent.limit"}
)

// Metrics returns all metrics but those of the Go runtime.
func Metrics() []Metric {
	return []Metric{
		{"mcp.server.operation.duration", "histogram", "s", "time from the arrival of a request to its reply",
			requestAttributes, mcpBuckets},
		{"db.client.operation.duration", "histogram", "s", "time of an operation of the store (SQLite, PostgreSQL)",
			storeAttributes, dbBuckets},
		{"gen_ai.client.operation.duration", "histogram", "s", "time of a call of a language model, with its retries",
			modelAttributes, modelBuckets},
		{"gen_ai.client.token.usage", "histogram", "{token}", "tokens of a call of a language model", tokenAttributes, tokenBuckets},
		{"sequent.store.size", "gauge", "By", "size of the store's files (SQLite)", nil, nil},
		{"sequent.store.commits.waiting", "gauge", "{change}", "changes that wait for a commit", nil, nil},
		{"sequent.store.commits.oldest", "gauge", "s", "how long the oldest commit has been under way, in whole seconds", nil, nil},
		{"sequent.cache.size", "gauge", "By", "memory of cached sessions", nil, nil},
		{"sequent.cache.sessions", "gauge", "{session}", "cached sessions", nil, nil},
		{"sequent.quota.refusals", "counter", "{change}", "changes refused by the quota of their owner", nil, nil},
		{"sequent.retention.deleted", "counter", "{session}", "expired and old sessions that were deleted", nil, nil},
		{"sequent.requests", "counter", "{request}", "HTTP requests and WebSocket messages, by whether the rate limit admitted them",
			resultAttributes, nil},
		{"sequent.limit.used", "gauge", "{unit}", "what all clients hold of a limited resource, such as open streams", limitAttributes, nil},
		{"sequent.limit.refusals", "counter", "{request}", "requests refused because the client holds all that it may", limitAttributes, nil},
	}
}

// must panics for an instrument that cannot be made: its name is malformed.
func must[T any](instrument T, err error) T {
	if err != nil {
		panic("telemetry: " + err.Error())
	}
	return instrument
}

// histograms returns the histograms by name.
func histograms(meter metric.Meter) map[string]metric.Float64Histogram {
	made := make(map[string]metric.Float64Histogram)
	for _, m := range Metrics() {
		if m.buckets != nil {
			unit, meaning := metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning)
			made[m.Name] = must(meter.Float64Histogram(m.Name, unit, meaning, metric.WithExplicitBucketBoundaries(m.buckets...)))
		}
	}
	return made
}

// Sources return the numbers of the parts of a server. They are called for each export; nil
// means that the server has no such part.
type Sources struct {
	Engine    func() sequent.Stats
	StoreSize func() int64 // bytes
	Limits    func() limits.Stats
}

// Watch exports the numbers of the parts of a server, until Close. Each part is watched once.
func (t *Telemetry) Watch(s Sources) {
	if t == nil {
		return
	}
	instruments, all := make(map[string]metric.Int64Observable), []metric.Observable(nil)
	for _, m := range Metrics() {
		unit, meaning := metric.WithUnit(m.Unit), metric.WithDescription(m.Meaning)
		switch m.Kind {
		case "counter":
			instruments[m.Name] = must(t.meter.Int64ObservableCounter(m.Name, unit, meaning))
		case "gauge":
			instruments[m.Name] = must(t.meter.Int64ObservableGauge(m.Name, unit, meaning))
		default:
			continue
		}
		all = append(all, instruments[m.Name])
	}
	must(t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		put := func(name string, n int64, attributes ...string) {
			o.ObserveInt64(instruments[name], n, metric.WithAttributes(texts(attributes...)...))
		}
		if s.Engine != nil {
			putEngine(s.Engine(), put)
		}
		if s.StoreSize != nil {
			put("sequent.store.size", s.StoreSize())
		}
		if s.Limits != nil {
			putLimits(s.Limits(), put)
		}
		return nil
	}, all...))
}

// A put exports a number, with attributes as pairs of a name and a value.
type put func(name string, n int64, attributes ...string)

func putEngine(s sequent.Stats, put put) {
	put("sequent.store.commits.waiting", int64(s.Waiting))
	put("sequent.store.commits.oldest", int64(s.Oldest/time.Second))
	put("sequent.cache.size", s.CacheBytes)
	put("sequent.cache.sessions", int64(s.CacheSessions))
	put("sequent.quota.refusals", s.QuotaRefused)
	put("sequent.retention.deleted", s.Swept)
}

func putLimits(s limits.Stats, put put) {
	put("sequent.requests", s.Requests-s.Throttled, "sequent.result", "admitted")
	put("sequent.requests", s.Throttled, "sequent.result", "throttled")
	for r, used := range s.Used {
		name := limits.Resource(r).String()
		put("sequent.limit.used", used, "sequent.limit", name)
		put("sequent.limit.refusals", s.Refused[r], "sequent.limit", name)
	}
}
