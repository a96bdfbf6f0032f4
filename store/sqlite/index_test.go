package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/words"
)

// openIndexed opens a store whose index is only brought up to date by hand.
func openIndexed(t *testing.T, path string, log *slog.Logger) *Store {
	t.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s, err := Open(t.Context(), Config{Path: path, Logger: log})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	if err := s.index.close(); err != nil {
		t.Fatal(err)
	}
	if s.index, err = newIndex(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func catchUp(t *testing.T, s *Store) {
	t.Helper()
	if err := s.index.catchUp(t.Context()); err != nil {
		t.Fatalf("the index cannot catch up: %v", err)
	}
	st := stateOf(t, s)
	if e, err := s.index.ends(t.Context()); err != nil || st.mark < e.last || st.forgotten != e.latestForgotten {
		t.Fatalf("the index is at %+v, the store at %+v, %v", st, e, err)
	}
}

func stateOf(t *testing.T, s *Store) indexState {
	t.Helper()
	f, err := s.index.acquire(t.Context(), forReading)
	if err != nil {
		t.Fatalf("the index cannot be read: %v", err)
	}
	defer f.release()
	st, err := f.state(t.Context(), f.readers)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// fill begins a session of n thoughts, each with the words. The id may have its
// owner and a slash before it.
func fill(t testing.TB, s *Store, id string, n int, text string) {
	t.Helper()
	at := time.UnixMicro(1_800_000_000_000_000).UTC()
	owner, name, owned := strings.Cut(id, "/")
	if !owned {
		owner, name = "", id
	}
	h := sequent.Header{
		Key: sequent.Key{Owner: owner, ID: sequent.ID(name)}, Epoch: 1, Version: 1, Len: n,
		State: sequent.Active, Created: at, Updated: at,
	}
	w := &sequent.Write{Header: h}
	for i := range n {
		w.Thoughts = append(w.Thoughts, sequent.Thought{
			Draft: sequent.Draft{Number: i + 1, Total: n, Text: fmt.Sprintf("%s %s n%d", text, id, i+1)},
			Seq:   i + 1, After: i, At: at,
		})
	}
	w.Rebase = func(sequent.Header, bool, []sequent.Thought) bool { return false }
	if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil || w.Err != nil {
		t.Fatalf("Commit: %v, %v", err, w.Err)
	}
}

// all returns the hits of all pages.
func all(t testing.TB, s *Store, text string, limit int) []sequent.Hit {
	t.Helper()
	var out []sequent.Hit
	for q := (sequent.SearchQuery{Text: text, Limit: limit}); ; {
		page, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("Search(%q): %v", text, err)
		}
		if out = append(out, page.Hits...); page.Next == "" {
			return out
		}
		q.Cursor = page.Next
	}
}

func finds(t testing.TB, s *Store, text string, want int) {
	t.Helper()
	if got := len(all(t, s, text, 100)); got != want {
		t.Errorf("Search(%q) found %d thoughts, want %d", text, got, want)
	}
}

func TestIndexFollows(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	finds(t, s, "heron", 0)
	fill(t, s, "a", batchSize+10, "heron")
	finds(t, s, "heron", batchSize+10) // without an index
	catchUp(t, s)
	if st := stateOf(t, s); st.mark != batchSize+10 || st.docs != batchSize+10 || st.tokens != 3*(batchSize+10) {
		t.Errorf("the index is at %+v", st)
	}
	finds(t, s, "heron", batchSize+10) // with all of it
	fill(t, s, "b", 5, "heron")
	finds(t, s, "heron", batchSize+15) // with a part of it
	finds(t, s, "heron -b", batchSize+10)
	catchUp(t, s)
	finds(t, s, "heron b", 5)
	if info, err := os.Stat(s.index.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the index has the mode %v, %v", info.Mode(), err)
	}
}

// A search with an index, whatever it lacks or has too much, finds and ranks
// what a search without one does.
func TestIndexAgreesWithScan(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	rng := rand.New(rand.NewPCG(1, 1))
	some := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			fmt.Fprintf(&b, "%s ", strings.Fields("alpha beta gamma delta épsilon eta theta 思考 链")[min(rng.IntN(9), rng.IntN(9))])
		}
		return b.String()
	}
	check := func(step string) {
		t.Helper()
		for i, text := range []string{"alpha", "theta eta", `"alpha beta"`, "eps*", "gam* -alpha", "考链 alpha", "delta -思"} {
			q, err := words.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, sr := range []search{
				{query: sequent.SearchQuery{Text: text}, blockSize: blockSize},
				{query: sequent.SearchQuery{Text: text}, blockSize: 7},
				{query: sequent.SearchQuery{Text: text, Session: sequent.ID(fmt.Sprint("ab"[i%2:i%2+1], i))}, blockSize: blockSize},
				{query: sequent.SearchQuery{Text: text, Session: "b23"}, blockSize: 1},
				{query: sequent.SearchQuery{Text: text, Owner: "ann"}, blockSize: blockSize},
				{query: sequent.SearchQuery{Text: text, AllOwners: true, Session: "a30"}, blockSize: 7},
			} {
				sr.store, sr.asked, sr.query.Limit = s, q, maxHits
				got, err := s.indexedSearch(t.Context(), sr)
				if err != nil {
					t.Fatalf("%s: %+v: %v", step, sr.query, err)
				}
				want, err := sr.run(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got.Hits, want.Hits, func(a, b sequent.Hit) bool {
					return a.Key == b.Key && a.Thought.Seq == b.Thought.Seq && a.Score == b.Score
				}) {
					t.Errorf("%s: %+v\n with the index %v\nwithout %v", step, sr.query, got.Hits, want.Hits)
				}
			}
		}
	}
	for i := range 40 {
		fill(t, s, fmt.Sprint("a", i), 3, some())
	}
	catchUp(t, s)
	check("complete")
	for i := range 40 {
		fill(t, s, fmt.Sprint("b", i), 3, some())
		fill(t, s, fmt.Sprint("ann/a", i), 2, some())
	}
	check("behind")
	for i := range 20 {
		if err := s.Delete(t.Context(), sequent.Key{ID: sequent.ID(fmt.Sprint("ab"[i%2:i%2+1], i))}, 0); err != nil {
			t.Fatal(err)
		}
	}
	catchUp(t, s)
	check("after deletions")
}

