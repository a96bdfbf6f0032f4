package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

// BenchmarkSearch searches a store of 1,000,000 thoughts, or 20,000 with -short,
// for different words each time. It reports the median and the 90th percentile.
func BenchmarkSearch(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	s := openBig(b, n)
	start := time.Now()
	for !s.index.upToDate(b.Context()) {
		time.Sleep(100 * time.Millisecond)
	}
	b.Logf("%d thoughts; %v until the index was up to date", n, time.Since(start).Round(time.Second))
	for _, test := range []struct {
		name  string
		query func(i int) string
	}{
		{"rare", func(i int) string { return word(25_000 + 97*i) }},
		{"medium", func(i int) string { return word(1_500 + 7*i) }},
		{"common", func(i int) string { return word(100 + i) }},
		{"most-common", func(i int) string { return word(i) }},
		{"two-medium", func(i int) string { return word(300+3*i) + " " + word(701+3*i) }},
		{"rare-and-common", func(i int) string { return word(20_000+97*i) + " " + word(i%50) }},
		{"phrase", func(i int) string { return fmt.Sprintf("%q", word(200+i)+" "+word(301+i)) }},
		{"prefix", func(i int) string { return word(3_000 + 11*i)[:5] + "*" }},
		{"exclude", func(i int) string { return word(2_000+7*i) + " -" + word(i%50) }},
		{"in-session", func(i int) string { return word(i) }},
		{"no-hit", func(i int) string { return fmt.Sprint("nothing", i) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			var times []time.Duration
			hits := 0
			for i := 0; b.Loop(); i++ {
				q := sequent.SearchQuery{Text: test.query(i % 100)}
				if test.name == "in-session" {
					q.Session = sequent.ID(fmt.Sprintf("session-%06d", i*7%(n/10)))
				}
				start := time.Now()
				page, err := s.Search(b.Context(), q)
				if err != nil {
					b.Fatalf("Search(%q): %v", q.Text, err)
				}
				times = append(times, time.Since(start))
				hits += len(page.Hits)
			}
			slices.Sort(times)
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(ms(times[len(times)/2]), "median-ms")
			b.ReportMetric(ms(times[len(times)*9/10]), "p90-ms")
			b.ReportMetric(float64(hits)/float64(len(times)), "hits")
		})
	}
}

// BenchmarkSearchForms measures searches of a store of 100,000 thoughts, or 10,000 with
// -short.
func BenchmarkSearchForms(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "s.db"), Sync: Normal})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.BenchmarkSearch(b, s, n, func() {
		for !s.index.upToDate(b.Context()) {
			time.Sleep(100 * time.Millisecond)
		}
	})
}
