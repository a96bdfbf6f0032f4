package sqlite

import (
	"context"
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
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/store/ranking"
)

// openIndexed opens a store without an indexer. Tests call catchUp.
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

// catchUp brings the index up to date.
func catchUp(t *testing.T, s *Store) {
	t.Helper()
	if err := s.index.update(t.Context()); err != nil {
		t.Fatalf("update: %v", err)
	}
	st := stateOf(t, s)
	if e, err := extentOf(t.Context(), s.readers, st); err != nil || st.mark < e.last || st.forgotten != e.lastForgotten {
		t.Fatalf("the index is at %+v, the store at %+v, %v", st, e, err)
	}
}

func stateOf(t *testing.T, s *Store) indexState {
	t.Helper()
	f, err := s.index.acquire(t.Context(), forReading)
	if err != nil {
		t.Fatalf("opening the index: %v", err)
	}
	defer f.Release()
	st, err := f.state(t.Context(), f.Readers)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// fill begins a session of n thoughts, each with the text, the id and its number.
// The id may be prefixed by an owner and a slash.
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
		w.Entries = append(w.Entries, sequent.EntryOf(sequent.Thought{
			Draft: sequent.Draft{Number: i + 1, Total: n, Text: fmt.Sprintf("%s %s n%d", text, id, i+1)},
			Seq:   i + 1, After: i, At: at,
		}))
	}
	w.Rebase = func(sequent.Header, bool, []sequent.Entry) bool { return false }
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
	fill(t, s, "a", indexer.BatchSize+10, "heron")
	finds(t, s, "heron", indexer.BatchSize+10) // nothing is indexed
	catchUp(t, s)
	if st := stateOf(t, s); st.mark != indexer.BatchSize+10 || st.docs != indexer.BatchSize+10 || st.tokens != 3*(indexer.BatchSize+10) {
		t.Errorf("the index is at %+v", st)
	}
	finds(t, s, "heron", indexer.BatchSize+10) // everything is indexed
	fill(t, s, "b", 5, "heron")
	finds(t, s, "heron", indexer.BatchSize+15) // a part is indexed
	finds(t, s, "heron -b", indexer.BatchSize+10)
	catchUp(t, s)
	finds(t, s, "heron b", 5)
	if info, err := os.Stat(s.index.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the index = %v, %v, want 0600", info.Mode(), err)
	}
}

// A search with an index returns the same hits with the same scores as one without,
// even if the index lacks thoughts or has deleted ones.
func TestIndexAgreesWithScan(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	rng := rand.New(rand.NewPCG(1, 1))
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			fmt.Fprintf(&b, "%s ", strings.Fields("alpha beta gamma delta épsilon eta theta 思考 链")[min(rng.IntN(9), rng.IntN(9))])
		}
		return b.String()
	}
	check := func(step string) {
		t.Helper()
		for i, text := range []string{"alpha", "theta eta", `"alpha beta"`, "eps*", "gam* -alpha", "考链 alpha", "delta -思", "theta unknown 考 eta"} {
			for _, tt := range []struct {
				query     sequent.SearchQuery
				blockSize int
			}{
				{sequent.SearchQuery{}, ranking.BlockSize},
				{sequent.SearchQuery{}, 7},
				{sequent.SearchQuery{Session: sequent.ID(fmt.Sprint("ab"[i%2:i%2+1], i))}, ranking.BlockSize},
				{sequent.SearchQuery{Session: "b23"}, 1},
				{sequent.SearchQuery{Owner: "ann"}, ranking.BlockSize},
				{sequent.SearchQuery{AllOwners: true, Session: "a30"}, 7},
			} {
				tt.query.Text, tt.query.Limit = text, 1000
				asked, err := ranking.Parse(tt.query)
				if err != nil {
					t.Fatal(err)
				}
				sr := search{Search: asked, store: s, blockSize: tt.blockSize}
				got, err := s.indexedSearch(t.Context(), sr)
				if err != nil {
					t.Fatalf("%s: %+v: %v", step, sr.Query, err)
				}
				want, err := sr.run(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got.Hits, want.Hits, func(a, b sequent.Hit) bool {
					return a.Key == b.Key && a.Thought.Seq == b.Thought.Seq && a.Score == b.Score
				}) {
					t.Errorf("%s: %+v\n with the index %v\nwithout %v", step, sr.Query, got.Hits, want.Hits)
				}
			}
		}
	}
	for i := range 40 {
		fill(t, s, fmt.Sprint("a", i), 3, text())
	}
	catchUp(t, s)
	check("complete")
	for i := range 40 {
		fill(t, s, fmt.Sprint("b", i), 3, text())
		fill(t, s, fmt.Sprint("ann/a", i), 2, text())
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
	fill(t, s, "big", 2*indexer.BatchSize+7, "badger")
	fill(t, s, "small", 3, "badger")
	catchUp(t, s)
	if err := s.Delete(t.Context(), sequent.Key{ID: "big"}, 0); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "badger", 3)
	catchUp(t, s)
	finds(t, s, "badger", 3)
	if st := stateOf(t, s); st.docs != 3 || st.tokens != 9 {
		t.Errorf("the index is at %+v, want 3 documents of 3 tokens", st)
	}
	for table, query := range map[string]string{
		"words": "SELECT count(*) FROM words WHERE words MATCH 'badger'",
		"docs":  "SELECT count(*) FROM docs",
	} {
		var n int
		if err := s.index.file.Readers.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 3 {
			t.Errorf("%s has %d thoughts, %v, want 3", table, n, err)
		}
	}
	checkIntegrity(t, s.index.file.Writer)
}

