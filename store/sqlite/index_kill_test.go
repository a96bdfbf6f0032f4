package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/store/internal/indexer"
)

// TestIndexKilled kills processes while they index. Searches find everything at any
// time.
func TestIndexKilled(t *testing.T) {
	t.Parallel()
	const sessions, each = 8, 500
	path := filepath.Join(t.TempDir(), "s.db")
	s := openIndexed(t, path, nil)
	for i := range sessions {
		fill(t, s, fmt.Sprint("s", i), each, "heron "+strings.Repeat("and more words ", 10))
	}
	search := func() {
		t.Helper()
		finds(t, s, "heron s3 n77", 1)
		finds(t, s, "n500", sessions)
	}
	search()
	for _, target := range []int{1, sessions * each / 3, sessions * each / 2, sessions*each - indexer.BatchSize} {
		c := start(t, "index", childStore+"="+path)
		for {
			mark, err := strconv.Atoi(c.line(t))
			if err != nil {
				t.Fatal(err)
			}
			if mark >= target {
				break
			}
		}
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // always "signal: killed"
		t.Logf("killed at %d or later: the index is at %+v", target, stateOf(t, s))
		search()
	}
	catchUp(t, s)
	search()
	checkIntegrity(t, s.index.file.Writer)
	if st := stateOf(t, s); st.docs != sessions*each {
		t.Errorf("the index is at %+v, want %d documents", st, sessions*each)
	}
}

// indexTask indexes, and prints the id that it has reached before each batch.
func indexTask() error {
	ctx := context.Background()
	s, err := Open(ctx, Config{Path: os.Getenv(childStore)})
	if err != nil {
		return err
	}
	if err := s.index.close(); err != nil {
		return err
	}
	x, err := newIndex(ctx, s)
	if err != nil {
		return err
	}
	if held, err := x.lock.TryLock(); err != nil || !held {
		return fmt.Errorf("TryLock: %t, %w", held, err)
	}
	f, err := x.acquire(ctx, forWriting)
	if err != nil {
		return err
	}
	for {
		st, err := f.state(ctx, f.Writer)
		if err != nil {
			return err
		}
		fmt.Println(st.mark)
		e, err := extentOf(ctx, x.store.readers, st)
		if err != nil {
			return err
		}
		if err := x.add(ctx, f, st.mark, e.last); err != nil {
			return err
		}
	}
}
