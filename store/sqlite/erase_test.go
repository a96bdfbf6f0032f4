package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// canary is a word that only deleted sessions have.
const canary = "xqzcanary"

// leaks returns the files of the store that hold text, with the number of times.
func leaks(t *testing.T, path, text string) (found []string) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if n := bytes.Count(bytes.ToLower(data), []byte(text)); n > 0 {
			found = append(found, fmt.Sprintf("%s: %d", filepath.Base(name), n))
		}
	}
	return found
}

// secrets records sessions that have the canary in every field, some with one long
// thought and some with many changes, between sessions that are kept.
func secrets(t *testing.T, s *Store, sessions, thoughts int) {
	t.Helper()
	e := sequent.New(sequent.Config{Store: s})
	for i := range sessions {
		for _, word := range []string{canary, "heron"} {
			id := sequent.ID(fmt.Sprintf("%s-%d", word, i))
			for j := range thoughts {
				_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
					if j == 0 {
						c.BeginIn(word+fmt.Sprint(" scope ", i), "standard")
						c.SetLabel(word+"-label", word+" value")
					}
					_, err := c.Append(sequent.Draft{
						Text: strings.Repeat(fmt.Sprintf("%s text %s%dx%d ", word, word, i, j), 1+(i*j)%40), Note: word + " note", Branch: strings.Repeat(word, j%2),
						Request: sequent.Request{Key: fmt.Sprint(word, "key", j), Digest: word},
						Labels:  map[string]string{word: word},
					})
					c.Conclude(strings.Repeat(word+" conclusion ", 1+(i*7+j*3)%25))
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// fill appends thoughts with a text to a session.
func fill(t *testing.T, s *Store, id string, n int, text string) {
	t.Helper()
	e := sequent.New(sequent.Config{Store: s})
	for range n {
		if _, err := e.Append(t.Context(), sequent.ID(id), sequent.Draft{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
}

// finds fails the test unless a search has n hits.
func finds(t *testing.T, s *Store, text string, n int) {
	t.Helper()
	if hits, err := s.Search(t.Context(), sequent.SearchQuery{Text: text, Limit: 1000}); err != nil || len(hits.Hits) != n {
		t.Errorf("search for %q: %d hits, error %v; want %d", text, len(hits.Hits), err, n)
	}
}

// No file of the store holds a byte of a deleted session after Compact.
func TestDeletedTextIsGone(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(ctx context.Context, e *sequent.Engine) error{
		"delete": func(ctx context.Context, e *sequent.Engine) error {
			for i := range 25 {
				if err := e.Delete(ctx, sequent.ID(fmt.Sprintf("%s-%d", canary, i))); err != nil {
					return err
				}
			}
			return nil
		},
		"sweep": func(ctx context.Context, e *sequent.Engine) error {
			_, err := e.Sweep(ctx, sequent.Query{AllOwners: true, Before: time.Now().Add(time.Hour)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
			defer s.Close()
			secrets(t, s, 25, 12)
			if len(leaks(t, s.path, canary)) == 0 {
				t.Fatal("the canary is not in the store")
			}
			if err := remove(t.Context(), sequent.New(sequent.Config{Store: s})); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Erase(t.Context()); err != nil || r.Log != 0 || r.Deleted < 25 {
				t.Errorf("Erase = %+v, %v, want an empty log and the number of deleted sessions", r, err)
			}
			c, err := s.Compact(t.Context(), nil)
			if err != nil || c.Residue != (Residue{}) || c.After >= c.Before {
				t.Errorf("Compact = %+v, %v, want a smaller file and nothing left", c, err)
			}
			if found := leaks(t, s.path, canary); len(found) > 0 {
				t.Errorf("the text of deleted sessions is in %v", found)
			}
			want := 0
			if name == "delete" {
				want = 25 * 12
			}
			finds(t, s, "heron", want)
			intact(t, s)
		})
	}
}

// What another process reads is reported and not claimed, and is gone afterwards.
func TestEraseReportsReaders(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	defer s.Close()
	secrets(t, s, 2, 3)
	other := openAt(t, s.path)
	defer other.Close()
	tx, err := other.file.readers.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM tool_log").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := sequent.New(sequent.Config{Store: s}).Sweep(t.Context(), sequent.Query{}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Erase(t.Context())
	if err != nil || r.Log == 0 {
		t.Errorf("Erase with a reader = %+v, %v, want the size of the log", r, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Erase(t.Context()); err != nil || r.Log != 0 {
		t.Errorf("Erase after the reader = %+v, %v, want an empty log", r, err)
	}
}

// Writers of this and other processes wait for Compact, and what they write is whole.
func TestAppendsDuringCompact(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	defer s.Close()
	other := openAt(t, s.path)
	defer other.Close()
	var wg sync.WaitGroup
	for i, to := range []*Store{s, other} {
		wg.Go(func() { fill(t, to, fmt.Sprint("w", i), 150, "heron egret") })
	}
	for range 5 {
		if _, err := s.Compact(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	finds(t, other, "heron", 300)
	intact(t, s)
}
