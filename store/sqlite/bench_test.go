package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// BenchmarkAppend measures how long appends wait for the disk, with 1 and 16 writers to sessions of
// their own of 100 thoughts. See docs/benchmarks.md.
func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("a thought of the usual size ", 25) // 700 bytes
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "sessions.db"))
			defer s.Close()
			e := sequent.New(sequent.Config{Store: s})
			took := make([]time.Duration, b.N)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := w; i < b.N; i += writers {
						begun := time.Now()
						id := sequent.ID(fmt.Sprint(w, "-", i/writers/100))
						if _, err := e.Append(b.Context(), id, sequent.Draft{Text: text}); err != nil {
							b.Error(err)
							return
						}
						took[i] = time.Since(begun)
					}
				})
			}
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[b.N-1].Microseconds())/1000, "worst-ms")
		})
	}
}

// BenchmarkBig measures a store of 1,000,000 thoughts in 100,000 sessions, or, with -short, of
// 20,000 in 2,000. See docs/benchmarks.md.
func BenchmarkBig(b *testing.B) {
	sessions := 100_000
	if testing.Short() {
		sessions = 2000
	}
	path := bigStore(b, sessions)
	s := openAt(b, path)
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	measure := func(name string, do func(context.Context) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	measure("open", func(context.Context) error { return openAt(b, path).Close() })
	for name, q := range map[string]sequent.Query{
		"own": {}, "all": {AllOwners: true}, "created": {ByCreated: true},
	} {
		measure("list/"+name, func(ctx context.Context) error {
			q.Now = time.Now()
			page, err := s.List(ctx, q)
			if len(page.Headers) != 100 {
				return errors.Join(err, fmt.Errorf("%d headers, want 100", len(page.Headers)))
			}
			return err
		})
	}
	measure("counts", func(ctx context.Context) error {
		_, err := s.Usage(ctx, sequent.Query{})
		return err
	})
	for _, text := range []string{
		word(0), word(300), word(300) + " " + word(5000), word(0) + " " + word(1) + " " + word(2),
		word(30_000), "cefoguha*",
	} {
		measure("search/"+text, func(ctx context.Context) error {
			_, err := s.Search(ctx, sequent.SearchQuery{Text: text})
			return err
		})
	}
}

// bigStore returns the path of a store of sessions of 10 thoughts each, which it makes unless the
// directory that SEQUENT_BIG_STORE names has it. Texts have 200 to 1,200 bytes, and words with the
// frequencies of natural language. The thoughts of a session are not in adjacent rows.
func bigStore(b *testing.B, sessions int) string {
	b.Helper()
	dir := os.Getenv("SEQUENT_BIG_STORE")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("big-%d.db", sessions))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	unfinished := path + ".unfinished.db" // a store at path is complete
	if err := os.RemoveAll(unfinished); err != nil {
		b.Fatal(err)
	}
	s, err := Open(b.Context(), Config{Path: unfinished, Sync: Normal})
	if err != nil {
		b.Fatal(err)
	}
	e := sequent.New(sequent.Config{Store: s})
	const writers = 100
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(w)))
			zipf := rand.NewZipf(rng, 1.01, 30, 39_999)
			for i := range sessions / writers * 10 {
				var text strings.Builder
				for size := 200 + rng.IntN(1001); text.Len() < size; {
					text.WriteString(word(int(zipf.Uint64())) + " ")
				}
				id := sequent.ID(fmt.Sprint(w, "-", i/10))
				if _, err := e.Append(b.Context(), id, sequent.Draft{Text: text.String()}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil || b.Failed() {
		b.Fatal("the store was not made: ", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		b.Fatal(err)
	}
	return path
}

// word returns the i-th of the words that a big store has. Frequent words are short.
func word(i int) string {
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu")
	var b strings.Builder
	for i += 20; i > 0; i /= 20 {
		b.WriteString(syllables[i%20])
	}
	return b.String()
}
