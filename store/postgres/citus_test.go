//go:build unix

package postgres

import (
	"context"
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
func TestMovedByCitus(t *testing.T) {
	t.Parallel()
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
		a, b := travel(t, address), travel(t, address)
		a.think(t, more...)
		words = append(words, more)
		if _, err := b.engine.Begin(t.Context(), sequent.ID("moved"+strconv.Itoa(i)), func(c *sequent.Change) error { return nil }); err != nil {
			t.Errorf("move %d: beginning a session: %v", i, err)
		}
		for _, p := range []*traveller{p, a, b} {
			p.has(t, "move "+strconv.Itoa(i), words...)
		}
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
		streaming(t, u, worker) // the move has waited for older transactions
		var added []int64
		behind := false
		tracer.do = func(ids []int64) {
			if added == nil {
				added, behind = ids, citus.Worker(t, schema) == worker
				<-moved
			}
		}
		word := "thought" + strconv.Itoa(try)
		p.think(t, word)
		want = append(want, word)
		<-moved
		if behind {
			var committed bool
			if err := p.pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM thoughts WHERE id = ANY ($1))", added).Scan(&committed); err != nil || committed {
				t.Errorf("the transaction whose lock stayed behind was committed: %t, %v", committed, err)
			}
			break
		}
		if try == 4 {
			t.Error("no session was moved while it was locked")
		}
	}
	tracer.do = func([]int64) {}
	p.think(t, "last")
	p.has(t, "in the end", append(want, "last"))
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
