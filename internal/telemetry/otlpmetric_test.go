package telemetry

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/proto"
)

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// What is appended is what the published messages say.
func TestAppendMetrics(t *testing.T) {
	begin, now := time.Unix(1, 2), time.Unix(3, 4)
	const beginNano, nowNano = 1_000_000_002, 3_000_000_004
	set := attribute.NewSet(attribute.String("k", strings.Repeat("v", 300))) // its length takes two bytes
	attributes := []*commonpb.KeyValue{text("k", strings.Repeat("v", 300))}
	min, max, sum := 1.0, 2.5, 3.5
	intSum := 7.0
	given := &metricdata.ResourceMetrics{
		Resource: resource.NewWithAttributes("https://schema/1", attribute.String("service.name", "sequent")),
		ScopeMetrics: []metricdata.ScopeMetrics{{
			Scope: instrumentation.Scope{Name: "scope", Version: "v1", SchemaURL: "https://schema/2"},
			Metrics: []metricdata.Metrics{
				{Name: "gauge", Unit: "By", Description: "d", Data: metricdata.Gauge[int64]{DataPoints: []metricdata.DataPoint[int64]{{Attributes: set, Time: now, Value: -5}, {Time: now}}}},
				{Name: "share", Data: metricdata.Gauge[float64]{DataPoints: []metricdata.DataPoint[float64]{{Time: now, Value: 0.5}}}},
				{Name: "sum", Data: metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true, DataPoints: []metricdata.DataPoint[int64]{{StartTime: begin, Time: now, Value: 6}}}},
				{Name: "cost", Data: metricdata.Sum[float64]{Temporality: metricdata.DeltaTemporality, DataPoints: []metricdata.DataPoint[float64]{{StartTime: begin, Time: now, Value: 6.5}}}},
				{Name: "duration", Data: metricdata.Histogram[float64]{Temporality: metricdata.DeltaTemporality, DataPoints: []metricdata.HistogramDataPoint[float64]{{
					Attributes: set, StartTime: begin, Time: now, Count: 2, Sum: 3.5, Bounds: []float64{1, 2}, BucketCounts: []uint64{1, 0, 1},
					Min: metricdata.NewExtrema(1.0), Max: metricdata.NewExtrema(2.5),
				}}}},
				{Name: "tokens", Data: metricdata.Histogram[int64]{Temporality: metricdata.CumulativeTemporality, DataPoints: []metricdata.HistogramDataPoint[int64]{{StartTime: begin, Time: now, Count: 1, Sum: 7, BucketCounts: []uint64{1}}}}},
			},
		}},
	}
	number := func(v int64) *metricspb.NumberDataPoint {
		return &metricspb.NumberDataPoint{TimeUnixNano: nowNano, Value: &metricspb.NumberDataPoint_AsInt{AsInt: v}}
	}
	float := func(v float64) *metricspb.NumberDataPoint {
		return &metricspb.NumberDataPoint{TimeUnixNano: nowNano, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: v}}
	}
	since := func(p *metricspb.NumberDataPoint) []*metricspb.NumberDataPoint {
		p.StartTimeUnixNano = beginNano
		return []*metricspb.NumberDataPoint{p}
	}
	labelled := number(-5)
	labelled.Attributes = attributes
	want := &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		SchemaUrl: "https://schema/1",
		Resource:  &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", "sequent")}},
		ScopeMetrics: []*metricspb.ScopeMetrics{{
			Scope:     &commonpb.InstrumentationScope{Name: "scope", Version: "v1"},
			SchemaUrl: "https://schema/2",
			Metrics: []*metricspb.Metric{
				{Name: "gauge", Unit: "By", Description: "d", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{labelled, number(0)}}}},
				{Name: "share", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{float(0.5)}}}},
				{Name: "sum", Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true, DataPoints: since(number(6))}}},
				{Name: "cost", Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA, DataPoints: since(float(6.5))}}},
				{Name: "duration", Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
					AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA,
					DataPoints: []*metricspb.HistogramDataPoint{{
						Attributes: attributes, StartTimeUnixNano: beginNano, TimeUnixNano: nowNano, Count: 2, Sum: &sum, Min: &min, Max: &max,
						ExplicitBounds: []float64{1, 2}, BucketCounts: []uint64{1, 0, 1},
					}},
				}}},
				{Name: "tokens", Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
					AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
					DataPoints:             []*metricspb.HistogramDataPoint{{StartTimeUnixNano: beginNano, TimeUnixNano: nowNano, Count: 1, Sum: &intSum, BucketCounts: []uint64{1}}},
				}}},
			},
		}},
	}}}
	var got metricspb.MetricsData
	if err := proto.Unmarshal(appendMetrics(nil, given), &got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&got, want) {
		t.Errorf("encoded as\n%v\nwant\n%v", &got, want)
	}
}

// Metrics count from the start, or from one export to the next.
func TestTemporality(t *testing.T) {
	for _, tt := range []struct {
		value, histograms string
		want              metricdata.Temporality // of a histogram
		err               string
	}{
		{want: metricdata.CumulativeTemporality},
		{value: "Delta", want: metricdata.DeltaTemporality},
		{value: "lowmemory", want: metricdata.DeltaTemporality},
		{value: "other", err: "use cumulative, delta or lowmemory"},
		{histograms: "base2_exponential_bucket_histogram", err: "use explicit_bucket_histogram"},
	} {
		setenv(t, "ENDPOINT=http://c", "METRICS_TEMPORALITY_PREFERENCE="+tt.value, "METRICS_DEFAULT_HISTOGRAM_AGGREGATION="+tt.histograms)
		e, err := newMetricExporter(slog.New(slog.DiscardHandler))
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || tt.err == "" && (err != nil || e.Temporality(sdkmetric.InstrumentKindHistogram) != tt.want) {
			t.Errorf("%q %q: %v", tt.value, tt.histograms, err)
		}
	}
}