func TestIndexForgets(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, s, "big", 2*batchSize+7, "badger")
	fill(t, s, "small", 3, "badger")
	catchUp(t, s)
	if err := s.Delete(t.Context(), sequent.Key{ID: "big"}, 0); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "badger", 3)
	catchUp(t, s)
	finds(t, s, "badger", 3)
	if st := stateOf(t, s); st.docs != 3 || st.tokens != 9 {
		t.Errorf("the index is at %+v, want 3 documents of 3 words", st)
	}
	for table, query := range map[string]string{
		"words": "SELECT count(*) FROM words WHERE words MATCH 'badger'",
		"docs":  "SELECT count(*) FROM docs",
	} {
		var n int
		if err := s.index.file.readers.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 3 {
			t.Errorf("%s holds %d thoughts, %v, want 3", table, n, err)
		}
	}
	wholeIndex(t, s.index.file.writer)
}

// An index that missed deletions which are no longer on record starts again.
func TestIndexMissedDeletions(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, s, "a", 3, "badger")
	fill(t, s, "b", 3, "badger")
	catchUp(t, s)
	for _, id := range []sequent.ID{"a", "b"} {
		if err := s.Delete(t.Context(), sequent.Key{ID: id}, 0); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, s, "c", 2, "badger")
	db, err := sql.Open("sqlite", s.dsn())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM forgotten WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	catchUp(t, s)
	if st := stateOf(t, s); st.docs != 2 {
		t.Errorf("the index is at %+v, want 2 documents", st)
	}
	finds(t, s, "badger", 2)
}

func TestIndexDeletedWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open cannot be deleted here")
	}
	t.Parallel()
	for _, suffixes := range [][]string{{""}, {"", "-wal", "-shm"}, {"", "-wal", "-shm", ".lock"}} {
		t.Run(fmt.Sprint(len(suffixes)), func(t *testing.T) {
			t.Parallel()
			s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
			other := openIndexed(t, s.path, nil)
			fill(t, s, "a", 30, "heron")
			catchUp(t, s)
			finds(t, other, "heron", 30)
			for _, suffix := range suffixes {
				if err := os.Remove(s.index.path + suffix); err != nil {
					t.Fatal(err)
				}
			}
			finds(t, s, "heron", 30)
			fill(t, other, "b", 4, "heron")
			finds(t, s, "heron", 34)
			catchUp(t, s)
			finds(t, s, "heron", 34)
			finds(t, other, "heron", 34)
			if st := stateOf(t, other); st.docs != 34 {
				t.Errorf("the other handle sees %+v, want 34 documents", st)
			}
		})
	}
}

