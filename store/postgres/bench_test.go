//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// measure returns the time of n calls of do by concurrent clients.
func measure(b *testing.B, clients, n int, do func(client int) error) time.Duration {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	start := time.Now()
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(client); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// BenchmarkCitus measures durable appends to a store on a Citus cluster, in turns with one on a
// single server, in appends per second.
func BenchmarkCitus(b *testing.B) {
	one, cluster := pgtest.Server{Durable: true}, pgtest.Citus{Durable: true}
	b.Cleanup(func() {
		if err := errors.Join(one.Stop(), cluster.Stop()); err != nil {
			b.Error(err)
		}
	})
	text := strings.Repeat("a thought of some size ", 9)[:200]
	for _, clients := range []int{8, 64} {
		var stores []func(int) error
		for _, url := range []string{one.Schema(b), cluster.Schema(b)} {
			s := openAt(b, url)
			b.Cleanup(func() { s.Close() })
			e := sequent.New(sequent.Config{Store: s})
			add := func(client int) error {
				_, err := e.Ensure(b.Context(), sequent.ID(fmt.Sprint(client)), adding(text))
				return err
			}
			stores = append(stores, add)
			measure(b, clients, clients, add) // begins the sessions
		}
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			var took [2]time.Duration
			const alternateAfter = 500
			for left := b.N; left > 0; left -= alternateAfter {
				for i, add := range stores {
					took[i] += measure(b, clients, min(left, alternateAfter), add)
				}
			}
			b.ReportMetric(float64(b.N)/took[0].Seconds(), "one/s")
			b.ReportMetric(float64(b.N)/took[1].Seconds(), "citus/s")
			b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
