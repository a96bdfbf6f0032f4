//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
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
		e := sequent.New(sequent.Config{Store: s, CacheBytes: 1 << 30}) // a session that is not in the cache is read first
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
		INSERT INTO tool_sessions (part, owner, id, epoch, version, len, entries, branches, revisions, notes, bytes, head, seal,
			updated, period, created, expires, scope, project, state, request_key, request_digest, header)
		SELECT 0, '', n::text, n, 1, 0, 0, 0, 0, 0, 0, '', '', 0, 0, 0, 0, '', '', 'active', '', '', '{}' FROM generate_series(1, 64) n`); err != nil {
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
		var final []bool
		var texts []string
		for _, j := range batch {
			l.seqs[j.client]++
			keys, seqs = append(keys, int64(j.client+1)), append(seqs, l.seqs[j.client])
			totals, ats = append(totals, 100), append(ats, time.Now().UnixMicro())
			final, texts = append(final, false), append(texts, j.text)
		}
		_, err := l.pool.Exec(ctx, `
			WITH w AS (
				SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[])
				AS w (key, seq, total, at, final, text)
			), u AS (
				UPDATE tool_sessions s SET version = w.seq, len = w.seq, updated = w.at, period = w.at >> 24 FROM w WHERE s.part = 0 AND s.key = w.key
			)
			INSERT INTO tool_log (part, session, n, kind, seq, number, total, after, supersedes, at, final, text, note, salt, hash, rest)
			SELECT 0, key, seq, 'thought', seq, seq, total, seq - 1, 0, at, final, text, '', '', '', '{}' FROM w`, keys, seqs, totals, ats, final, texts)
		for _, j := range batch {
			j.done <- err
		}
	}
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
