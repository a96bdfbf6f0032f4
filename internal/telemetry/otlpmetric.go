package telemetry

import (
	"context"
	"log/slog"
	"math"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/protobuf/encoding/protowire"
)

// A metricExporter sends metrics to a collector. Its methods are called by one goroutine.
type metricExporter struct {
	*sender
	temporality sdkmetric.TemporalitySelector
}

func newMetricExporter(logger *slog.Logger) (*metricExporter, error) {
	s, err := newSender("metrics", logger)
	if err != nil {
		return nil, err
	}
	temporality, err := readTemporality()
	return &metricExporter{s, temporality}, err
}

// Temporality implements [sdkmetric.Exporter].
func (e *metricExporter) Temporality(kind sdkmetric.InstrumentKind) metricdata.Temporality {
	return e.temporality(kind)
}

// Aggregation implements [sdkmetric.Exporter].
func (e *metricExporter) Aggregation(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(kind)
}

// Export implements [sdkmetric.Exporter]. It returns nil: the sender has reported a failure.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	e.send(ctx, appendMetrics(nil, m))
	return nil
}

// ForceFlush implements [sdkmetric.Exporter].
func (e *metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdkmetric.Exporter].
func (e *metricExporter) Shutdown(context.Context) error {
	e.close()
	return nil
}

// The field numbers of opentelemetry/proto/metrics/v1/metrics.proto that are used.
const (
	requestResource, requestSchema       = 1, 3
	resourceAttributes                   = 1
	resourceOf, scopesOf                 = 1, 2
	scopeOf, metricsOf, scopeSchema      = 1, 2, 3
	scopeName, scopeVersion              = 1, 2
	metricName, metricText, metricUnit   = 1, 2, 3
	metricGauge, metricSum, metricHisto  = 5, 7, 9
	pointsOf, temporalityOf, monotonicOf = 1, 2, 3

	numberStart, numberTime, numberDouble, numberInt, numberAttributes = 2, 3, 4, 6, 7

	histoStart, histoTime, histoCount, histoSum, histoBuckets = 2, 3, 4, 5, 6
	histoBounds, histoAttributes, histoMin, histoMax          = 7, 9, 11, 12
)

// appendMetrics appends an ExportMetricsServiceRequest. It has no exemplars.
func appendMetrics(b []byte, m *metricdata.ResourceMetrics) []byte {
	return appendMessage(b, requestResource, func(b []byte) []byte {
		b = appendResource(b, resourceOf, m.Resource)
		for i := range m.ScopeMetrics {
			b = appendMessage(b, scopesOf, func(b []byte) []byte { return appendScopeMetrics(b, &m.ScopeMetrics[i]) })
		}
		return appendText(b, requestSchema, m.Resource.SchemaURL())
	})
}

func appendScopeMetrics(b []byte, m *metricdata.ScopeMetrics) []byte {
	b = appendScope(b, scopeOf, m.Scope.Name, m.Scope.Version)
	for _, metric := range m.Metrics {
		b = appendMessage(b, metricsOf, func(b []byte) []byte {
			b = appendText(b, metricName, metric.Name)
			b = appendText(b, metricText, metric.Description)
			b = appendText(b, metricUnit, metric.Unit)
			switch data := metric.Data.(type) {
			case metricdata.Gauge[int64]:
				return appendNumbers(b, metricGauge, data.DataPoints, 0, false)
			case metricdata.Gauge[float64]:
				return appendNumbers(b, metricGauge, data.DataPoints, 0, false)
			case metricdata.Sum[int64]:
				return appendNumbers(b, metricSum, data.DataPoints, data.Temporality, data.IsMonotonic)
			case metricdata.Sum[float64]:
				return appendNumbers(b, metricSum, data.DataPoints, data.Temporality, data.IsMonotonic)
			case metricdata.Histogram[int64]:
				return appendHistogram(b, data)
			case metricdata.Histogram[float64]:
				return appendHistogram(b, data)
			}
			return b // no other aggregation is asked for
		})
	}
	return appendText(b, scopeSchema, m.Scope.SchemaURL)
}

