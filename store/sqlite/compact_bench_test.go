package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// BenchmarkCompact compacts a store of 400 MB of which 78 % were deleted, while another
// connection appends. It reports the sizes and the longest wait of an append.
func BenchmarkCompact(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := openAt(b, filepath.Join(b.TempDir(), "s.db"))
		e := sequent.New(sequent.Config{Store: s, CacheBytes: -1, Limits: sequent.Limits{Text: -1}})
		words := strings.Repeat("a thought about the deployment of the service ", 40)
		for i := range 2000 {
			_, err := e.Begin(b.Context(), sequent.ID(fmt.Sprint("s", i)), func(c *sequent.Change) error {
				for j := range 50 {
					if _, err := c.Append(sequent.Draft{Number: j + 1, Total: 50, Text: fmt.Sprint(i, " ", j, " ", words), More: true}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		for i := range 2000 {
			if i%100 < 78 {
				if err := e.Delete(b.Context(), sequent.ID(fmt.Sprint("s", i))); err != nil {
					b.Fatal(err)
				}
			}
		}
		ctx, cancel := context.WithCancel(b.Context())
		longest := make(chan time.Duration)
		go func() {
			var most time.Duration
			for ctx.Err() == nil {
				start := time.Now()
				if _, err := e.Ensure(context.WithoutCancel(ctx), "live", adding("while it is compacted")); err != nil {
					b.Error(err)
				}
				most = max(most, time.Since(start))
				time.Sleep(time.Millisecond)
			}
			longest <- most
		}()
		b.StartTimer()
		c, err := s.Compact(b.Context(), nil)
		b.StopTimer()
		cancel()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(c.Before)/1e6, "MB-before")
		b.ReportMetric(float64(c.After)/1e6, "MB-after")
		b.ReportMetric(float64((<-longest).Milliseconds()), "ms-longest-append")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