func TestIndexDamaged(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 64<<10)
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	over := func(from int) func([]byte) []byte {
		return func(b []byte) []byte {
			copy(b[min(from, len(b)):], noise)
			return b
		}
	}
	for name, damage := range map[string]func(index []byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"noise":         func([]byte) []byte { return noise },
		"text":          func([]byte) []byte { return []byte("this is no index\n") },
		"header":        over(0),
		"first page":    over(100),
		"pages":         over(4096),
		"later pages":   over(3 * 4096),
		"half":          func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"version 0":     func(b []byte) []byte { copy(b[60:], []byte{0, 0, 0, 0}); return b },
		"not a version": func(b []byte) []byte { copy(b[60:], []byte{0x80, 0, 0, 0}); return b },
	} {
		for _, open := range []string{"closed", "open"} {
			t.Run(name+", "+open, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "s.db")
				var log bytes.Buffer
				s := openIndexed(t, path, slog.New(slog.NewTextHandler(&log, nil)))
				fill(t, s, "a", 700, "heron with a few more words to fill pages "+strings.Repeat("filler ", 20))
				catchUp(t, s)
				f := s.index.takeFile(false) // checkpoints
				if err := f.close(); err != nil {
					t.Fatal(err)
				}
				if open == "open" {
					stateOf(t, s)
				}
				index, err := os.ReadFile(s.index.path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(s.index.path, damage(index), 0o600); err != nil {
					t.Fatal(err)
				}
				fill(t, s, "b", 5, "heron")
				finds(t, s, "heron b", 5)
				if err := s.index.catchUp(t.Context()); err != nil {
					t.Errorf("catchUp: %v", err)
				}
				finds(t, s, "heron", 705)
				if err := s.index.catchUp(t.Context()); err != nil {
					t.Errorf("catchUp: %v", err)
				}
				finds(t, s, "heron b", 5)
				wholeIndex(t, s.index.file.writer)
				if st := stateOf(t, s); st.docs != 705 {
					t.Errorf("the index is at %+v, want 705 documents", st)
				}
				// What an open index holds in memory, or what is empty, needs no repair.
				unseen := open == "open" && strings.Contains(name, "version") || name == "empty"
				if !unseen && !strings.Contains(log.String(), "level=WARN") {
					t.Errorf("the log says nothing of it: %q", &log)
				}
			})
		}
	}
}

// wholeIndex fails the test unless SQLite finds the index whole.
func wholeIndex(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), "INSERT INTO words(words) VALUES ('integrity-check')"); err != nil {
		t.Errorf("integrity-check: %v", err)
	}
	var result string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity_check: %s, %v", result, err)
	}
}

// What is not ours to repair is left alone, and searches go on without it.
func TestIndexNotOurs(t *testing.T) {
	t.Parallel()
	for name, lay := range map[string]func(t *testing.T, path string){
		"newer": func(t *testing.T, path string) {
			execIn(t, path, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; CREATE TABLE future(x)", indexApplicationID, indexVersion+1))
		},
		"of another program": func(t *testing.T, path string) {
			execIn(t, path, "CREATE TABLE recipes(x)")
		},
		"a directory": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.db")
			lay(t, indexPath(path))
			before := atIndexPath(t, indexPath(path))
			s := openIndexed(t, path, nil)
			fill(t, s, "a", 3, "heron")
			finds(t, s, "heron", 3)
			if err := s.index.catchUp(t.Context()); err == nil {
				t.Error("catchUp: no error")
			}
			finds(t, s, "heron", 3)
			if after := atIndexPath(t, indexPath(path)); after != before {
				t.Errorf("what lay there was changed: %q, before %q", after, before)
			}
		})
	}
}

func execIn(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func atIndexPath(t *testing.T, path string) string {
	t.Helper()
	if b, err := os.ReadFile(path); err == nil {
		return string(b)
	}
	entries, err := os.ReadDir(path)
	return fmt.Sprint(entries, err)
}

// The index of another store, and of this store before it was put back to an
// earlier state, is made anew.
func TestIndexOfAnotherStore(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, s, "a", 5, "heron")
	catchUp(t, s)
	saved := filepath.Join(t.TempDir(), "copy.db")
	execIn(t, s.path, "VACUUM INTO '"+saved+"'")
	fill(t, s, "b", 5, "stork")
	catchUp(t, s)

	other := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, other, "c", 20, "crane")
	for _, moved := range []*Store{openIndexed(t, saved, nil), other} {
		execIn(t, s.index.path, "VACUUM INTO '"+moved.index.path+"'")
		finds(t, moved, "stork", 0)
		catchUp(t, moved)
		finds(t, moved, "stork", 0)
		var want int64
		if err := moved.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM thoughts").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if st := stateOf(t, moved); st.docs != want {
			t.Errorf("the index is at %+v, want %d documents", st, want)
		}
	}
}

