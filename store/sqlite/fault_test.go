package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

// filled creates a store with n thoughts in session "a" and closes it.
func filled(t *testing.T, path string, n int) {
	t.Helper()
	s := openAt(t, path)
	appendTo(t, s, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// usualText has the size of a usual thought.
var usualText = strings.Repeat("a thought of the usual size ", 25) // 700 bytes

func appendTo(t *testing.T, s *Store, n int) {
	t.Helper()
	fill(t, s, "a", n, usualText)
}

// raw runs statements on a database without the store.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// holdTask holds the file lock until its input ends.
func holdTask() error {
	l := fairlock.New(os.Getenv(childStore)+".lock", os.O_CREATE|os.O_RDWR)
	if err := l.Acquire(context.Background(), time.Minute); err != nil {
		return err
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, l.Close())
}

func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path, 1)
	s, err := Open(t.Context(), Config{Path: path, BusyTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})

	c := start(t, "hold", childStore+"="+s.path)
	c.line(t)
	if _, err := e.Update(t.Context(), "a", adding("x")); sequent.CodeOf(err) != sequent.CodeBusy {
		t.Errorf("Update while another process holds the file lock: %v, want code %s", err, sequent.CodeBusy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := openAt(t, path) // opening a file of the latest format needs no lock
	defer waiting.Close()
	cancelled := make(chan error)
	go func() { cancelled <- waiting.Delete(ctx, sequent.Key{ID: "a"}, 0) }()
	cancel()
	if err := <-cancelled; sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("Delete cancelled while another process holds the file lock: %v, want code %s", err, sequent.CodeCanceled)
	}
	c.wait(t)
	if _, err := e.Update(t.Context(), "a", adding("y")); err != nil {
		t.Errorf("Update after the lock was released: %v", err)
	}

	// Another program writes without the file lock.
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), "a", adding("x")); sequent.CodeOf(err) != sequent.CodeBusy {
		t.Errorf("Update while another program writes: %v, want code %s", err, sequent.CodeBusy)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	got, err := e.Update(t.Context(), "a", adding("z"))
	if err != nil || got.Len() != 3 {
		t.Errorf("Update after the other program's rollback: %v; want 3 thoughts", err)
	}
}

