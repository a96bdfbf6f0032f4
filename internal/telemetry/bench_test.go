//go:build unix

package telemetry

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sequent-dev/sequent/mcpserver"
)

// spent returns the processor time of the process.
func spent(b *testing.B) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkRequest observes a request without doing anything. Its processor time, cpu-ns/op,
// has the exports and a collector that reads them, and depends less on other load than the
// time of a call.
func BenchmarkRequest(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	for _, bb := range []struct {
		name, sampler, arg string
		traces             bool
	}{
		{"metrics", "", "", false}, {"never", "parentbased_always_off", "", true}, {"sampled", "parentbased_traceidratio", "0.01", true}, {"all", "", "", true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
			b.Setenv("OTEL_TRACES_SAMPLER", bb.sampler)
			b.Setenv("OTEL_TRACES_SAMPLER_ARG", bb.arg)
			b.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000000") // nothing is dropped
			b.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2048")
			tel, err := Start(b.Context(), Config{Traces: bb.traces, Metrics: true, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			before := spent(b)
			for b.Loop() {
				observe(tel, call(overHTTP), func(_ context.Context, x *mcpserver.Exchange) { x.Tool = "sequentialthinking" })
			}
			b.ReportMetric(float64(spent(b)-before)/float64(b.N), "cpu-ns/op")
			b.StopTimer()
			if err := tel.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
