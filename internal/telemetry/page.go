package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A metricsPage shows metrics to Prometheus, in version 0.0.4 of its text format, which all versions
// read. The official exporter shows the same, and is the oracle of its test: it makes the
// program larger and its start slower (README.md).
type metricsPage struct {
	reader  *sdkmetric.ManualReader
	logger  *slog.Logger
	readers chan struct{} // one element for each request that is being answered
}

// Limits of a page.
const (
	maxPageReaders = 4
	maxPageTime    = 10 * time.Second
)

// How texts are escaped.
var (
	inHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	inLabel = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)
)

func newMetricsPage(logger *slog.Logger) *metricsPage {
	return &metricsPage{reader: sdkmetric.NewManualReader(), logger: logger, readers: make(chan struct{}, maxPageReaders)}
}

func (p *metricsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case p.readers <- struct{}{}:
		defer func() { <-p.readers }()
	default:
		http.Error(w, "too many requests for metrics at a time", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxPageTime)
	defer cancel()
	var m metricdata.ResourceMetrics
	if err := p.reader.Collect(ctx, &m); err != nil {
		p.logger.WarnContext(ctx, "some metrics cannot be shown to Prometheus", "error", err)
		http.Error(w, "the metrics cannot be collected", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(appendPage(nil, &m)) // the client has left
}

// appendPage appends all metrics, by name.
func appendPage(b []byte, m *metricdata.ResourceMetrics) []byte {
	b = append(b, "# HELP target_info Target metadata\n# TYPE target_info gauge\n"...)
	b = appendSample(b, "target_info", labels(m.Resource.Set()), "", 1)
	var all []metricdata.Metrics
	for _, s := range m.ScopeMetrics {
		all = append(all, s.Metrics...)
	}
	slices.SortFunc(all, func(a, b metricdata.Metrics) int { return cmp.Compare(a.Name, b.Name) })
	for _, metric := range all {
		switch data := metric.Data.(type) {
		case metricdata.Gauge[int64]:
			b = appendSamples(b, metric, "gauge", data.DataPoints)
		case metricdata.Gauge[float64]:
			b = appendSamples(b, metric, "gauge", data.DataPoints)
		case metricdata.Sum[int64]:
			b = appendSamples(b, metric, sumKind(data.IsMonotonic), data.DataPoints)
		case metricdata.Sum[float64]:
			b = appendSamples(b, metric, sumKind(data.IsMonotonic), data.DataPoints)
		case metricdata.Histogram[int64]:
			b = appendBuckets(b, metric, data.DataPoints)
		case metricdata.Histogram[float64]:
			b = appendBuckets(b, metric, data.DataPoints)
		}
	}
	return b
}

func sumKind(monotonic bool) string {
	if monotonic {
		return "counter"
	}
	return "gauge"
}

// appendHead appends what is said of a metric once, and returns its name.
func appendHead(b []byte, m metricdata.Metrics, kind string) ([]byte, string) {
	name := prometheusName(m.Name, m.Unit, kind)
	b = append(b, "# HELP "+name+" "...)
	b = append(b, inHelp.Replace(m.Description)...)
	return append(b, "\n# TYPE "+name+" "+kind+"\n"...), name
}

func appendSamples[N int64 | float64](b []byte, m metricdata.Metrics, kind string, points []metricdata.DataPoint[N]) []byte {
	if len(points) == 0 {
		return b
	}
	b, name := appendHead(b, m, kind)
	for _, p := range points {
		b = appendSample(b, name, labels(&p.Attributes), "", float64(p.Value))
	}
	return b
}

func appendBuckets[N int64 | float64](b []byte, m metricdata.Metrics, points []metricdata.HistogramDataPoint[N]) []byte {
	if len(points) == 0 {
		return b
	}
	b, name := appendHead(b, m, "histogram")
	for _, p := range points {
		labels, count := labels(&p.Attributes), uint64(0)
		for i, bound := range p.Bounds {
			count += p.BucketCounts[i]
			b = appendSample(b, name+"_bucket", labels, number(bound), float64(count))
		}
		b = appendSample(b, name+"_bucket", labels, "+Inf", float64(p.Count))
		b = appendSample(b, name+"_sum", labels, "", float64(p.Sum))
		b = appendSample(b, name+"_count", labels, "", float64(p.Count))
	}
	return b
}

// appendSample appends one line. The bound of a bucket is "" for other samples.
func appendSample(b []byte, name, labels, bound string, value float64) []byte {
	if bound != "" {
		if labels != "" {
			labels += ","
		}
		labels += `le="` + bound + `"`
	}
	b = append(b, name...)
	if labels != "" {
		b = append(b, "{"+labels+"}"...)
	}
	b = append(b, ' ')
	b = append(b, number(value)...)
	return append(b, '\n')
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// labels returns attributes as labels, without the braces.
func labels(set *attribute.Set) string {
	var b strings.Builder
	for i := set.Iter(); i.Next(); {
		a := i.Attribute()
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(prometheusWord(string(a.Key)) + `="`)
		b.WriteString(inLabel.Replace(strings.ToValidUTF8(a.Value.String(), "\uFFFD")))
		b.WriteByte('"')
	}
	return b.String()
}

// prometheusName returns the name of a metric for Prometheus: with _ for what is not allowed, its
// unit and, for counters, _total.
func prometheusName(name, unit, kind string) string {
	name = prometheusWord(name)
	if suffix := map[string]string{"s": "_seconds", "By": "_bytes", "%": "_percent"}[unit]; suffix != "" {
		name += suffix
	}
	if kind == "counter" {
		name += "_total"
	}
	return name
}

// prometheusWord returns a name with _ for each character that Prometheus does not allow.
func prometheusWord(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}
