package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/sequent-dev/sequent"
)

// A traveller is a process: a store and an engine that caches sessions.
type traveller struct {
	*Store
	engine *sequent.Engine
}

func travel(t *testing.T, path string) *traveller {
	t.Helper()
	s := openIndexed(t, path, nil)
	return &traveller{s, sequent.New(sequent.Config{Store: s})}
}

// think appends thoughts to two sessions, alternately.
func (p *traveller) think(t *testing.T, words ...string) {
	t.Helper()
	for i, word := range words {
		id := sequent.ID([]string{"a", "b"}[i%2])
		if _, err := p.engine.Ensure(t.Context(), id, func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: i + 1, Text: "heron " + word, More: true})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// has fails the test unless the process shows exactly these thoughts, as intact
// sessions, and search finds each of them and none of the others.
func (p *traveller) has(t *testing.T, when string, words, others []string) {
	t.Helper()
	want := make(map[sequent.ID][]string)
	for i, word := range words {
		id := sequent.ID([]string{"a", "b"}[i%2])
		want[id] = append(want[id], "heron "+word)
	}
	for id, texts := range want {
		s, err := p.engine.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for th := range s.All() {
			got = append(got, th.Text)
		}
		if !slices.Equal(got, texts) {
			t.Errorf("%s: %s is %q, want %q", when, id, got, texts)
		}
		if v, err := p.engine.Verify(t.Context(), id); err != nil || v.Fault != nil || v.Head != s.Header().Head {
			t.Errorf("%s: Verify(%s) = %+v, fault %v, %v", when, id, v, v.Fault, err)
		}
	}
	for _, indexed := range []bool{false, true} {
		if indexed {
			catchUp(t, p.Store)
			if st := stateOf(t, p.Store); st.docs != int64(len(words)) {
				t.Errorf("%s: the index has %d thoughts, want %d", when, st.docs, len(words))
			}
		}
		var got, wanted []string
		for _, hit := range all(t, p.Store, "heron", 100) {
			got = append(got, hit.Thought.Text)
		}
		for _, word := range words {
			wanted = append(wanted, "heron "+word)
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s, indexed %t: search finds %q, want %q", when, indexed, got, wanted)
		}
		finds(t, p.Store, words[len(words)-1], 1)
		for _, word := range others[:min(len(others), 3)] {
			finds(t, p.Store, word, 0)
		}
	}
}

func series(name string, n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprintf("%s%d", name, i))
	}
	return words
}

// TestTimeTravel sets a store back from 120 thoughts to 70, in each way there is, and
// goes on with more or fewer than the 50 that are lost.
func TestTimeTravel(t *testing.T) {
	t.Parallel()
	kept, lost := series("kept", 70), series("lost", 50)
	for _, again := range []int{0, 1, 50, 60} {
		for name, goBack := range map[string]func(t *testing.T, path, backup string, processes []*traveller) []*traveller{
			"an older file beside a newer index": func(t *testing.T, path, backup string, processes []*traveller) []*traveller {
				for _, p := range processes {
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
				}
				copyFile(t, backup, path)
				return []*traveller{travel(t, path), travel(t, path)}
			},
			"restored under running processes": func(t *testing.T, path, backup string, processes []*traveller) []*traveller {
				restoreInPlace(t, path, backup)
				return processes
			},
			"replaced under running processes": func(t *testing.T, path, backup string, processes []*traveller) []*traveller {
				if runtime.GOOS == "windows" {
					t.Skip("Windows does not replace open files")
				}
				temp := path + ".new"
				copyFile(t, backup, temp)
				for _, suffix := range []string{"-wal", "-shm"} {
					if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Fatal(err)
					}
				}
				if err := os.Rename(temp, path); err != nil {
					t.Fatal(err)
				}
				for _, p := range processes { // they say so instead of showing what is gone
					_, err := p.engine.Session(t.Context(), "a")
					_, searched := p.Search(t.Context(), sequent.SearchQuery{Text: "heron"})
					_, listed := p.List(t.Context(), sequent.Query{})
					_, wrote := p.engine.Ensure(t.Context(), "a", func(c *sequent.Change) error { c.Conclude("x"); return nil })
					for i, err := range []error{err, searched, listed, wrote} {
						if sequent.CodeOf(err) != sequent.CodeUnavailable {
							t.Errorf("call %d of a process whose file was replaced: %v, want code %s", i, err, sequent.CodeUnavailable)
						}
					}
				}
				return []*traveller{travel(t, path), travel(t, path)}
			},
		} {
			t.Run(fmt.Sprint(name, ", ", again), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				path, backup := filepath.Join(dir, "s.db"), filepath.Join(dir, "backup.db")
				processes := []*traveller{travel(t, path), travel(t, path)}
				processes[0].think(t, kept...)
				if _, err := Backup(t.Context(), BackupConfig{From: path, To: backup}); err != nil {
					t.Fatal(err)
				}
				processes[1].think(t, lost...)
				all := slices.Concat(kept, lost)
				for _, p := range processes {
					p.has(t, "before", all, nil)
				}
				processes = goBack(t, path, backup, processes)
				added := series("again", again)
				processes[0].think(t, added...)
				want := slices.Concat(kept, added)
				for i, p := range slices.Backward(processes) {
					p.has(t, fmt.Sprint("process ", i), want, lost)
				}
				// Each goes on from there.
				for i, p := range processes {
					more := series(fmt.Sprint("more", i, "x"), 2)
					p.think(t, more...)
					want = slices.Concat(want[:len(want)/2*2], more)
					if len(added)%2 == 1 {
						return // the words of the sessions do not alternate
					}
				}
				for i, p := range processes {
					p.has(t, fmt.Sprint("in the end, process ", i), want, lost)
				}
			})
		}
	}
}

// TestWatchAfterRestore restores a later copy over an earlier one: there are more
// thoughts than before, but the latest of them are not what has changed.
func TestWatchAfterRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	p := travel(t, path)
	add := func(id sequent.ID, n int) {
		t.Helper()
		for i := range n {
			if _, err := p.engine.Ensure(t.Context(), id, adding(fmt.Sprint("heron ", id, i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	keep := func(name string) string {
		t.Helper()
		backup := filepath.Join(dir, name)
		if _, err := Backup(t.Context(), BackupConfig{From: path, To: backup}); err != nil {
			t.Fatal(err)
		}
		return backup
	}
	add("a", 2)
	add("b", 2)
	early := keep("early.db")
	add("a", 2)
	add("b", 20)
	late := keep("late.db")
	restoreInPlace(t, path, early)
	add("b", 6)
	before, err := p.engine.Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	watch, err := p.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	watch.Add(sequent.Key{ID: "a"})
	restoreInPlace(t, path, late)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for after := before; after.Len() == before.Len(); {
		if _, err := watch.Wait(ctx); err != nil {
			t.Fatalf("the watch did not report a session that the restored copy has otherwise: %v", err)
		}
		if after, err = p.engine.Session(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// restoreInPlace does what .restore of SQLite's shell does.
func restoreInPlace(t *testing.T, path, backup string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		b, err := c.(interface {
			NewRestore(string) (*sqlite.Backup, error)
		}).NewRestore(backup)
		if err != nil {
			return err
		}
		_, stepped := b.Step(-1)
		return errors.Join(stepped, b.Finish())
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint"); err != nil {
		t.Fatal(err)
	}
}
