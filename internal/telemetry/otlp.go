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

// convert returns metrics as OTLP has them, without those that nothing was recorded of. It knows the
// kinds of those that this package and the instrumentation of the Go runtime record.
func convert(metrics []metricdata.Metrics) []object {
	list := []object{}
	for _, m := range metrics {
		kind, points, data := "", []object(nil), object{}
		switch d := m.Data.(type) {
		case metricdata.Gauge[int64]:
			kind, points = "gauge", numbers(d.DataPoints)
		case metricdata.Sum[int64]:
			kind, points = "sum", numbers(d.DataPoints)
			data["aggregationTemporality"], data["isMonotonic"] = cumulativeSum, d.IsMonotonic
		case metricdata.Histogram[float64]:
			kind, points = "histogram", distributions(d.DataPoints)
			data["aggregationTemporality"] = cumulativeSum
		}
		if data["dataPoints"] = points; len(points) > 0 {
			list = append(list, object{"name": m.Name, "unit": m.Unit, "description": m.Description, kind: data})
		}
	}
	return list
}

// cumulativeSum is AGGREGATION_TEMPORALITY_CUMULATIVE, which [exporter.Temporality] asks for.
const cumulativeSum = 2

// pointOf returns what a NumberDataPoint and a HistogramDataPoint have in common.
func pointOf(of attribute.Set, start, end time.Time) object {
	return object{"attributes": pairs(of.ToSlice()), "startTimeUnixNano": nanos(start), "timeUnixNano": nanos(end)}
}

func numbers(list []metricdata.DataPoint[int64]) []object {
	made := make([]object, len(list))
	for i, p := range list {
		made[i] = pointOf(p.Attributes, p.StartTime, p.Time)
		made[i]["asInt"] = strconv.FormatInt(p.Value, 10)
	}
	return made
}

func distributions(list []metricdata.HistogramDataPoint[float64]) []object {
	made := make([]object, len(list))
	for i, p := range list {
		made[i] = pointOf(p.Attributes, p.StartTime, p.Time)
		made[i]["count"], made[i]["sum"] = strconv.FormatUint(p.Count, 10), p.Sum
		made[i]["bucketCounts"], made[i]["explicitBounds"] = p.BucketCounts, p.Bounds
	}
	return made
}
