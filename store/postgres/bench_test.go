//go:build unix

package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/storetest"
)

// BenchmarkAppend measures durable appends through the engine by clients that each
// have a session, in appends per second. For comparison it alternates with a
// minimal loop on pgx, which makes the same inserts and updates in the same
// batches.
func BenchmarkAppend(b *testing.B) {
	durable := pgtest.Server{Durable: true}
	b.Cleanup(func() {
		if err := durable.Stop(); err != nil {
			b.Error(err)
		}
	})
	text := strings.Repeat("a thought of some size ", 9)[:200]
	for _, clients := range []int{1, 8, 64} {
		s := openAt(b, durable.Schema(b))
		b.Cleanup(func() { s.Close() })
		e := sequent.New(sequent.Config{Store: s})
		store := func(client int) error {
			_, err := e.Ensure(b.Context(), sequent.ID(fmt.Sprint(client)), adding(text))
			return err
		}
		loop := newMinimalLoop(b, durable.Schema(b), clients)
		minimal := func(client int) error { return loop.add(client, text) }
		measure(b, clients, clients, store) // begins the sessions
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			var storeTime, minimalTime time.Duration
			const alternateAfter = 500
			for left := b.N; left > 0; left -= alternateAfter {
				storeTime += measure(b, clients, min(left, alternateAfter), store)
				minimalTime += measure(b, clients, min(left, alternateAfter), minimal)
			}
			b.ReportMetric(float64(b.N)/storeTime.Seconds(), "store/s")
			b.ReportMetric(float64(b.N)/minimalTime.Seconds(), "minimal/s")
			b.ReportMetric(minimalTime.Seconds()/storeTime.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

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

// A minimalLoop appends thoughts in batches, without any check.
type minimalLoop struct {
	pool *pgxpool.Pool
	jobs chan job
	seqs []int64
}

type job struct {
	client int
	text   string
	done   chan error
}

func newMinimalLoop(b *testing.B, url string, clients int) *minimalLoop {
	openAt(b, url).Close() // creates the tables
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := pool.Exec(b.Context(), `
		INSERT INTO tool_sessions (owner, id, epoch, version, len, updated, period, created, scope, state, title, dialect,
			conclusion, labels)
		SELECT '', n::text, n, 1, 0, 0, 0, 0, '', 'active', 'a title', '', '', '' FROM generate_series(1, 64) n`); err != nil {
		b.Fatal(err)
	}
	l := &minimalLoop{pool: pool, jobs: make(chan job, clients), seqs: make([]int64, clients)}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { l.run(ctx) })
	b.Cleanup(func() { stop(); wg.Wait(); pool.Close() })
	return l
}

func (l *minimalLoop) add(client int, text string) error {
	j := job{client, text, make(chan error, 1)}
	l.jobs <- j
	return <-j.done
}

func (l *minimalLoop) run(ctx context.Context) {
	for {
		var batch []job
		select {
		case <-ctx.Done():
			return
		case j := <-l.jobs:
			batch = append(batch, j)
		}
		for more := true; more; {
			select {
			case j := <-l.jobs:
				batch = append(batch, j)
			default:
				more = false
			}
		}
		var keys, seqs, totals, ats []int64
		var more []bool
		var texts []string
		for _, j := range batch {
			l.seqs[j.client]++
			keys, seqs = append(keys, int64(j.client+1)), append(seqs, l.seqs[j.client])
			totals, ats = append(totals, 100), append(ats, time.Now().UnixMicro())
			more, texts = append(more, true), append(texts, j.text)
		}
		_, err := l.pool.Exec(ctx, `
			WITH w AS (
				SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[])
				AS w (key, seq, total, at, more, text)
			), u AS (
				UPDATE tool_sessions s SET version = w.seq, len = w.seq, updated = w.at FROM w WHERE s.key = w.key
			)
			INSERT INTO thoughts (session, seq, number, total, after, at, more, text)
			SELECT key, seq, seq, total, seq - 1, at, more, text FROM w`, keys, seqs, totals, ats, more, texts)
		for _, j := range batch {
			j.done <- err
		}
	}
}

// BenchmarkSearchForms measures searches of a store of 100,000 thoughts, or 10,000 with
// -short.
func BenchmarkSearchForms(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	s := openAt(b, server.Schema(b))
	defer s.Close()
	storetest.BenchmarkSearch(b, s, n, func() {
		for {
			if complete, err := s.indexAll(b.Context()); err != nil {
				b.Fatal(err)
			} else if complete {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if _, err := s.pool.Exec(b.Context(), "VACUUM (ANALYZE)"); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkFirstRecall(b *testing.B) {
	s := openAt(b, server.Schema(b))
	b.Cleanup(func() { s.Close() })
	storetest.BenchmarkFirstRecall(b, s)
}
