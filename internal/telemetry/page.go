package telemetry

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A metricsPage shows metrics to Prometheus, in version 0.0.4 of its text format, which all
// versions read. The official exporter shows the same, and is the oracle of its test: it makes
// the program larger and its start slower (README.md).
type metricsPage struct{ *sdkmetric.ManualReader }

// ServeHTTP implements [http.Handler].
func (p *metricsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m metricdata.ResourceMetrics
	if err := p.Collect(r.Context(), &m); err != nil {
		http.Error(w, "the metrics cannot be collected: "+err.Error(), http.StatusInternalServerError)
		return
	}
	var all []metricOf
	for _, s := range m.ScopeMetrics {
		all = append(all, convert(s.Metrics)...)
	}
	slices.SortFunc(all, func(a, b metricOf) int { return cmp.Compare(a.Name, b.Name) })
	var text strings.Builder
	for _, m := range all {
		m.write(&text)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(text.String())) // the client has left
}

// How texts are escaped.
var (
	inHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	inLabel = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)
)

// write writes a metric.
func (m *metricOf) write(b *strings.Builder) {
	kind, data := "gauge", cmp.Or(m.Gauge, m.Sum, m.Histogram)
	switch {
	case m.Histogram != nil:
		kind = "histogram"
	case data.Monotonic:
		kind = "counter"
	}
	name := prometheusName(m.Name, m.Unit, kind)
	b.WriteString("# HELP " + name + " " + inHelp.Replace(m.Description) + "\n# TYPE " + name + " " + kind + "\n")
	for _, p := range data.Points {
		labels := p.labels()
		if p.Value != nil {
			writeSample(b, name, labels, float64(*p.Value))
			continue
		}
		count := uint64(0)
		for i, n := range p.Buckets {
			count += n
			bound := math.Inf(1)
			if i < len(p.Bounds) {
				bound = p.Bounds[i]
			}
			writeSample(b, name+"_bucket", append(slices.Clip(labels), `le="`+number(bound)+`"`), float64(count))
		}
		writeSample(b, name+"_sum", labels, p.Sum)
		writeSample(b, name+"_count", labels, float64(p.Count))
	}
}

func writeSample(b *strings.Builder, name string, labels []string, value float64) {
	b.WriteString(name)
	if len(labels) > 0 {
		b.WriteString("{" + strings.Join(labels, ",") + "}")
	}
	b.WriteString(" " + number(value) + "\n")
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// labels returns the attributes as labels.
func (p *point) labels() []string {
	var list []string
	for _, a := range p.Attributes {
		list = append(list, prometheusWord(string(a.Key))+`="`+inLabel.Replace(strings.ToValidUTF8(a.Value.String(), "\uFFFD"))+`"`)
	}
	return list
}

// prometheusName returns the name of a metric for Prometheus: with _ for what is not allowed, its
// unit and, for counters, _total.
func prometheusName(name, unit, kind string) string {
	name = prometheusWord(name) + map[string]string{"s": "_seconds", "By": "_bytes", "%": "_percent"}[unit]
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
