//go:build unix

package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A bareLoop stores what an append stores, in the same tables, on the condition
// that its session is where it was, and does nothing else: nobody is told, and
// nothing is looked for by words.
type bareLoop struct {
	name    string
	writers int  // that take what waits, and store it at once
	single  bool // each client stores alone
	tells   bool // others of each batch
}

// A bareResult is a loop's rate.
type bareResult struct {
	name string
	rate float64 // appends a second
}

// A bareJob is an append.
type bareJob struct {
	key, seq int64
	text     string
	done     chan error
}

const (
	bareSession = `
		INSERT INTO tool_sessions (part, owner, id, epoch, version, len, entries, branches, revisions, notes, bytes, head, seal,
			updated, period, created, expires, scope, project, state, request_key, request_digest, header)
		VALUES (0, '', $1, 1, 1, 0, 0, 0, 0, 0, 0, '', '', 0, 0, 0, 0, '', '', 'active', '', '', '{"title":"a title"}') RETURNING key`

	moveBare = `UPDATE tool_sessions s SET version = w.seq + 1, len = w.seq, entries = w.seq, updated = w.at, period = w.at >> 24, head = w.hash, seal = w.hash
			FROM w WHERE s.part = 0 AND s.key = w.key AND s.version = w.seq RETURNING s.key`

	insertBare = `
		INSERT INTO tool_log (part, session, n, seq, kind, at, number, total, after, supersedes, final, text, note, salt, hash, rest)
		SELECT 0, w.key, w.seq, w.seq, 'thought', w.at, w.seq, w.seq, w.seq - 1, 0, FALSE, w.text, '', substring(w.hash, 1, 16), w.hash, ''
		FROM w JOIN moved ON moved.key = w.key`

	bareBatch = `WITH w AS (
			SELECT *, sha256(text::bytea) AS hash FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS w (key, seq, at, text)
		), moved AS (` + moveBare + `)` + insertBare

	bareOne = `WITH w AS (
			SELECT $1::bigint AS key, $2::bigint AS seq, $3::bigint AS at, $4::text AS text, sha256($4::text::bytea) AS hash
		), moved AS (` + moveBare + `)` + insertBare
)

// measure returns how many appends a second the loop makes for clients.
func (l *bareLoop) measure(t *testing.T, url, name string, clients int, p pgPlan) float64 {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = int32(max(l.writers, 1))
	if l.single {
		config.MaxConns = int32(clients)
	}
	config.ConnConfig.RuntimeParams["enable_seqscan"] = "off" // as the store has it
	config.ConnConfig.RuntimeParams["jit"] = "off"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	keys := make([]int64, clients)
	for i := range keys {
		if err := pool.QueryRow(t.Context(), bareSession, fmt.Sprint(name, " ", clients, " ", i)).Scan(&keys[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, setting := range []string{"synchronous_commit", "fsync"} {
		var on string
		if err := pool.QueryRow(t.Context(), "SHOW "+setting).Scan(&on); err != nil || on != "on" {
			t.Fatalf("%s is %s (%v)", setting, on, err)
		}
	}
	if l.single {
		return crowd(t, clients, p.during, func(client, n int) error {
			tag, err := pool.Exec(t.Context(), bareOne, keys[client], n, time.Now().UnixMicro(), words(n, p.size))
			if err == nil && tag.RowsAffected() != 1 {
				err = fmt.Errorf("thought %d was not stored", n)
			}
			return err
		})
	}
	jobs := make(chan bareJob, clients)
	var wg sync.WaitGroup
	for range l.writers {
		wg.Go(func() { bareWriter(t.Context(), pool, jobs, l.tells) })
	}
	defer wg.Wait()
	defer close(jobs)
	done := make([]chan error, clients)
	for i := range done {
		done[i] = make(chan error, 1)
	}
	return crowd(t, clients, p.during, func(client, n int) error {
		jobs <- bareJob{keys[client], int64(n), words(n, p.size), done[client]}
		return <-done[client]
	})
}

// bareWriter stores all that waits, again and again.
func bareWriter(ctx context.Context, pool *pgxpool.Pool, jobs <-chan bareJob, tells bool) {
	text := bareBatch
	if tells {
		text = "WITH told AS (SELECT pg_notify('bench', 'of a batch')), " + bareBatch[len("WITH "):] + " CROSS JOIN told"
	}
	for first := range jobs {
		batch := []bareJob{first}
		for more := true; more; {
			select {
			case j, ok := <-jobs:
				if more = ok; ok {
					batch = append(batch, j)
				}
			default:
				more = false
			}
		}
		n := len(batch)
		keys, seqs, ats, texts := make([]int64, n), make([]int64, n), make([]int64, n), make([]string, n)
		now := time.Now().UnixMicro()
		for i, j := range batch {
			keys[i], seqs[i], ats[i], texts[i] = j.key, j.seq, now, j.text
		}
		tag, err := pool.Exec(ctx, text, keys, seqs, ats, texts)
		if err == nil && tag.RowsAffected() != int64(n) {
			err = fmt.Errorf("%d of %d thoughts were stored", tag.RowsAffected(), n)
		}
		for _, j := range batch {
			j.done <- err
		}
	}
}
