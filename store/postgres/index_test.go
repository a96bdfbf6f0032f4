//go:build unix

package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/words"
)

// openIndexed opens a store without an indexer. Tests call catchUp.
func openIndexed(t *testing.T) *Store {
	t.Helper()
	s, err := open(t.Context(), Config{URL: server.Schema(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// catchUp brings the index up to date.
func catchUp(t *testing.T, s *Store) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		complete, err := s.indexAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if complete {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the index is not complete after 30 seconds")
		}
	}
}

// put stores a session. A text may be followed by a bar and a note.
func put(t *testing.T, s sequent.Store, id string, texts ...string) {
	t.Helper()
	at := time.UnixMicro(1_800_000_000_000_000).UTC()
	w := &sequent.Write{Header: sequent.Header{
		Key: sequent.Key{ID: sequent.ID(id)}, Epoch: 1, Version: 1, Len: len(texts), State: sequent.Active, Created: at, Updated: at,
	}}
	for i, text := range texts {
		text, note, _ := strings.Cut(text, "|")
		w.Entries = append(w.Entries, sequent.EntryOf(sequent.Thought{
			Draft: sequent.Draft{Number: i + 1, Text: text, Note: note}, Seq: i + 1, After: i, At: at,
		}))
	}
	if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil || w.Err != nil {
		t.Fatalf("Commit: %v, %v", err, w.Err)
	}
}

// TestIndexAgreesWithMemoryStore compares searches with the memory store's, with a
// complete index and with one that lags behind.
func TestIndexAgreesWithMemoryStore(t *testing.T) {
	t.Parallel()
	s, model := openIndexed(t), sequent.NewMemoryStore()
	rng := rand.New(rand.NewPCG(8, 9))
	vocabulary := strings.Fields("alpha beta gamma delta épsilon it's it's a'b back\\slash x_y well-known 思 考 链 思考 don't 42 ALPHA")
	sentence := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString(vocabulary[rng.IntN(len(vocabulary))] + " ")
		}
		return b.String()
	}
	odd := []string{
		"", "|", "\x00 alpha \xff beta", "alpha|beta", strings.Repeat("z", 3000) + " alpha", strings.Repeat("alpha beta ", 400),
		strings.Repeat("alpha gamma ", 9000) + "delta alpha", "'alpha' & !beta:* <-> \\'", strings.Repeat("日本", 500),
	}
	for i := range 150 {
		texts := []string{sentence(20) + "|" + sentence(5)}
		if i < len(odd) {
			texts = append(texts, odd[i])
		}
		put(t, s, fmt.Sprint("s", i), texts...)
		put(t, model, fmt.Sprint("s", i), texts...)
		if i == 125 {
			catchUp(t, s) // the index lacks the rest
		}
	}
	queries := []string{
		"alpha", `"alpha beta"`, `"beta alpha"`, "épsilon", "it's", "a'b", `back\slash`, "x_y", "well-known", "思考", "考链", "alp*",
		"alpha -beta", `alpha -"alpha beta"`, `"gamma delt*"`, "zzz*", strings.Repeat("z", 3000), "beta gamma delta -思", "42 don't",
		`"alpha al*"`, `"delta alpha"`, "-" + strings.Repeat("z", 3000) + " alpha", "日本",
	}
	compare := func() {
		t.Helper()
		for _, text := range queries {
			q := sequent.SearchQuery{Text: text, Limit: 7}
			for page := 0; ; page++ {
				got, err := s.Search(t.Context(), q)
				if err != nil {
					t.Fatalf("Search(%.40q): %v", text, err)
				}
				all, err := model.Search(t.Context(), sequent.SearchQuery{Text: text, Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				score := make(map[string]float64)
				for _, h := range all.Hits {
					score[fmt.Sprint(h.Key.ID, h.Thought.Seq)] = h.Score
				}
				for i, h := range got.Hits {
					want, ok := score[fmt.Sprint(h.Key.ID, h.Thought.Seq)]
					if !ok || want-h.Score > 1e-9 || h.Score-want > 1e-9 {
						t.Errorf("Search(%.40q): hit %d of page %d, %s %d, has the score %g, want %g (found: %t)",
							text, i, page, h.Key.ID, h.Thought.Seq, h.Score, want, ok)
					}
				}
				if want := max(min(len(all.Hits)-7*page, 7), 0); len(got.Hits) != want {
					t.Errorf("Search(%.40q) has %d hits on page %d, want %d", text, len(got.Hits), page, want)
				}
				if got.Next == "" {
					break
				}
				q.Cursor = got.Next
			}
		}
	}
	compare()
	catchUp(t, s)
	compare()
	for i := range 40 {
		k := sequent.Key{ID: sequent.ID(fmt.Sprint("s", 3*i))}
		if err := s.Delete(t.Context(), k, 0); err != nil {
			t.Fatal(err)
		}
		if err := model.Delete(t.Context(), k, 0); err != nil {
			t.Fatal(err)
		}
	}
	compare()
	var words, docs, orphans int
	if err := s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM thought_words), (SELECT docs FROM index_state),
		(SELECT count(*) FROM thought_words w WHERE NOT EXISTS (SELECT FROM thoughts t WHERE t.id = w.id))`).
		Scan(&words, &docs, &orphans); err != nil || words != docs || orphans != 0 {
		t.Errorf("the index has %d thoughts, %d orphaned, and counts %d; error %v", words, orphans, docs, err)
	}
}

// The index does not go beyond a running transaction, and has its thoughts after a
// late commit.
func TestIndexWaitsForTransactions(t *testing.T) {
	t.Parallel()
	s := openIndexed(t)
	slow, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rollback(t.Context(), slow)
	if _, err := slow.Exec(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "fast", "heron one")
	if complete, err := s.indexAll(t.Context()); complete || err != nil {
		t.Errorf("updateIndex = %t, %v; want false, because a transaction is running", complete, err)
	}
	at := time.Now()
	w := &sequent.Write{
		Header:  sequent.Header{Key: sequent.Key{ID: "slow"}, Epoch: 1, Version: 1, Len: 1, Created: at, Updated: at},
		Entries: sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Text: "heron two"}, Seq: 1, At: at}}),
	}
	if stored, err := s.store(t.Context(), slow, []*sequent.Write{w}); err != nil || stored[0].key == 0 {
		t.Fatalf("store = %v, %v", stored, err)
	}
	found := func(want int) {
		t.Helper()
		hits, err := s.Search(t.Context(), sequent.SearchQuery{Text: "heron"})
		if err != nil || len(hits.Hits) != want {
			t.Errorf("found %d thoughts, error %v; want %d", len(hits.Hits), err, want)
		}
	}
	found(1)
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	found(2)
	catchUp(t, s)
	found(2)
}

// FuzzTSVector checks that PostgreSQL accepts the vector of every text and every
// query, and that the index finds all matching thoughts.
func FuzzTSVector(f *testing.F) {
	for _, s := range []string{"", "a 'b' \\ c:1A <-> & | ! ()", "思考", "\x00\xff", strings.Repeat("ab ", 20_000)} {
		f.Add(s, "a")
	}
	conn, err := pgx.Connect(context.Background(), server.Schema(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { conn.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, text, query string) {
		vector, length, ok := words.TSVector(text)
		if n := len(words.Tokens(text)); n != length {
			t.Fatalf("TSVector counts %d words, want %d", length, n)
		}
		q, err := words.Parse(query)
		if !ok || err != nil {
			return
		}
		asked, possible := q.TSQuery()
		_, _, matches := words.NewMatcher(q).Match(text)
		if !possible {
			if matches {
				t.Errorf("%q matches %q, but TSQuery says that it matches nothing", query, text)
			}
			return
		}
		var found bool
		if err := conn.QueryRow(t.Context(), "SELECT $1::text::tsvector @@ $2::text::tsquery", vector, asked).Scan(&found); err != nil {
			t.Fatalf("%.100q @@ %.100q: %v", vector, asked, err)
		}
		if matches && !found {
			t.Errorf("%q matches %q, but the index does not find it", query, text)
		}
	})
}

// indexAll indexes the missing thoughts of all parts.
func (s *Store) indexAll(ctx context.Context) (complete bool, err error) {
	s.needsIndex(s.parts...)
	return s.updateIndex(ctx)
}