// TestFailedBatch makes a statement in the middle of a batch fail.
func TestFailedBatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := openAt(t, path)
	defer s.Close()
	appendTo(t, s, 1)
	a, _, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, `INSERT INTO tool_log (session, n, kind, at, seq, number, total, after, supersedes, final, text, note, salt, hash, rest)
		SELECT key, 2, 'thought', 0, 2, 1, 1, 0, 0, 0, 'in the way', '', x'', x'', '{}' FROM tool_sessions`)
	next := a
	next.Version, next.Len = 2, 2
	added := sequent.Entries([]sequent.Thought{{Seq: 2}})
	next.Prove(added)
	b := sequent.Header{Key: sequent.Key{ID: "b"}, Epoch: 1, Version: 1}
	batch := []*sequent.Write{
		{Header: b},
		{Base: a.Position(), Header: next, Entries: added},
	}
	if err := s.Commit(t.Context(), batch); sequent.CodeOf(err) != sequent.CodeInternal {
		t.Errorf("Commit: %v, want code %s", err, sequent.CodeInternal)
	}
	if _, _, err := s.Load(t.Context(), b.Key, sequent.Position{}); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("a part of the failed batch was stored: %v", err)
	}
	if now, _, err := s.Load(t.Context(), a.Key, sequent.Position{}); err != nil || now.Version != 1 {
		t.Errorf("after the failed batch: position %+v, error %v; want version 1", now.Position(), err)
	}
	if err := s.Commit(t.Context(), batch[:1]); err != nil {
		t.Errorf("Commit after the failed one: %v", err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "sessions.db"))
	appendTo(t, s, 1)
	k := sequent.Key{ID: "a"}
	h, _, err := s.Load(t.Context(), k, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	waiting := make(chan error)
	go func() {
		_, err := w.Wait(t.Context())
		waiting <- err
	}()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := <-waiting; sequent.CodeOf(err) != sequent.CodeUnavailable {
		t.Errorf("Wait during Close = %v, want code %s", err, sequent.CodeUnavailable)
	}
	_, _, loading := s.Load(t.Context(), k, sequent.Position{})
	_, watching := s.Watch(t.Context())
	_, listing := s.List(t.Context(), sequent.Query{})
	_, sweeping := s.Sweep(t.Context(), sequent.Query{AllOwners: true, Expired: time.Now()}, 1)
	for call, err := range map[string]error{
		"Load": loading, "List": listing, "Sweep": sweeping,
		"Delete": s.Delete(t.Context(), k, 0),
		"Commit": s.Commit(t.Context(), []*sequent.Write{{Header: h}}),
		"Watch":  watching,
	} {
		if sequent.CodeOf(err) != sequent.CodeUnavailable {
			t.Errorf("%s on a closed store: %v, want code %s", call, err, sequent.CodeUnavailable)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path, 5)
	before := contents(t, filepath.Dir(path))
	s, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	reads(t, s, 5)
	w := openAt(t, path)
	appendTo(t, w, 2)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	reads(t, s, 7)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if before == contents(t, filepath.Dir(path)) {
		t.Error("the writer changed nothing")
	}
}

// reads checks a read-only store with n thoughts in session "a".
func reads(t testing.TB, s *Store, n int) {
	t.Helper()
	h, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil || len(log) != n {
		t.Errorf("Load = %d thoughts, error %v; want %d", len(log), err, n)
	}
	if page, err := s.List(t.Context(), sequent.Query{}); err != nil || len(page.Headers) != 1 {
		t.Errorf("List = %d headers, error %v; want 1", len(page.Headers), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*pollInterval)
	defer cancel()
	w, err := s.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Add(h.Key)
	_, err = w.Wait(ctx)
	if err == nil { // a poll of an earlier watch may report a commit before Add
		_, err = w.Wait(ctx)
	}
	if sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("Wait: %v, want code %s", err, sequent.CodeCanceled)
	}
	_, sweeping := s.Sweep(t.Context(), sequent.Query{AllOwners: true, Expired: time.Now()}, 1)
	for call, err := range map[string]error{
		"Commit": s.Commit(t.Context(), []*sequent.Write{{Header: sequent.Header{Key: sequent.Key{ID: "b"}, Epoch: 1, Version: 1}}}),
		"Delete": s.Delete(t.Context(), h.Key, 0),
		"Sweep":  sweeping,
	} {
		if sequent.CodeOf(err) != sequent.CodeReadOnly {
			t.Errorf("%s: %v, want code %s", call, err, sequent.CodeReadOnly)
		}
	}
}

// TestErrors checks the code for each result code of SQLite, and that each has a
// fix.
func TestErrors(t *testing.T) {
	for code, want := range map[int]sequent.Code{
		sqlite3.SQLITE_FULL:              sequent.CodeFull,
		sqlite3.SQLITE_READONLY:          sequent.CodeReadOnly,
		sqlite3.SQLITE_READONLY_DBMOVED:  sequent.CodeReadOnly,
		sqlite3.SQLITE_PERM:              sequent.CodeReadOnly,
		sqlite3.SQLITE_CORRUPT:           sequent.CodeCorrupt,
		sqlite3.SQLITE_NOTADB:            sequent.CodeCorrupt,
		sqlite3.SQLITE_BUSY:              sequent.CodeBusy,
		sqlite3.SQLITE_BUSY_SNAPSHOT:     sequent.CodeBusy,
		sqlite3.SQLITE_LOCKED:            sequent.CodeBusy,
		sqlite3.SQLITE_PROTOCOL:          sequent.CodeBusy,
		sqlite3.SQLITE_CANTOPEN:          sequent.CodeUnavailable,
		sqlite3.SQLITE_CANTOPEN_ISDIR:    sequent.CodeUnavailable,
		sqlite3.SQLITE_IOERR:             sequent.CodeUnavailable,
		sqlite3.SQLITE_IOERR_WRITE:       sequent.CodeUnavailable,
		sqlite3.SQLITE_IOERR_FSYNC:       sequent.CodeUnavailable,
		sqlite3.SQLITE_NOMEM:             sequent.CodeUnavailable,
		sqlite3.SQLITE_TOOBIG:            sequent.CodeLimitExceeded,
		sqlite3.SQLITE_CONSTRAINT_UNIQUE: sequent.CodeInternal,
	} {
		if e := failed(code&0xff, io.EOF); e.Code != want || e.Msg == "" || (e.Fix == "") != (want == sequent.CodeInternal) || e.Err == nil {
			t.Errorf("the error for %d is %+v, want code %s", code, e, want)
		}
	}
	if _, err := os.Open(filepath.Join(t.TempDir(), "none")); sequent.CodeOf(failure(err)) != sequent.CodeUnavailable {
		t.Errorf("failure of a missing file = %v, want code %s", failure(err), sequent.CodeUnavailable)
	}
}
