//go:build unix

package postgres

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

// Writes are stored by two kinds of statements: those of moves, and those of all others. The
// tests of this file fail if they disagree.

// openUncached opens a store that stores no write as a move.
func openUncached(t *testing.T, url string) *Store {
	s := openAt(t, url)
	s.cache.off = true
	return s
}

// TestStoreWithoutMoves runs the groups of the suite that write, without moves. TestStore has
// them with moves.
func TestStoreWithoutMoves(t *testing.T) {
	t.Parallel()
	groups := []string{"Load", "Commit", "Values", "Chain", "Writers"}
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return openUncached(t, withParts(server.Schema(t), 4)) },
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			return openUncached(t, s.(*Store).config.ConnString())
		},
		Second: func(t *testing.T, s sequent.Store) sequent.Store {
			return openUncached(t, s.(*Store).config.ConnString())
		},
		Skip: func(group, _ string) bool { return !slices.Contains(groups, group) },
	})
}

// TestMovesAgree stores the same writes as moves, without moves, and by both in turn, and
// compares the rows column by column. A row of a session and its last thought together have
// the state of the session, in one way or the other; so these columns are compared as every
// reader takes them.
func TestMovesAgree(t *testing.T) {
	for name, schema := range map[string]func(testing.TB) string{"server": server.Schema, "cluster": citus.Schema} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			movesAgree(t, schema)
		})
	}
}

func movesAgree(t *testing.T, schema func(testing.TB) string) {
	var want []string
	writes := variedWrites() // with random salts, so that all stores get the same
	for _, moves := range []string{"all", "none", "some"} {
		s := openAt(t, withParts(schema(t), 2))
		defer s.Close()
		moved := 0
		for i, w := range writes {
			s.cache.off = moves == "none" || moves == "some" && i%3 == 0
			if _, ok := s.cache.moves([]*sequent.Write{w}); ok {
				moved++
			}
			if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil || w.Err != nil {
				t.Fatalf("moves %s, write %d: %v, %v", moves, i, err, w.Err)
			}
		}
		if (moved > 0) != (moves != "none") || moves == "all" && moved < 10 {
			t.Errorf("moves %s: %d writes are moves", moves, moved)
		}
		got := storedRows(t.Context(), t, s)
		if want == nil {
			want = got
			if len(want) < 60 {
				t.Errorf("%d rows are compared", len(want))
			}
		} else if !reflect.DeepEqual(got, want) {
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("moves %s: row %d differs:\n%v\nwant\n%v", moves, i, got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
				}
			}
		}
	}
}

// variedWrites returns writes to sessions of two owners: all members of thoughts, one thought
// and several, texts that need encoding, and changes of the header between them.
func variedWrites() (all []*sequent.Write) {
	at := time.UnixMicro(1_800_000_000_000_000).UTC()
	for owner := range 2 {
		now := sequent.Header{
			Key: sequent.Key{Owner: fmt.Sprint("owner ", owner), ID: "a\x00"}, Epoch: 7, State: sequent.Active, Title: "one", Created: at, Updated: at,
		}
		for i := range 24 {
			w := &sequent.Write{Header: now}
			if i > 0 {
				w.Base = now.Position()
			}
			h := &w.Header
			h.Version++
			h.Updated = h.Updated.Add(time.Millisecond)
			if i%7 == 6 {
				h.Title = fmt.Sprint("title ", i)
			}
			var add []sequent.Thought
			for n := range 1 + i%4*5 {
				th := sequent.Thought{Seq: h.Len + n + 1, At: h.Updated, After: h.Len + n, Draft: sequent.Draft{
					Number: i, Total: 30, Text: fmt.Sprint("text ", i, " ", n), More: n%2 == 0,
				}}
				if i%3 == 1 {
					th.Text, th.Note, th.Branch, th.From, th.Revises, th.Revision, th.Extend, th.Supersedes, th.Labels =
						"\x00\xff", "note", "branch", sequent.To(1), sequent.To(0), true, true, 1, map[string]string{"a": "b"}
					th.Request = sequent.Request{Key: fmt.Sprint(i, n), Digest: "digest"}
				}
				add = append(add, th)
			}
			h.Len += len(add)
			w.Entries = sequent.Entries(add)
			h.Bytes += int64(100 * len(add))
			h.Prove(w.Entries)
			all = append(all, w)
			now = *h
		}
	}
	return all
}

// storedRows returns what the parts of a store have, except what names a place or a
// transaction.
func storedRows(ctx context.Context, t *testing.T, s *Store) (rows []string) {
	t.Helper()
	for _, p := range s.parts {
		for _, text := range []string{
			`SELECT (to_jsonb(s) - 'key' || jsonb_build_object('version', ` + nowVersion + `, 'len', ` + nowLen + `, 'updated', ` + nowUpdated +
				`, 'entries', ` + nowEntries + `, 'head', ` + nowHead + `, 'bytes', ` + nowBytes + `))::text FROM ` + fromSessions + ` ORDER BY s.owner, s.id`,
			`SELECT (to_jsonb(t) - ARRAY['id', 'tx', 'session', 'version', 'bytes'])::text FROM schema.thoughts t ORDER BY t.session, t.seq`,
			`SELECT (to_jsonb(e) - 'session')::text FROM schema.entries e ORDER BY e.session, e.place`,
		} {
			found, err := s.pool.Query(ctx, p.sql(text))
			if err != nil {
				t.Fatal(err)
			}
			part, err := pgx.CollectRows(found, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range part {
				rows = append(rows, fmt.Sprint(p.number, " ", row))
			}
		}
	}
	return rows
}