func TestIndexHeldElsewhere(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	other := openIndexed(t, s.path, nil)
	if held, err := s.index.lock.TryLock(); err != nil || !held {
		t.Fatalf("TryLock: %t, %v", held, err)
	}
	fill(t, other, "a", 3, "heron")
	if err := other.index.catchUp(t.Context()); !errors.Is(err, errIndexHeld) {
		t.Errorf("catchUp: %v, want %v", err, errIndexHeld)
	}
	finds(t, other, "heron", 3)
	if err := s.index.lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	catchUp(t, other)
	finds(t, s, "heron", 3)
}

func TestIndexOfReadOnlyStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	s := openIndexed(t, path, nil)
	fill(t, s, "a", 3, "heron")
	readOnly := func() {
		t.Helper()
		r, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		finds(t, r, "heron", 3)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(s.index.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	readOnly()
	if _, err := os.Stat(s.index.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store that is only read has made an index: %v", err)
	}
	catchUp(t, s)
	readOnly()
}

// More hits than are ranked at once come all, each once, newest block first.
func TestIndexBlocks(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	const block = 50
	const n = 2*block + 23
	s.index.blockSize = block
	fill(t, s, "old", block+20, "heron")
	catchUp(t, s)
	fill(t, s, "new", n-block-20, "heron heron")
	for _, step := range []string{"half indexed", "indexed", "without index"} {
		if step == "without index" {
			if err := s.index.discard(); err != nil {
				t.Fatal(err)
			}
		}
		for _, limit := range []int{maxHits, 1, 2, 7, block - 1, block, block + 1} {
			seen := make(map[string]bool)
			for i, hit := range all(t, s, "heron", limit) {
				place := fmt.Sprint(hit.Key.ID, hit.Thought.Seq)
				if seen[place] {
					t.Fatalf("%s, pages of %d: %s came twice", step, limit, place)
				}
				seen[place] = true
				if i < block-20 && hit.Key.ID != "new" {
					t.Fatalf("%s, pages of %d: hit %d is of the session %s", step, limit, i, hit.Key.ID)
				}
			}
			if len(seen) != n {
				t.Errorf("%s, pages of %d: %d hits, want %d", step, limit, len(seen), n)
			}
		}
		if step == "half indexed" {
			catchUp(t, s)
		}
	}
	// Deleting between two pages costs no hit and brings none twice.
	page, err := s.Search(t.Context(), sequent.SearchQuery{Text: "heron", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), sequent.Key{ID: "new"}, 0); err != nil {
		t.Fatal(err)
	}
	left := 0
	for q := (sequent.SearchQuery{Text: "heron", Limit: 5, Cursor: page.Next}); q.Cursor != ""; q.Cursor = page.Next {
		if page, err = s.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		left += len(page.Hits)
	}
	if left != block+20 {
		t.Errorf("%d hits after the deletion, want %d", left, block+20)
	}
	// A page that ends with the result has no next one.
	page, err = s.Search(t.Context(), sequent.SearchQuery{Text: "n1", Limit: 1})
	if err != nil || len(page.Hits) != 1 || page.Next != "" {
		t.Errorf("%d hits, next %q, %v", len(page.Hits), page.Next, err)
	}
}

// The indexer of a store follows by itself, and close waits for it.
func TestIndexRuns(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	fill(t, s, "a", 100, "heron")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !s.index.upToDate(ctx) {
		select {
		case <-ctx.Done():
			t.Fatal("the index does not follow")
		case <-tick.C:
		}
	}
	finds(t, s, "heron", 100)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := s.Search(t.Context(), sequent.SearchQuery{Text: "heron"}); sequent.CodeOf(err) != sequent.CodeUnavailable {
		t.Errorf("Search after Close: %v, want the code %s", err, sequent.CodeUnavailable)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	again := openAt(t, s.path)
	if _, err := again.Search(canceled, sequent.SearchQuery{Text: "heron"}); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("Search with a dead context: %v, want the code %s", err, sequent.CodeCanceled)
	}
	if err := again.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
