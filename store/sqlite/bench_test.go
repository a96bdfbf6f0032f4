package sqlite

import (
	"context"
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
			e := sequent.New(sequent.Config{Store: s})
			b.ReportAllocs()
			start, used := time.Now(), processorTime()
			took := make([]time.Duration, b.N)
			var n atomic.Int64
			var wg sync.WaitGroup
			for w := range test.writers {
				wg.Go(func() {
					for {
						i := int(n.Add(1)) - 1
						if i >= b.N {
							return
						}
						begun := time.Now()
						if _, err := e.Append(b.Context(), sequent.ID(fmt.Sprint(w, "-", i/100/test.writers)), sequent.Draft{Text: benchText}); err != nil {
							b.Error(err)
							return
						}
						took[i] = time.Since(begun)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "appends/s")
			b.ReportMetric(float64((processorTime()-used).Microseconds())/float64(b.N), "cpu-µs/append")
			slices.Sort(took)
			b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[b.N-1].Microseconds())/1000, "worst-ms")
		})
	}
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
// at path is always complete.
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
	sessions := n / 10
	// Append to many sessions in turn, so that the thoughts of one session are not
	// in adjacent rows.
	const interleaved = 1000
	for first := 0; first < sessions; first += interleaved {
		headers := make([]sequent.Header, min(interleaved, sessions-first))
		for step := range 10 {
			var batch []*sequent.Write
			for i := range headers {
				batch = append(batch, grow(&headers[i], first+i, step, text.next()))
			}
			for part := range slices.Chunk(batch, 250) {
				if err := s.Commit(ctx, part); err != nil {
					return err
				}
			}
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

// grow returns a write that appends a thought to a session, and updates its header.
func grow(h *sequent.Header, session, step int, text string) *sequent.Write {
	base := h.Position()
	at := time.UnixMicro(1_800_000_000_000_000 + int64(session)*1_000_000 + int64(step)*60_000_000).UTC()
	if step == 0 {
		base = sequent.Position{}
		*h = sequent.Header{
			Key:   sequent.Key{ID: sequent.ID(fmt.Sprintf("session-%06d", session))},
			Epoch: 1, State: sequent.Active, Title: text[:60], Created: at,
		}
	}
	h.Version++
	h.Len++
	h.Updated = at
	added := sequent.Entries([]sequent.Thought{{
		Draft: sequent.Draft{Number: h.Len, Total: 10, Text: text, Final: step == 9},
		Seq:   h.Len, After: h.Len - 1, At: at,
	}})
	h.Prove(added)
	return &sequent.Write{
		Base: base, Header: *h, Entries: added,
		Rebase: func(sequent.Header, []sequent.Entry) bool { return false },
	}
}

// texts generates texts from a vocabulary of 40,000 words. The k-th word is about
// 1/k as frequent as the first.
type texts struct {
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
	size := 200 + x.rng.IntN(1001)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(x.vocabulary[x.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}