// An index that missed deletions which the store no longer records is rebuilt.
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
	raw(t, s.path, "DELETE FROM forgotten WHERE id = 1")
	catchUp(t, s)
	if st := stateOf(t, s); st.docs != 2 {
		t.Errorf("the index is at %+v, want 2 documents", st)
	}
	finds(t, s, "badger", 2)
}

// A search with more matches than a block returns each once, newest block first.
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
			if err := s.index.remove(); err != nil {
				t.Fatal(err)
			}
		}
		for _, limit := range []int{1000, 1, 2, 7, block - 1, block, block + 1} {
			seen := make(map[string]bool)
			for i, hit := range all(t, s, "heron", limit) {
				name := fmt.Sprint(hit.Key.ID, hit.Thought.Seq)
				if seen[name] {
					t.Fatalf("%s, pages of %d: %s is returned twice", step, limit, name)
				}
				seen[name] = true
				if i < block-20 && hit.Key.ID != "new" {
					t.Fatalf("%s, pages of %d: hit %d is from session %s, want new", step, limit, i, hit.Key.ID)
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
	// A deletion between two pages neither loses nor repeats other hits.
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
	// The last page has no cursor even if it is full.
	page, err = s.Search(t.Context(), sequent.SearchQuery{Text: "n1", Limit: 1})
	if err != nil || len(page.Hits) != 1 || page.Next != "" {
		t.Errorf("%d hits, next %q, %v; want one hit and no cursor", len(page.Hits), page.Next, err)
	}
}

// The indexer runs without being called, and Close waits for it.
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
			t.Fatal("the index is not up to date after a minute")
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
	reopened := openAt(t, s.path)
	if _, err := reopened.Search(canceled, sequent.SearchQuery{Text: "heron"}); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("Search with a cancelled context: %v, want the code %s", err, sequent.CodeCanceled)
	}
	if err := reopened.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Ids of thoughts are not reused when the newest are deleted: the index would take
// the new thoughts for indexed ones.
func TestIdsAreNotReused(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	newest := func() (id, rows int64) {
		t.Helper()
		if err := s.readers.QueryRowContext(t.Context(), "SELECT ifnull(max(id), 0), count(*) FROM thoughts").Scan(&id, &rows); err != nil {
			t.Fatal(err)
		}
		return id, rows
	}
	for round := range 3 {
		fill(t, s, "a", 5, "heron")
		fill(t, s, "b", 5, "heron")
		catchUp(t, s)
		before, _ := newest()
		for _, id := range []sequent.ID{"a", "b"} {
			if err := s.Delete(t.Context(), sequent.Key{ID: id}, 0); err != nil {
				t.Fatal(err)
			}
		}
		if id, rows := newest(); id != before || rows != 1 {
			t.Errorf("after the deletion: %d rows, greatest id %d; want one row with id %d", rows, id, before)
		}
		finds(t, s, "heron", 0)
		catchUp(t, s)
		fill(t, s, "c", 3, "egret")
		if id, _ := newest(); id != before+3 {
			t.Errorf("round %d: the new thoughts end at %d, want %d", round, id, before+3)
		}
		finds(t, s, "egret", 3)
		catchUp(t, s)
		finds(t, s, "egret", 3)
		if err := s.Delete(t.Context(), sequent.Key{ID: "c"}, 0); err != nil {
			t.Fatal(err)
		}
	}
	findings, err := Diagnose(t.Context(), s.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Status != diagnosis.OK {
			t.Errorf("finding %+v", f)
		}
	}
}