// appendResource appends a Resource as a field.
func appendResource(b []byte, field protowire.Number, r *resource.Resource) []byte {
	return appendMessage(b, field, func(b []byte) []byte { return appendAttributes(b, resourceAttributes, r.Attributes()) })
}

// appendScope appends an InstrumentationScope as a field.
func appendScope(b []byte, field protowire.Number, name, version string) []byte {
	return appendMessage(b, field, func(b []byte) []byte { return appendText(appendText(b, scopeName, name), scopeVersion, version) })
}

// appendNumbers appends a Gauge or a Sum; the temporality of a gauge is 0.
func appendNumbers[N int64 | float64](b []byte, field protowire.Number, points []metricdata.DataPoint[N], t metricdata.Temporality, monotonic bool) []byte {
	return appendMessage(b, field, func(b []byte) []byte {
		for _, p := range points {
			b = appendMessage(b, pointsOf, func(b []byte) []byte {
				b = appendStart(b, numberStart, p.StartTime)
				b = appendTime(b, numberTime, p.Time.UnixNano())
				switch v := any(p.Value).(type) {
				case int64:
					b = appendFixed(b, numberInt, uint64(v))
				case float64:
					b = appendFixed(b, numberDouble, math.Float64bits(v))
				}
				return appendAttributes(b, numberAttributes, p.Attributes.ToSlice())
			})
		}
		b = appendTemporality(b, t)
		if monotonic {
			b = appendVarint(b, monotonicOf, 1)
		}
		return b
	})
}

func appendHistogram[N int64 | float64](b []byte, h metricdata.Histogram[N]) []byte {
	return appendMessage(b, metricHisto, func(b []byte) []byte {
		for _, p := range h.DataPoints {
			b = appendMessage(b, pointsOf, func(b []byte) []byte {
				b = appendStart(b, histoStart, p.StartTime)
				b = appendTime(b, histoTime, p.Time.UnixNano())
				b = appendFixed(b, histoCount, p.Count)
				b = appendFixed(b, histoSum, math.Float64bits(float64(p.Sum)))
				b = appendMessage(b, histoBuckets, func(b []byte) []byte {
					for _, n := range p.BucketCounts {
						b = protowire.AppendFixed64(b, n)
					}
					return b
				})
				b = appendMessage(b, histoBounds, func(b []byte) []byte {
					for _, bound := range p.Bounds {
						b = protowire.AppendFixed64(b, math.Float64bits(bound))
					}
					return b
				})
				b = appendAttributes(b, histoAttributes, p.Attributes.ToSlice())
				if v, ok := p.Min.Value(); ok {
					b = appendFixed(b, histoMin, math.Float64bits(float64(v)))
				}
				if v, ok := p.Max.Value(); ok {
					b = appendFixed(b, histoMax, math.Float64bits(float64(v)))
				}
				return b
			})
		}
		return appendTemporality(b, h.Temporality)
	})
}

// appendTemporality appends an AggregationTemporality, unless t is 0.
func appendTemporality(b []byte, t metricdata.Temporality) []byte {
	switch t {
	case metricdata.DeltaTemporality:
		return appendVarint(b, temporalityOf, 1)
	case metricdata.CumulativeTemporality:
		return appendVarint(b, temporalityOf, 2)
	}
	return b
}

// appendStart appends the time from which a point counts; gauges have none.
func appendStart(b []byte, field protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return appendTime(b, field, t.UnixNano())
}

func appendFixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

// appendText appends a string, unless it is empty.
func appendText(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

// appendMessage appends what f appends as a field, after its length.
func appendMessage(b []byte, field protowire.Number, f func([]byte) []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	begin := len(b)
	b = f(b)
	size := len(b) - begin
	b = append(b, make([]byte, protowire.SizeVarint(uint64(size)))...)
	copy(b[len(b)-size:], b[begin:begin+size])
	protowire.AppendVarint(b[:begin], uint64(size))
	return b
}
