//go:build unix

package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/store/postgres"
)

// A grown is what one kind of call takes with few thoughts and with many.
type grown struct {
	name string
	of   [2]latency
}

// A latency is in seconds.
type latency struct{ median, late float64 }

// each is how many thoughts a session of a filled store has.
const each = 50

// growth compares calls on a store with few thoughts and one with many, in turns.
func (r *pgReport) growth(t *testing.T, server *pgtest.Server) {
	var stores [2]*postgres.Store
	counts := [2]int{r.plan.small, r.plan.large}
	for i, n := range counts {
		url := server.Schema(t)
		if err := openStore(t, url).Close(); err != nil { // it has made the tables
			t.Fatal(err)
		}
		r.bytes = fill(t, url, n, r.plan.size)
		stores[i] = openStore(t, url)
	}
	r.grown = []grown{
		{name: "append"}, {name: fmt.Sprintf("load a session of %d thoughts", each)},
		{name: "list the 20 latest sessions"}, {name: "search for a rare word"},
	}
	for round := range r.plan.rounds {
		for i, store := range stores {
			e := sequent.New(sequent.Config{Store: store})
			n := counts[i] / each
			do := []func(i int) error{
				func(int) error {
					return appendTo(t.Context(), e, sequent.ID(fmt.Sprint("round ", round)), r.plan.size)
				},
				func(i int) error { // by an engine that has not seen it
					fresh := sequent.New(sequent.Config{Store: store})
					got, err := fresh.Session(t.Context(), sequent.ID(fmt.Sprint("filled ", i*7919%n)))
					if err == nil && got.Len() != each {
						err = fmt.Errorf("it has %d thoughts", got.Len())
					}
					return err
				},
				func(int) error {
					_, err := e.Sessions(t.Context(), sequent.Query{Limit: 20})
					return err
				},
				func(i int) error {
					found, err := e.Search(t.Context(), sequent.SearchQuery{Text: fmt.Sprint("rare", i*7919%n), Limit: 20})
					if err == nil && len(found.Hits) == 0 {
						err = fmt.Errorf("nothing is found")
					}
					return err
				},
			}
			for kind := range do {
				got := timed(t, r.plan.samples, do[kind])
				if at := &r.grown[kind].of[i]; at.median == 0 || got.median < at.median {
					*at = got
				}
			}
		}
	}
}

// timed returns what a call takes, one at a time.
func timed(t *testing.T, samples int, do func(i int) error) latency {
	t.Helper()
	times := make([]float64, samples)
	for i := range times {
		begun := time.Now()
		if err := do(i); err != nil {
			t.Fatal(err)
		}
		times[i] = time.Since(begun).Seconds()
	}
	slices.Sort(times)
	return latency{times[samples/2], times[samples*99/100]}
}

// Rows as the store writes them, many at a time. Each session has a word of its
// own, and the index is up to date.
const (
	fillSessions = `
		INSERT INTO tool_sessions (owner, id, epoch, version, len, updated, period, created, scope, state, title, dialect,
			conclusion, labels)
		SELECT '', 'filled ' || n, n + 1, $2::bigint, $2::bigint, n * 60000000::bigint, n * 60000000::bigint >> 24,
			n * 60000000::bigint, '', 'active', 'a title of a session', 'standard', '', ''
		FROM generate_series(0, $1::bigint - 1) n`

	fillThoughts = `
		INSERT INTO thoughts (session, seq, number, total, after, at, more, text)
		SELECT s.key, q, q, 50, q - 1, s.updated + q, TRUE,
			left('rare' || s.epoch - 1 || ' word' || q || ' ' ||
				(SELECT string_agg('word' || (s.key * 7919 + q * 104729 + i * 1299709) % 50000, ' ') FROM generate_series(1, 24) i),
				$2::int)
		FROM tool_sessions s, generate_series(1, $1::bigint) q ORDER BY q, s.key`

	fillWords = `
		INSERT INTO thought_words (id, length, words)
		SELECT id, 25, to_tsvector('simple', text) FROM thoughts`

	fillState = `
		UPDATE index_state SET (tx, id, docs, tokens) = (
			SELECT max(tx::text::bigint)::text::xid8, max(id), count(*), 25 * count(*) FROM thoughts)`
)

// fill makes sessions with so many thoughts in all, and returns how many bytes
// of the disk a thought takes: with the indexes for sessions, and that for words.
func fill(t *testing.T, url string, n, size int) (bytes [2]float64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	do := func(text string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), text, args...); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	do("SET maintenance_work_mem = '256MB'")
	do("DROP INDEX thought_words_words") // it is quicker to make when all is there
	do(fillSessions, n/each, each)
	do(fillThoughts, each, size)
	do(fillWords)
	do(fillState)
	do("CREATE INDEX thought_words_words ON thought_words USING gin (words)")
	do("VACUUM ANALYZE tool_sessions, thoughts, thought_words")
	do("CHECKPOINT")
	const total = "SELECT (pg_total_relation_size('tool_sessions') + pg_total_relation_size('thoughts'))::float8, pg_total_relation_size('thought_words')::float8"
	if err := conn.QueryRow(t.Context(), total).Scan(&bytes[0], &bytes[1]); err != nil {
		t.Fatal(err)
	}
	return [2]float64{bytes[0] / float64(n), bytes[1] / float64(n)}
}
