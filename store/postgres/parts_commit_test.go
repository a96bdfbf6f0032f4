//go:build unix

package postgres

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// A part that cannot be written to fails the writes of its owners only, whether the server
// notices when it prepares the statements, when it executes one, or at the commit.
func TestFailedPart(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		"ALTER TABLE schema.thoughts RENAME TO away",
		"ALTER TABLE schema.thoughts ADD CHECK (seq < 1) NOT VALID",
		`CREATE FUNCTION schema.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE division_by_zero; END';
			CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON schema.thoughts DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION schema.refuse()`,
	} {
		address := server.Schema(t)
		s := openAt(t, withParts(address, 4))
		defer s.Close()
		broken := s.part("owner 0")
		exec(t, address, broken.sql(damage))
		batch := beginning(owners(40))
		if err := s.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, w := range batch {
			_, _, err := s.Load(t.Context(), w.Header.Key, sequent.Position{}, 0)
			if in := s.part(w.Header.Owner) == broken; in {
				failed++
				if w.Err == nil || sequent.IsUncertain(w.Err) {
					t.Errorf("%s: %s: error %v", damage, w.Header.Owner, w.Err)
				}
			} else if w.Err != nil || err != nil {
				t.Errorf("%s: %s: %v, %v", damage, w.Header.Owner, w.Err, err)
			}
		}
		if failed == 0 || failed == len(batch) {
			t.Errorf("%d of %d writes are of the part", failed, len(batch))
		}
	}
}

// beginning returns writes that begin a session of each owner.
func beginning(owners []string) (batch []*sequent.Write) {
	at := time.UnixMicro(1_800_000_000_000_000).UTC()
	for i, owner := range owners {
		w := &sequent.Write{Header: sequent.Header{
			Key: sequent.Key{Owner: owner, ID: "a"}, Epoch: int64(i + 1), Version: 1, Len: 1, State: sequent.Active, Created: at, Updated: at,
		}}
		w.Entries = sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: "text"}, Seq: 1, At: at}})
		w.Header.Prove(w.Entries)
		batch = append(batch, w)
	}
	return batch
}

// On one server, a batch of several parts is one transaction, whether it begins sessions,
// moves them, or does both.
func TestPartsInOneTransaction(t *testing.T) {
	t.Parallel()
	s := openAt(t, withParts(server.Schema(t), 8))
	defer s.Close()
	batch := beginning(owners(40))
	next := func(w *sequent.Write) *sequent.Write {
		moved := &sequent.Write{Base: w.Header.Position(), Header: w.Header}
		moved.Header.Version++
		moved.Header.Len++
		moved.Header.Updated = moved.Header.Updated.Add(time.Millisecond)
		moved.Entries = sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: "text"}, Seq: moved.Header.Len, At: moved.Header.Updated}})
		moved.Header.Prove(moved.Entries)
		return moved
	}
	for commit := range 4 {
		if err := s.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		transactions, parts := make(map[string]bool), 0
		for _, p := range s.parts {
			var last []string
			if err := s.pool.QueryRow(t.Context(), p.sql("SELECT coalesce(array_agg(DISTINCT tx::text), '{}') FROM schema.thoughts WHERE seq = $1"),
				commit+1).Scan(&last); err != nil {
				t.Fatal(err)
			}
			for _, tx := range last {
				transactions[tx] = true
			}
			parts += min(len(last), 1)
		}
		if len(transactions) != 1 || parts < 4 {
			t.Errorf("commit %d: thoughts in %d parts by %d transactions, want several by one", commit, parts, len(transactions))
		}
		for i, w := range batch {
			if w.Err != nil {
				t.Fatal(w.Err)
			}
			batch[i] = next(w)
		}
		if commit == 2 {
			s.cache.forget(batch[:20]) // so that some are no moves
		}
	}
}

// If the connection breaks during the commits of several parts, each write says that it may
// have been stored, and the engine tells the callers.
func TestUncertainParts(t *testing.T) {
	t.Parallel()
	direct := withParts(server.Schema(t), 4)
	line, throughCable := newCable(t, direct)
	s, err := Open(t.Context(), Config{URL: throughCable, RetryTimeout: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := owners(12)
	thinkAll(t, []*Store{s}, all, 3)
	conn, err := pgx.Connect(t.Context(), strings.ReplaceAll(direct, "&parts=4", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.parts {
		if _, err := tx.Exec(t.Context(), p.sql("LOCK TABLE schema.thoughts IN SHARE MODE")); err != nil {
			t.Fatal(err)
		}
	}
	e := sequent.New(sequent.Config{Store: s})
	failed := make(chan error, len(all))
	for _, owner := range all {
		go func() { _, err := e.Owned(owner).Ensure(t.Context(), "a", adding("late")); failed <- err }()
	}
	eventually(t, "several appends wait for a lock", func() bool {
		var waiting int
		err := tx.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = ANY ($1::regclass[])",
			[]string{s.parts[0].table("thoughts"), s.parts[1].table("thoughts"), s.parts[2].table("thoughts"), s.parts[3].table("thoughts")}).Scan(&waiting)
		return err == nil && waiting > 1
	})
	line.cut()
	uncertain := 0
	for range all {
		err := <-failed
		if sequent.CodeOf(err) != sequent.CodeUnavailable {
			t.Errorf("an append failed with %v", err)
		}
		if sequent.IsUncertain(err) {
			uncertain++
		}
	}
	if uncertain == 0 {
		t.Error("no error says that the append may have been stored")
	}
}
