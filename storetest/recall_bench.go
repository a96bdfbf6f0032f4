package storetest

import (
	"math"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// BenchmarkFirstRecall reads a session of 100,000 thoughts of 200 bytes from a store, empty
// before, into an empty cache. The goal is 150 ms. It reports the fastest read, and the most
// that the heap grew during one, of which the goal is 64 MiB.
func BenchmarkFirstRecall(b *testing.B, s sequent.Store) {
	b.Helper()
	text := strings.Repeat("x", 200)
	writer := sequent.New(sequent.Config{Store: s})
	const thoughts = 100_000
	for n := 0; n < thoughts; {
		if _, err := writer.Ensure(b.Context(), "a", func(c *sequent.Change) error {
			for range 500 {
				n++
				if _, err := c.Append(sequent.Draft{Number: n, Total: thoughts, Text: text, More: true}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	var most uint64
	fastest := time.Duration(math.MaxInt64)
	for b.Loop() {
		b.StopTimer()
		writer = nil
		runtime.GC()
		before := heap()
		stop, stopped := make(chan struct{}), make(chan uint64)
		go func() {
			highest := before
			for tick := time.NewTicker(time.Millisecond); ; {
				select {
				case <-tick.C:
					highest = max(highest, heap())
				case <-stop:
					tick.Stop()
					stopped <- highest
					return
				}
			}
		}()
		b.StartTimer()
		start := time.Now()
		got, err := sequent.New(sequent.Config{Store: s}).Session(b.Context(), "a")
		fastest = min(fastest, time.Since(start))
		b.StopTimer()
		close(stop)
		most = max(most, <-stopped-before)
		if err != nil || got.Len() != thoughts {
			b.Fatalf("Session = %d thoughts, %v", got.Len(), err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB-more")
	b.ReportMetric(float64(fastest.Milliseconds()), "fastest-ms")
}
