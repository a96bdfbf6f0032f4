//go:build unix

package postgres

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// TestCache checks which writes are sent as moves, and that what is stored does not
// depend on the cache, even if another process writes.
func TestCache(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	a, b := openAt(t, url), openAt(t, url)
	defer a.Close()
	defer b.Close()
	at := time.UnixMicro(1_800_000_000_000_000).UTC()
	now := sequent.Header{
		Key: sequent.Key{ID: "a"}, Epoch: 7, State: sequent.Active, Title: "one", Labels: map[string]string{"x": "1"}, Created: at,
	}
	step := func(s *Store, move bool, change func(*sequent.Header)) {
		t.Helper()
		w := &sequent.Write{Base: now.Position(), Header: now}
		if now.Version == 0 {
			w.Base = sequent.Position{}
		}
		w.Header.Version++
		w.Header.Len++
		w.Header.Updated = w.Header.Updated.Add(time.Millisecond)
		if now.Version == 0 {
			w.Header.Updated = at
		}
		change(&w.Header)
		w.Entries = sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: "text"}, Seq: w.Header.Len, At: w.Header.Updated}})
		w.Header.Prove(w.Entries)
		if _, ok := s.cache.moves([]*sequent.Write{w}); ok != move {
			t.Errorf("version %d: moves = %t, want %t", w.Header.Version, ok, move)
		}
		if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil || w.Err != nil {
			t.Fatalf("Commit: %v, %v", err, w.Err)
		}
		now = w.Header
		got, log, err := b.Load(t.Context(), now.Key, sequent.Position{}, 0)
		if err != nil || len(log) != now.Len || !reflect.DeepEqual(got, now) {
			t.Fatalf("stored\n%+v with %d thoughts, error %v, want\n%+v", got, len(log), err, now)
		}
	}
	same := func(*sequent.Header) {}
	step(a, false, same)
	step(a, true, same)
	step(a, false, func(h *sequent.Header) { h.Title = "two" })
	step(a, true, same)
	step(b, false, func(h *sequent.Header) { h.Title, h.Labels = "three", nil }) // not in the cache of a
	step(a, false, same)
	step(a, true, same)
	step(a, false, func(h *sequent.Header) { h.Updated = h.Updated.Add(time.Minute) })
	step(a, false, func(h *sequent.Header) { h.Expires = at.Add(time.Hour) })
	step(a, true, same)
	step(a, false, func(h *sequent.Header) { h.State = sequent.Completed })

	// A stale write changes nothing, although its session is cached.
	stale := &sequent.Write{Base: now.Position(), Header: now}
	stale.Header.Version++
	step(b, false, same)
	if err := a.Commit(t.Context(), []*sequent.Write{stale}); err != nil || sequent.CodeOf(stale.Err) != sequent.CodeConflict {
		t.Errorf("stale write: %v, %v; want a conflict", err, stale.Err)
	}
	if got, _, err := a.Load(t.Context(), now.Key, sequent.Position{}, 0); err != nil || !reflect.DeepEqual(got, now) {
		t.Errorf("after a stale write: %+v, %v; want %+v", got, err, now)
	}
}

// TestMovesLeaveRows checks that appends leave the rows of their sessions as they are, so
// that there are no versions of them that an open transaction would keep.
func TestMovesLeaveRows(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	s := openAt(t, url)
	defer s.Close()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	e := sequent.New(sequent.Config{Store: s})
	const appends = 300
	for n := range appends {
		d := sequent.Draft{Number: n + 1, Total: appends, Text: "text", More: true}
		if n%3 == 0 {
			d.Request.Key = fmt.Sprint(n)
		}
		if _, err := e.Ensure(t.Context(), "a", func(c *sequent.Change) error {
			_, err := c.Append(d)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	var moved, updated int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE version > 0), count(*) FILTER (WHERE version = 0)
		FROM thoughts`).Scan(&moved, &updated); err != nil {
		t.Fatal(err)
	}
	// The first append, and one in each period, which is 17 s, update the row.
	if updated > 20 {
		t.Errorf("%d appends updated the row of their session and %d did not", updated, moved)
	}
}

// TestMovesAmongOtherChanges has two stores append to one session, some of them texts and
// some changes of the header only, and checks that the log is one chain in the end.
func TestMovesAmongOtherChanges(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	a, b := openAt(t, url), openAt(t, url)
	defer a.Close()
	defer b.Close()
	const writers, changes = 4, 50
	var wg sync.WaitGroup
	for _, s := range []*Store{a, b} {
		e := sequent.New(sequent.Config{Store: s})
		for i := range writers {
			wg.Go(func() {
				for n := range changes {
					change := adding(fmt.Sprint(i, " ", n))
					if i%2 == 1 {
						change = func(c *sequent.Change) error {
							c.SetTitle(fmt.Sprint(i, " ", n))
							return nil
						}
					}
					if _, err := e.Ensure(t.Context(), "a", change); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for _, s := range []*Store{a, b} {
		e := sequent.New(sequent.Config{Store: s})
		v, err := e.Verify(t.Context(), "a")
		if err != nil || v.Fault != nil {
			t.Errorf("Verify = %v, %v", v.Fault, err)
		}
		got, err := e.Session(t.Context(), "a")
		if want := writers * changes; err != nil || got.Len() != want || got.Version() != 2*want {
			t.Errorf("Session = %d thoughts in version %d, %v; want %d in %d", got.Len(), got.Version(), err, want, 2*want)
		}
	}
	usage, err := a.Usage(t.Context(), sequent.UsageQuery{})
	h, _, loadErr := a.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{}, 0)
	if err != nil || loadErr != nil || len(usage) != 1 || usage[0].Bytes != h.Bytes || usage[0].Thoughts != h.Len {
		t.Errorf("Usage = %+v, %v, want %d thoughts and %d bytes (%v)", usage, err, h.Len, h.Bytes, loadErr)
	}
}

// unlocked sends batches with another first statement, which does not lock.
type unlocked struct{ pgx.Tx }

func (u unlocked) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	b.QueuedQueries[0].SQL = "SELECT $1::text[], $2::text[], pg_current_xact_id() IS NOT NULL"
	return u.Tx.SendBatch(ctx, b)
}

// TestOnlyLockedRowsAreUpdated checks that a write is not stored if its session was locked
// by another transaction when the round was to lock it.
func TestOnlyLockedRowsAreUpdated(t *testing.T) {
	t.Parallel()
	s := openAt(t, server.Schema(t))
	defer s.Close()
	if _, err := sequent.New(sequent.Config{Store: s}).Ensure(t.Context(), "a", adding("text")); err != nil {
		t.Fatal(err)
	}
	h, _, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := &sequent.Write{Base: h.Position(), Header: h}
	w.Header.Version++
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rollback(t.Context(), tx)
	for _, db := range []sender{unlocked{tx}, tx} {
		rows, err := s.store(t.Context(), db, []*sequent.Write{w})
		if want := db == sender(tx); err != nil || (rows[0].key != 0) != want {
			t.Errorf("with a lock: %t, stored: %v, %v", want, rows, err)
		}
	}
}
