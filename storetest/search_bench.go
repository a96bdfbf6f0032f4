package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// BenchmarkSearch measures what inflections, queries that no thought matches with all
// words, and unknown words cost. It fills the empty store s with n thoughts of 20 to 120
// words, whose frequencies are those of natural language, then calls indexed, which
// waits until the index has them all. Each query alternates with a query for the same
// words in quotation marks, without inflections. It reports the medians of both in
// milliseconds, and their ratio.
func BenchmarkSearch(b *testing.B, s sequent.Store, n int, indexed func()) {
	b.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(rng, 1.01, 30, 39_999)
	for id := 0; n > 0; {
		var batch []*sequent.Write
		for range min(50, (n+19)/20) {
			texts := make([]string, min(20, n))
			for i := range texts {
				var text strings.Builder
				for range 20 + rng.IntN(101) {
					text.WriteString(inflected(int(zipf.Uint64()), rng.IntN(6)) + " ")
				}
				texts[i] = text.String()
			}
			batch = append(batch, begin(sequent.Key{ID: sequent.ID(fmt.Sprintf("s%06d", id))}, texts...))
			id++
			n -= len(texts)
		}
		if err := s.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	indexed()
	word := func(i int) string { return inflected(i, i) }
	for _, test := range []struct {
		name  string
		query func(i int) []string
	}{
		{"rare", func(i int) []string { return []string{word(25_000 + 97*i)} }},
		{"medium", func(i int) []string { return []string{word(1_500 + 7*i)} }},
		{"common", func(i int) []string { return []string{word(i)} }},
		{"two-medium", func(i int) []string { return []string{word(300 + 3*i), word(301 + 3*i)} }},
		{"three-common", func(i int) []string { return []string{word(i), word(i + 7), word(i + 20)} }},
		{"four-partly", func(i int) []string { return []string{word(i), word(300 + i), word(2_000 + i), word(20_000 + 97*i)} }},
		{"unknown", func(i int) []string { return []string{word(1_500 + 7*i)[1:] + "qe"} }},
		{"unknown-and-common", func(i int) []string { return []string{word(i), word(i + 7), word(1_500 + 7*i)[1:] + "qe"} }},
	} {
		b.Run(test.name, func(b *testing.B) {
			var times [2][]time.Duration
			hits := 0
			for i := 0; b.Loop(); i++ {
				words := test.query(i % 100)
				for j, text := range []string{`"` + strings.Join(words, `" "`) + `"`, strings.Join(words, " ")} {
					start := time.Now()
					page, err := s.Search(b.Context(), sequent.SearchQuery{Text: text})
					if err != nil {
						b.Fatalf("Search(%q): %v", text, err)
					}
					times[j] = append(times[j], time.Since(start))
					hits += j * len(page.Hits)
				}
			}
			var medians [2]float64
			for j, all := range times {
				slices.Sort(all)
				medians[j] = float64(all[len(all)/2].Microseconds()) / 1000
			}
			b.ReportMetric(medians[0], "quoted-ms")
			b.ReportMetric(medians[1], "median-ms")
			b.ReportMetric(medians[1]/medians[0], "ratio")
			b.ReportMetric(float64(hits)/float64(len(times[1])), "hits")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// inflected returns the i-th word of a language without irregular words, in one of
// three forms. Frequent words are short.
func inflected(i, form int) string {
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu")
	var b strings.Builder
	for i += 20; i > 0; i /= 20 {
		b.WriteString(syllables[i%20])
	}
	b.WriteString("nd")
	b.WriteString([]string{"", "", "", "s", "ed", "ing"}[form%6])
	return b.String()
}
