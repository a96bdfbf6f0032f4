//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// A traveller is a process: a store and an engine that caches sessions.
type traveller struct {
	*Store
	engine *sequent.Engine
}

func travel(t *testing.T, url string) *traveller {
	t.Helper()
	s := openAt(t, url)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &traveller{s, sequent.New(sequent.Config{Store: s})}
}

// newServer returns a server of the test's own.
func newServer(t *testing.T) *pgtest.Server {
	t.Helper()
	s := &pgtest.Server{Logical: true}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// burn makes the server have many more transactions than a new one.
func burn(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for range 2000 {
		if _, err := conn.Exec(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
			t.Fatal(err)
		}
	}
}

// think appends a thought for each word to session a.
func (p *traveller) think(t *testing.T, words ...string) {
	t.Helper()
	for i, word := range words {
		if _, err := p.engine.Ensure(t.Context(), "a", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: i + 1, Text: "heron " + word, More: true})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// has fails the test unless the process shows exactly these thoughts, as an intact
// session, and search finds exactly them, before and after the index is complete.
func (p *traveller) has(t *testing.T, when string, words ...[]string) {
	t.Helper()
	var want []string
	for _, word := range slices.Concat(words...) {
		want = append(want, "heron "+word)
	}
	s, err := p.engine.Session(t.Context(), "a")
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	var got []string
	for th := range s.All() {
		got = append(got, th.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the session is %q, want %q", when, got, want)
	}
	if v, err := p.engine.Verify(t.Context(), "a"); err != nil || v.Fault != nil || v.Head != s.Header().Head {
		t.Errorf("%s: Verify = %+v, fault %v, %v", when, v, v.Fault, err)
	}
	slices.Sort(want)
	for _, indexed := range []bool{false, true} {
		if indexed {
			catchUp(t, p.Store)
			var docs, words int
			if err := p.pool.QueryRow(t.Context(), "SELECT docs, (SELECT count(*) FROM thought_words) FROM index_state").
				Scan(&docs, &words); err != nil || docs != len(want) || words != len(want) {
				t.Errorf("%s: the index has %d thoughts and counts %d, %v; want %d", when, words, docs, err, len(want))
			}
		}
		hits, err := p.Search(t.Context(), sequent.SearchQuery{Text: "heron", Limit: 1000})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		var found []string
		for _, hit := range hits.Hits {
			found = append(found, hit.Thought.Text)
		}
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("%s, indexed %t: search finds %q, want %q", when, indexed, found, want)
		}
	}
}

func series(name string, n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprintf("%s%d", name, i))
	}
	return words
}

// A store that was moved with pg_dump and psql goes on: its marks were ids of the other
// server's transactions.
func TestMovedByDump(t *testing.T) {
	t.Parallel()
	from, to := newServer(t), newServer(t)
	for _, indexed := range []int{0, 10, 30} { // thoughts in the index at the time of the dump
		t.Run(fmt.Sprint(indexed), func(t *testing.T) {
			address := from.Schema(t)
			burn(t, address)
			p := travel(t, address)
			old, later, more := series("old", indexed), series("later", 30-indexed), series("new", 20)
			if indexed > 0 {
				p.think(t, old...)
				p.has(t, "at first", old)
			}
			p.stop() // the indexer
			p.running.Wait()
			if len(later) > 0 {
				p.think(t, later...)
			}
			moved := from.Copy(t, address, to)
			a := travel(t, moved)
			a.think(t, more...)
			a.has(t, "moved", old, later, more)
			b := travel(t, moved)
			b.think(t, "last")
			for _, p := range []*traveller{a, b} {
				p.has(t, "in the end", old, later, more, []string{"last"})
			}
		})
	}
}

