package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// benchText is of the usual size.
var benchText = strings.Repeat("a thought of the usual size ", 25) // 700 bytes

func benchEngine(b *testing.B) (*Store, *sequent.Engine) {
	b.Helper()
	s := openAt(b, filepath.Join(b.TempDir(), "sessions.db"))
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s, sequent.New(sequent.Config{Store: s})
}

// BenchmarkAppend is a durable append through the engine. The ratio to a bare
// file that is extended and synchronised is in the same run.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			_, e := benchEngine(b)
			ctx := b.Context()
			b.SetParallelism(writers) // times GOMAXPROCS; close enough to show the batching
			b.ReportAllocs()
			var n atomic.Int64
			began := time.Now()
			if writers == 1 {
				for b.Loop() {
					if _, err := e.Ensure(ctx, sequent.ID(fmt.Sprint(n.Add(1)/100)), record(benchText)); err != nil {
						b.Fatal(err)
					}
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := e.Ensure(ctx, sequent.ID(fmt.Sprint(n.Add(1)/100)), record(benchText)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "appends/s")
		})
	}
	b.Run("bare-file", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		buf := []byte(strings.Repeat("x", 1000))
		for b.Loop() {
			if _, err := f.Write(buf); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
