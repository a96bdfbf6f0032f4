//go:build unix

package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/storetest"
)

// citus is the cluster of the tests of this package.
var citus pgtest.Citus

// TestCitus runs the suite of stores on a cluster, with four parts on two workers. Some
// groups, and tests with thousands of statements, run with SEQUENT_LONG=1 only.
func TestCitus(t *testing.T) {
	t.Parallel()
	long := []string{
		"a large batch", "many writers on one session", "many writers on many sessions",
		"an append wakes only its reader among 40,000 watches", "commits to other sessions are not reported",
		"no commit is missed", "a waiter and a writer alternate", "reading during deletions", "readers see whole writes",
		"engines that write to one session", "ranks like the memory store",
	}
	groups := []string{"Values", "Sweep", "Usage", "Writers"}
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return openAt(t, withParts(citus.Schema(t), 4)) },
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			return openAt(t, s.(*Store).config.ConnString())
		},
		Second: func(t *testing.T, s sequent.Store) sequent.Store {
			return openAt(t, s.(*Store).config.ConnString())
		},
		Skip: func(group, name string) bool {
			return os.Getenv("SEQUENT_LONG") == "" && (slices.Contains(groups, group) || slices.Contains(long, name))
		},
	})
}

func TestDiagnoseNodes(t *testing.T) {
	url := withParts(citus.Schema(t), 4)
	if err := openAt(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for _, f := range Diagnose(t.Context(), url) {
		if f.Status == diagnosis.Fail {
			t.Errorf("%s: %s", f.Check, f.Detail)
		}
		if f.Check == "node" {
			nodes++
			if !strings.Contains(f.Detail, "has 2 parts") {
				t.Errorf("node: %s", f.Detail)
			}
		}
	}
	if nodes != 2 {
		t.Errorf("the diagnosis shows %d nodes, want 2", nodes)
	}
}

// The cluster moves a store to a worker that has had fewer transactions and has not used the
// store's sequences yet, and back. Each worker has a range of numbers of its own in a sequence.
// A process goes on with the connections that it has, with a thought or with a session at
// first, and others begin.
func TestMovedByCitus(t *testing.T) {
	t.Parallel()
	for _, begins := range []bool{false, true} {
		t.Run(fmt.Sprint("begins ", begins), func(t *testing.T) {
			t.Parallel()
			movedByCitus(t, begins)
		})
	}
}

func movedByCitus(t *testing.T, begins bool) {
	address := citus.Schema(t)
	p := travel(t, address)
	first, second, third := series("first", 3), series("second", 3), series("third", 3)
	p.think(t, first...)
	p.has(t, "at first", first)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	worker := *u
	worker.Host = u.Hostname() + ":" + strconv.Itoa(citus.Worker(t, schema))
	burn(t, worker.String())
	p.think(t, "burnt")
	first = append(first, "burnt")
	words := [][]string{first}
	for i, more := range [][]string{second, third} {
		citus.Move(t, schema)
		if begins {
			p.begins(t)
		}
		p.think(t, more[0])
		p.has(t, fmt.Sprint("before others, move ", i), append(slices.Clone(words), more[:1])...)
		a, b := travel(t, address), travel(t, address)
		a.think(t, more[1:]...)
		words = append(words, more)
		if _, err := b.engine.Begin(t.Context(), sequent.ID(fmt.Sprint("moved", i)), func(c *sequent.Change) error { return nil }); err != nil {
			t.Errorf("move %d: beginning a session: %v", i, err)
		}
		for _, p := range []*traveller{p, a, b} {
			p.has(t, fmt.Sprint("move ", i), words...)
		}
	}
}

// begins begins a session with a thought, searches for it, and deletes it.
func (p *traveller) begins(t *testing.T) {
	t.Helper()
	s, err := p.engine.Ensure(t.Context(), "begun", adding("an egret"))
	if err != nil || s.Len() != 1 {
		t.Errorf("a session that begins with a thought has %d, %v", s.Len(), err)
	}
	catchUp(t, p.Store)
	if hits, err := p.Search(t.Context(), sequent.SearchQuery{Text: "egret", Limit: 10}); err != nil || len(hits.Hits) != 1 {
		t.Errorf("search finds %v, %v; want one thought", hits.Hits, err)
	}
	if err := p.engine.Delete(t.Context(), "begun"); err != nil {
		t.Error(err)
	}
}

// A beforeAdd is a tracer of a pool. It calls do before each batch with the statement that
// adds the thoughts of a move, with their ids.
type beforeAdd struct{ do func(ids []int64) }

func (b *beforeAdd) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if q := data.Batch.QueuedQueries[0]; strings.Contains(q.SQL, "OVERRIDING SYSTEM VALUE") {
		b.do(q.Arguments[1].([]int64))
	}
	return ctx
}

func (*beforeAdd) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*beforeAdd) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (*beforeAdd) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (*beforeAdd) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// The cluster moves a session to another worker after a statement has locked it and before the
// next one adds a thought. The lock stays behind, so that transaction must not be committed.
func TestLockLeftBehind(t *testing.T) {
	t.Parallel()
	address := citus.Schema(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	p := travel(t, address)
	tracer := new(beforeAdd)
	config := p.commits.Config()
	config.ConnConfig.Tracer = tracer
	p.commits.Close()
	if p.commits, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	tracer.do = func([]int64) {}
	p.think(t, "first", "second")
	want := []string{"first", "second"}
	for try := range 5 {
		worker := citus.Worker(t, schema)
		moved := make(chan time.Duration, 1)
		go func() {
			defer close(moved)
			moved <- citus.Move(t, schema)
		}()
		streaming(t, u, worker) // from here on the move does not wait for new transactions
		writer := p.writes(t)   // but for those that write, at its end
		if citus.Worker(t, schema) != worker {
			if err := writer.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-moved
			continue
		}
		var added []int64
		tracer.do = func(ids []int64) {
			if added == nil {
				added = ids
				if err := writer.Rollback(t.Context()); err != nil {
					t.Error(err)
				}
				<-moved
			}
		}
		word := fmt.Sprint("thought", try)
		p.think(t, word)
		want = append(want, word)
		var committed bool
		if err := p.pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM thoughts WHERE id = ANY ($1))", added).Scan(&committed); err != nil || committed || added == nil {
			t.Errorf("the transaction whose lock stayed behind, with %v, was committed: %t, %v", added, committed, err)
		}
		break
	}
	if len(want) == 2 {
		t.Error("all moves ended before a session was locked")
	}
	tracer.do = func([]int64) {}
	p.think(t, "last")
	p.has(t, "in the end", append(want, "last"))
}

// writes begins a transaction that has written to the store. The caller must end it.
func (p *traveller) writes(t *testing.T) pgx.Tx {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), p.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), p.parts[0].sql("UPDATE schema.sequent_schema SET version = version")); err != nil {
		t.Fatal(err)
	}
	return tx
}

// streaming waits until a worker sends changes to another one.
func streaming(t *testing.T, address *url.URL, worker int) {
	t.Helper()
	at := *address
	at.Host = at.Hostname() + ":" + strconv.Itoa(worker)
	conn, err := pgx.Connect(t.Context(), at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var streams bool
		if err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')").Scan(&streams); err != nil {
			t.Fatal(err)
		}
		if streams {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the move does not begin within 30 seconds")
		}
	}
}
