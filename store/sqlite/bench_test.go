package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

// benchText has the size of a usual thought.
var benchText = strings.Repeat("a thought of the usual size ", 25) // 700 bytes

func benchStore(b *testing.B, sync Sync) *Store {
	b.Helper()
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "sessions.db"), Sync: sync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkAppend measures an append through the engine, and as the lower bound
// an append with fsync to a plain file.
func BenchmarkAppend(b *testing.B) {
	for _, test := range []struct {
		name    string
		writers int
		sync    Sync
	}{
		{"full/writers=1", 1, Full},
		{"full/writers=64", 64, Full},
		{"normal/writers=1", 1, Normal},
	} {
		b.Run(test.name, func(b *testing.B) {
			e := sequent.New(sequent.Config{Store: benchStore(b, test.sync)})
			b.ReportAllocs()
			start := time.Now()
			var left, n atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for range test.writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := e.Ensure(b.Context(), sequent.ID(fmt.Sprint(n.Add(1)/100)), adding(benchText)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "appends/s")
		})
	}
	b.Run("plain-file", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
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

// BenchmarkAppendAt shows that the 10,000th thought of a session costs as much as
// the 10th. It does not wait for the disk, which would hide a difference.
func BenchmarkAppendAt(b *testing.B) {
	ctx := context.Background()
	texts := func(n int) []sequent.Thought {
		log := make([]sequent.Thought, n)
		for i := range log {
			log[i] = sequent.Thought{
				Draft: sequent.Draft{Number: i + 1, Total: n, Text: benchText, More: true},
				Seq:   i + 1, After: i, At: time.UnixMicro(int64(i)).UTC(),
			}
		}
		return log
	}
	for _, position := range []int{10, 10_000} {
		b.Run(fmt.Sprint(position), func(b *testing.B) {
			s := benchStore(b, Normal)
			if err := s.index.close(); err != nil { // indexing is not measured
				b.Fatal(err)
			}
			s.index = nil
			e := sequent.New(sequent.Config{Store: s, CacheBytes: 1 << 30})
			b.ReportAllocs()
			sessions, ready := 0, 0
			for b.Loop() {
				if ready == 0 {
					b.StopTimer()
					for ready = 0; ready < max(1, 2000/position); ready++ {
						sessions++
						h := sequent.Header{
							Key: sequent.Key{ID: sequent.ID(fmt.Sprint(sessions))}, Epoch: 1, Version: 1,
							Len: position - 1, State: sequent.Active,
						}
						if err := s.Commit(ctx, []*sequent.Write{{Header: h, Entries: sequent.Entries(texts(position - 1))}}); err != nil {
							b.Fatal(err)
						}
						if _, err := e.Session(ctx, h.ID); err != nil {
							b.Fatal(err)
						}
					}
					if position > 1000 {
						ready = 500 // appends to one session, which hardly grows by them
					}
					b.StartTimer()
				}
				id := sessions
				if position <= 1000 {
					id = sessions - ready + 1
				}
				ready--
				if _, err := e.Update(ctx, sequent.ID(fmt.Sprint(id)), adding(benchText)); err != nil {
					b.Fatal(err)
				}
			}
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
	b.Run("open-and-list", func(b *testing.B) {
		for b.Loop() {
			again, err := Open(ctx, Config{Path: s.path})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := again.List(ctx, sequent.Query{}); err != nil {
				b.Fatal(err)
			}
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
	b.Run("load-small-session", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			k := sequent.Key{ID: sequent.ID(fmt.Sprintf("session-%06d", i*7919%(n/10)))}
			if _, log, err := s.Load(ctx, k, sequent.Position{}, 0); err != nil || len(log) != 10 {
				b.Fatalf("Load = %d thoughts, error %v", len(log), err)
			}
		}
	})
	b.Run("load-10000", func(b *testing.B) {
		k := sequent.Key{ID: "long"}
		if _, _, err := s.Load(ctx, k, sequent.Position{}, 0); err != nil {
			w := &sequent.Write{Header: sequent.Header{Key: k, Epoch: 1, Version: 1, Len: 10_000}}
			for i := range 10_000 {
				w.Entries = append(w.Entries, sequent.EntryOf(sequent.Thought{Seq: i + 1, Draft: sequent.Draft{Text: benchText}}))
			}
			if err := s.Commit(ctx, []*sequent.Write{w}); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			if _, log, err := s.Load(ctx, k, sequent.Position{}, 0); err != nil || len(log) != 10_000 {
				b.Fatalf("Load = %d thoughts, error %v", len(log), err)
			}
		}
	})
}

func BenchmarkFirstRecall(b *testing.B) { storetest.BenchmarkFirstRecall(b, benchStore(b, Normal)) }
