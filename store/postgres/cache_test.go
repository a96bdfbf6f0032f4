//go:build unix

package postgres

import (
	"fmt"
	"reflect"
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
		w.Entries = sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: "text"}, Seq: w.Header.Len, At: at}})
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

// TestMovesStayInPage appends so often that the versions of a row would fill many pages if
// the server did not remove old ones. It is not parallel: while a transaction of another
// test is open, the server removes none.
func TestMovesStayInPage(t *testing.T) {
	url := server.Schema(t)
	s := openAt(t, url)
	defer s.Close()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	// The server's own cleaning would hide the difference.
	if _, err := conn.Exec(t.Context(), "ALTER TABLE tool_sessions SET (autovacuum_enabled = off)"); err != nil {
		t.Fatal(err)
	}
	e := sequent.New(sequent.Config{Store: s})
	const appends = 1500
	for n := range appends {
		if _, err := e.Ensure(t.Context(), "a", adding(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	var pages int
	if err := conn.QueryRow(t.Context(), "SELECT pg_relation_size('tool_sessions') / 8192").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if most := appends / 100; pages > most {
		t.Errorf("after %d appends to one session its row has used %d pages, want at most %d", appends, pages, most)
	}
}

// TestMovesOfOldServers appends with the statement for PostgreSQL 13.
func TestMovesOfOldServers(t *testing.T) {
	t.Parallel()
	s := openAt(t, server.Schema(t))
	defer s.Close()
	s.storeMoves = storeMoves(130000)
	e := sequent.New(sequent.Config{Store: s})
	const appends = 100
	for n := range appends {
		if _, err := e.Ensure(t.Context(), "a", adding(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := e.Session(t.Context(), "a"); err != nil || got.Len() != appends {
		t.Errorf("Session = %d thoughts, %v, want %d", got.Len(), err, appends)
	}
}
