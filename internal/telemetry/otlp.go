package telemetry

import (
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The messages of OTLP 1.11 as JSON: the mapping of protobuf to JSON, but with ids of traces and
// spans in hexadecimal and enumerations as numbers.

// An object is a message of OTLP.
type object map[string]any

// scoped returns what one scope of instrumentation has recorded. Kind is spans or metrics.
func scoped(kind string, s instrumentation.Scope, records any) object {
	return object{"scope": object{"name": s.Name, "version": s.Version}, "schemaUrl": s.SchemaURL, kind: records}
}

// request returns an Export…ServiceRequest. Kind is Spans or Metrics.
func request(kind string, r *resource.Resource, scopes []object) object {
	of := object{"resource": object{"attributes": pairs(r.Attributes())}, "schemaUrl": r.SchemaURL(), "scope" + kind: scopes}
	return object{"resource" + kind: []object{of}}
}

// A pair is a KeyValue of OTLP.
type pair attribute.KeyValue

func pairs(list []attribute.KeyValue) []pair {
	made := make([]pair, len(list))
	for i, a := range list {
		made[i] = pair(a)
	}
	return made
}

// MarshalJSON implements [json.Marshaler].
func (p pair) MarshalJSON() ([]byte, error) {
	return json.Marshal(object{"key": p.Key, "value": anyValue(p.Value)})
}

func anyValue(v attribute.Value) object {
	if v.Type() == attribute.INT64 {
		return object{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	}
	return object{"stringValue": v.String()}
}

// A nanos is a time as a fixed64, which is a string in JSON.
type nanos time.Time

// MarshalJSON implements [json.Marshaler].
func (t nanos) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte(`"0"`), nil
	}
	return strconv.AppendQuote(nil, strconv.FormatInt(time.Time(t).UnixNano(), 10)), nil
}

// spanOf returns a Span.
func spanOf(s sdktrace.ReadOnlySpan) object {
	at, links := s.SpanContext(), []object{}
	for _, l := range s.Links() {
		links = append(links, object{
			"traceId": l.SpanContext.TraceID(), "spanId": l.SpanContext.SpanID(),
			"traceState": l.SpanContext.TraceState().String(),
		})
	}
	made := object{
		"traceId": at.TraceID(), "spanId": at.SpanID(), "traceState": at.TraceState().String(), "name": s.Name(),
		"kind": int(s.SpanKind()), "attributes": pairs(s.Attributes()), "links": links,
		"startTimeUnixNano": nanos(s.StartTime()), "endTimeUnixNano": nanos(s.EndTime()),
	}
	if s.Parent().HasSpanID() {
		made["parentSpanId"] = s.Parent().SpanID()
	}
	if s.Status().Code == codes.Error {
		const statusError = 2
		made["status"] = object{"code": statusError}
	}
	return made
}

// A metricOf is a Metric of OTLP.
type metricOf struct {
	Name        string  `json:"name"`
	Unit        string  `json:"unit,omitempty"`
	Description string  `json:"description,omitempty"`
	Gauge       *points `json:"gauge,omitempty"` // one of the three is set
	Sum         *points `json:"sum,omitempty"`
	Histogram   *points `json:"histogram,omitempty"`
}

// points are a Gauge, a Sum or a Histogram.
type points struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality,omitempty"`
	Monotonic   bool    `json:"isMonotonic,omitempty"`
}

// A point is a NumberDataPoint, which has a Value, or a HistogramDataPoint.
type point struct {
	Attributes []pair    `json:"attributes,omitempty"`
	Start      nanos     `json:"startTimeUnixNano"`
	Time       nanos     `json:"timeUnixNano"`
	Value      *int64    `json:"asInt,string,omitempty"`
	Count      uint64    `json:"count,string,omitempty"`
	Sum        float64   `json:"sum,omitempty"`
	Buckets    []uint64  `json:"bucketCounts,omitempty"`
	Bounds     []float64 `json:"explicitBounds,omitempty"`
}

// convert returns metrics as OTLP has them, without those that nothing was recorded of. It knows the
// kinds of those that this package and the instrumentation of the Go runtime record.
func convert(metrics []metricdata.Metrics) (list []metricOf) {
	for _, m := range metrics {
		made, data := metricOf{Name: m.Name, Unit: m.Unit, Description: m.Description}, new(points)
		switch d := m.Data.(type) {
		case metricdata.Gauge[int64]:
			made.Gauge, data.Points = data, numbers(d.DataPoints)
		case metricdata.Sum[int64]:
			made.Sum, *data = data, points{numbers(d.DataPoints), temporality(d.Temporality), d.IsMonotonic}
		case metricdata.Histogram[float64]:
			made.Histogram, *data = data, points{Points: distributions(d.DataPoints), Temporality: temporality(d.Temporality)}
		}
		if len(data.Points) > 0 {
			list = append(list, made)
		}
	}
	return list
}

// temporality returns the number that OTLP has for a temporality.
func temporality(t metricdata.Temporality) int {
	const delta, cumulative = 1, 2
	if t == metricdata.DeltaTemporality {
		return delta
	}
	return cumulative
}

func numbers(list []metricdata.DataPoint[int64]) []point {
	made := make([]point, len(list))
	for i, p := range list {
		made[i] = point{Attributes: pairs(p.Attributes.ToSlice()), Start: nanos(p.StartTime), Time: nanos(p.Time), Value: &p.Value}
	}
	return made
}

func distributions(list []metricdata.HistogramDataPoint[float64]) []point {
	made := make([]point, len(list))
	for i, p := range list {
		made[i] = point{
			Attributes: pairs(p.Attributes.ToSlice()), Start: nanos(p.StartTime), Time: nanos(p.Time),
			Count: p.Count, Sum: p.Sum, Buckets: p.BucketCounts, Bounds: p.Bounds,
		}
	}
	return made
}
