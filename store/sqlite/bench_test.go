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
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// benchText has the size of a usual thought.
var benchText = strings.Repeat("a thought of the usual size ", 25) // 700 bytes

// BenchmarkAppend measures appends through the engine: each writer appends to sessions of its
// own, of 100 thoughts.
func BenchmarkAppend(b *testing.B) {
	for _, test := range []struct {
		name    string
		writers int
		sync    Sync
	}{
		{"full/writers=1", 1, Full},
		{"full/writers=16", 16, Full},
		{"normal/writers=1", 1, Normal},
	} {
		b.Run(test.name, func(b *testing.B) {
			s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "sessions.db"), Sync: test.sync})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.ReportAllocs()
			took := make([]time.Duration, b.N)
			if err := appendAll(b.Context(), s, test.writers, b.N, 100, func() string { return benchText }, took); err != nil {
				b.Fatal(err)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[b.N-1].Microseconds())/1000, "worst-ms")
		})
	}
}

// appendAll appends n thoughts through an engine, to sessions of a number of thoughts. Each of the
// writers appends to one session at a time. It stores how long each append took, unless took is nil.
func appendAll(ctx context.Context, s *Store, writers, n, each int, text func() string, took []time.Duration) error {
	e := sequent.New(sequent.Config{Store: s})
	var next atomic.Int64
	failed := make(chan error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				begun := time.Now()
				if _, err := e.Append(ctx, sequent.ID(fmt.Sprint(w, "-", i/each/writers)), sequent.Draft{Text: text()}); err != nil {
					failed <- err
					return
				}
				if took != nil {
					took[i] = time.Since(begun)
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// BenchmarkBig reads a store of 1,000,000 thoughts in 100,000 sessions, or, with
// -short, 20,000 thoughts in 2,000 sessions.
func BenchmarkBig(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	s := openBig(b, n)
	ctx := b.Context()
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			again := openAt(b, s.path)
			b.StopTimer()
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	for name, q := range map[string]sequent.Query{
		"latest-100":               {},
		"latest-100-of-all-owners": {AllOwners: true},
		"newest-100":               {ByCreated: true},
	} {
		b.Run(name, func(b *testing.B) {
			q.Now = time.Now()
			for b.Loop() {
				page, err := s.List(ctx, q)
				if err != nil || len(page.Headers) != 100 {
					b.Fatalf("List = %d headers, error %v", len(page.Headers), err)
				}
			}
		})
	}
	b.Run("all-headers", func(b *testing.B) {
		e := sequent.New(sequent.Config{Store: s})
		for b.Loop() {
			for _, err := range e.AllSessions(ctx, sequent.Query{Limit: 5000}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for _, text := range []string{word(0), word(300), word(300) + " " + word(5000), word(0) + " " + word(1) + " " + word(2), word(30000), "cefoguha*"} {
		b.Run("search/"+strings.ReplaceAll(text, " ", "+"), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(ctx, sequent.SearchQuery{Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// openBig opens a store of n thoughts in n/10 sessions, generating it if it does
// not exist in the directory that SEQUENT_BIG_STORE names. Texts have 200 to 1,200 bytes,
// and words with the frequencies of natural language.
func openBig(b *testing.B, n int) *Store {
	b.Helper()
	dir := os.Getenv("SEQUENT_BIG_STORE")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("big-%d.db", n))
	if _, err := os.Stat(path); err != nil {
		if err := generate(b.Context(), path, n); err != nil {
			b.Fatal(err)
		}
	}
	s := openAt(b, path)
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// generate creates the store under another name and renames it, so that a store
// at path is always complete. The thoughts of a session are not in adjacent rows.
func generate(ctx context.Context, path string, n int) error {
	unfinished := path + ".unfinished.db"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	s, err := Open(ctx, Config{Path: unfinished, Sync: Normal})
	if err != nil {
		return err
	}
	text := newTexts()
	if err := errors.Join(appendAll(ctx, s, 100, n, 10, text.next, nil), s.Close()); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

// texts generates texts from a vocabulary of 40,000 words. The k-th word is about
// 1/k as frequent as the first.
type texts struct {
	mu         sync.Mutex
	rng        *rand.Rand
	zipf       *rand.Zipf
	vocabulary []string
}

func newTexts() *texts {
	rng := rand.New(rand.NewPCG(7, 7))
	x := &texts{rng: rng, zipf: rand.NewZipf(rng, 1.01, 30, 39_999), vocabulary: make([]string, 40_000)}
	for i := range x.vocabulary {
		x.vocabulary[i] = word(i)
	}
	return x
}

// word returns the i-th word. Frequent words are short.
func word(i int) string {
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu")
	var b strings.Builder
	for i += 20; i > 0; i /= 20 {
		b.WriteString(syllables[i%20])
	}
	return b.String()
}

func (x *texts) next() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	size := 200 + x.rng.IntN(1001)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(x.vocabulary[x.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}
