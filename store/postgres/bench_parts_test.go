//go:build unix

package postgres

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// BenchmarkParts alternates between stores with 1 and 32 parts, on a durable server: appends
// by clients that are owners of their own, with the time that one in a hundred exceeds,
// opening the store, and a page of all owners.
func BenchmarkParts(b *testing.B) {
	durable := pgtest.Server{Durable: true}
	b.Cleanup(func() {
		if err := durable.Stop(); err != nil {
			b.Error(err)
		}
	})
	text := strings.Repeat("a thought of some size ", 9)[:200]
	const owners = 640
	sizes := []int{1, 32}
	var addresses []string
	var stores []*Store
	for _, parts := range sizes {
		address := withParts(durable.Schema(b), parts)
		s := openAt(b, address)
		b.Cleanup(func() { s.Close() })
		addresses, stores = append(addresses, address), append(stores, s)
	}
	const alternateAfter = 500
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("append/", clients), func(b *testing.B) {
			took := make([][]time.Duration, len(sizes))
			total := make([]time.Duration, len(sizes))
			var appends []func(int) error
			for i, s := range stores {
				e := sequent.New(sequent.Config{Store: s})
				took[i] = make([]time.Duration, b.N+clients)
				var n atomic.Int64
				appends = append(appends, func(client int) error {
					start := time.Now()
					_, err := e.Owned(fmt.Sprint("owner ", client)).Ensure(b.Context(), "a", adding(text))
					took[i][n.Add(1)-1] = time.Since(start)
					return err
				})
				measure(b, clients, clients, appends[i])
				n.Store(0)
			}
			for left := b.N; left > 0; left -= alternateAfter {
				for i := range stores {
					total[i] += measure(b, clients, min(left, alternateAfter), appends[i])
				}
			}
			for i, parts := range sizes {
				all := took[i][:b.N]
				slices.Sort(all)
				b.ReportMetric(float64(b.N)/total[i].Seconds(), fmt.Sprintf("parts%d/s", parts))
				b.ReportMetric(float64(late(all).Microseconds())/1000, fmt.Sprintf("parts%d-p99-ms", parts))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	for i, s := range stores {
		e := sequent.New(sequent.Config{Store: s})
		if took := measure(b, 16, owners, counting(func(n int) error {
			_, err := e.Owned(fmt.Sprint("owner ", n)).Ensure(b.Context(), "a", adding(text))
			return err
		})); took > 0 {
			b.Logf("%d parts: %d owners", sizes[i], owners)
		}
	}
	alternate := func(name string, do func(i int) error) {
		b.Run(name, func(b *testing.B) {
			total := make([]time.Duration, len(sizes))
			for range b.N {
				for i := range stores {
					start := time.Now()
					if err := do(i); err != nil {
						b.Fatal(err)
					}
					total[i] += time.Since(start)
				}
			}
			for i, parts := range sizes {
				b.ReportMetric(float64(total[i].Microseconds())/1000/float64(b.N), fmt.Sprintf("parts%d-ms", parts))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	alternate("open", func(i int) error { return openAt(b, addresses[i]).Close() })
	alternate("list", func(i int) error {
		page, err := stores[i].List(b.Context(), sequent.Query{AllOwners: true, Limit: 50})
		if err == nil && len(page.Headers) != 50 {
			err = fmt.Errorf("%d sessions", len(page.Headers))
		}
		return err
	})
	alternate("search", func(i int) error {
		hits, err := stores[i].Search(b.Context(), sequent.SearchQuery{Text: "thought size", AllOwners: true, Limit: 50})
		if err == nil && len(hits.Hits) != 50 {
			err = fmt.Errorf("%d thoughts", len(hits.Hits))
		}
		return err
	})
}

// counting calls do with 0, 1, 2 and so on.
func counting(do func(n int) error) func(int) error {
	var next atomic.Int64
	return func(int) error { return do(int(next.Add(1) - 1)) }
}