// A subscriber of logical replication that takes over has the rows, but neither the
// sequences nor the transaction ids.
func TestPromotedSubscriber(t *testing.T) {
	t.Parallel()
	publisher, subscriber := newServer(t), newServer(t)
	address := publisher.Schema(t)
	burn(t, address)
	p := travel(t, address)
	first, second, third := series("first", 20), series("second", 20), series("third", 20)
	p.think(t, first...)
	p.has(t, "at first", first)
	replica := publisher.Copy(t, address, subscriber, "--schema-only")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, address, "CREATE PUBLICATION all_tables FOR TABLES IN SCHEMA "+u.Query().Get("search_path"))
	exec(t, replica, fmt.Sprintf("CREATE SUBSCRIPTION sub CONNECTION 'host=%s user=postgres dbname=postgres' PUBLICATION all_tables",
		u.Query().Get("host")))
	p.think(t, second...)
	conn, err := pgx.Connect(t.Context(), replica)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var thoughts, length int
		var synced bool
		if err := conn.QueryRow(t.Context(), p.parts[0].sql(`SELECT (SELECT count(*) FROM schema.thoughts),
			(SELECT coalesce(max(`+nowLen+`), 0) FROM `+fromSessions+`),
			NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r')`)).Scan(&thoughts, &length, &synced); err != nil {
			t.Fatal(err)
		}
		if synced && thoughts == 40 && length == 40 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute the subscriber has %d thoughts of %d, synchronized: %t; want 40", thoughts, length, synced)
		}
	}
	p.stop()
	p.running.Wait()
	exec(t, replica, "ALTER SUBSCRIPTION sub DISABLE")
	exec(t, replica, "ALTER SUBSCRIPTION sub SET (slot_name = NONE)")
	exec(t, replica, "DROP SUBSCRIPTION sub")
	a, b := travel(t, replica), travel(t, replica)
	a.think(t, third...)
	if _, err := b.engine.Begin(t.Context(), "b", func(c *sequent.Change) error { return nil }); err != nil {
		t.Errorf("beginning a session: %v", err)
	}
	for _, p := range []*traveller{a, b} {
		p.has(t, "promoted", first, second, third)
	}
}

// A process waits with the change that a new server needs while something else has a lock on
// the thoughts, as Citus has while it moves them again. It must let go of what it has locked
// itself meanwhile, because the other may wait for that, and writers must not wait behind it.
func TestAdoptWaits(t *testing.T) {
	t.Parallel()
	address := server.Schema(t)
	p := travel(t, address)
	p.think(t, "first")
	p.has(t, "at first", []string{"first"})
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	mover, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mover.Exec(t.Context(), "LOCK TABLE thoughts IN SHARE UPDATE EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	exec(t, address, "UPDATE index_state SET server = 'another'")
	other := openAt(t, address)
	listed := make(chan error, 1)
	go func() {
		_, err := other.List(t.Context(), sequent.Query{})
		listed <- errors.Join(err, other.Close())
	}()
	waiting := func() (waits bool) {
		if err := mover.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks
			WHERE relation = 'thoughts'::regclass AND mode = 'ShareRowExclusiveLock' AND NOT granted)`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
		return waits
	}
	for deadline := time.Now().Add(20 * time.Second); !waiting(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody waits for the lock after 20 s")
		}
	}
	// Both would wait for the end of the test.
	if _, err := mover.Exec(t.Context(), "SET LOCAL lock_timeout = '20s'; SELECT FROM index_state FOR UPDATE; SET LOCAL lock_timeout = 0"); err != nil {
		t.Errorf("the state of the index stays locked: %v", err)
	}
	p.think(t, "second")
	if err := mover.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-listed; err != nil {
		t.Error(err)
	}
	p.has(t, "in the end", []string{"first", "second"})
}

// After a failover to an asynchronous standby that lacks two commits, and after a
// recovery to a point in time from a WAL archive, processes show the same, whether they
// had what is lost or not.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	kept, lost := series("kept", 8), series("lost", 2)
	for name, goBack := range map[string]func(t *testing.T, primary, second *pgtest.Server, lose func()){
		"failover": func(t *testing.T, primary, standby *pgtest.Server, lose func()) {
			standby.Follow(t, primary)
			standby.StopReceiving(t, primary)
			lose()
			primary.Kill(t)
			standby.Promote(t)
		},
		"point in time": func(t *testing.T, primary, recovered *pgtest.Server, lose func()) {
			primary.RestorePoint(t, "before")
			lose()
			primary.Kill(t)
			recovered.Recover(t, primary, "before")
		},
	} {
		for _, again := range []int{0, 2} {
			t.Run(fmt.Sprint(name, " ", again), func(t *testing.T) {
				t.Parallel()
				primary, second := newServer(t), newServer(t)
				primary.Archive = true
				u, err := url.Parse(primary.Schema(t))
				if err != nil {
					t.Fatal(err)
				}
				second.Clone(t, primary)
				address := primary.URL(u.Query().Get("search_path"), second)
				processes := []*traveller{travel(t, address), travel(t, address)}
				processes[0].think(t, kept...)
				processes[1].has(t, "at first", kept)
				goBack(t, primary, second, func() {
					processes[0].think(t, lost...)
					for _, p := range processes {
						p.has(t, "before", kept, lost)
					}
				})
				want, other := slices.Clone(kept), series("other", again)
				if again > 0 {
					travel(t, address).think(t, other...)
					want = append(want, other...)
				}
				for i, p := range processes {
					if i > 0 {
						p.has(t, fmt.Sprint("process ", i), want)
					}
					word := fmt.Sprint("next", i)
					p.think(t, word)
					want = append(want, word)
				}
				for i, p := range processes {
					p.has(t, fmt.Sprint("in the end, process ", i), want)
				}
			})
		}
	}
}
