package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// long reports whether the long versions of the tests are wanted (make crash).
func long() bool { return os.Getenv("SEQUENT_LONG") != "" }

// crew starts processes that append to a store, in each a number of goroutines, to one session or to
// that of the goroutine. It returns them, and what waits until they have ended.
func crew(t *testing.T, path, name, session string, processes, writers int, acked *acks) ([]*child, func()) {
	t.Helper()
	var all []*child
	for i := range processes {
		all = append(all, start(t, "append", childStore+"="+path, fmt.Sprintf("%s=%sp%d", childName, name, i),
			childSession+"="+strings.ReplaceAll(session, "*", fmt.Sprint(i)), fmt.Sprint(childWriters, "=", writers)))
	}
	for _, c := range all {
		c.line(t)
	}
	var reading sync.WaitGroup
	for _, c := range all {
		reading.Go(func() { acked.read(c) })
		fmt.Fprintln(c.stdin, "go")
	}
	return all, reading.Wait
}

// TestProcessesShareAFile lets eight processes create one file at the same time and append to it,
// first each to its own session, then all to the same.
func TestProcessesShareAFile(t *testing.T) {
	t.Parallel()
	const processes = 8
	duration := 2 * time.Second
	if long() {
		duration = 10 * time.Second
	}
	for _, session := range []string{"own *", "hot"} {
		t.Run(session, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "dir", "sessions.db")
			acked := newAcks()
			all, ended := crew(t, path, "", session, processes, 1, acked)
			<-time.After(duration)
			for _, c := range all {
				c.stdin.Close()
			}
			ended()
			for _, c := range all {
				if err := c.cmd.Wait(); err != nil {
					t.Errorf("child: %v\n%s", err, c.errors)
				}
			}
			s := openAt(t, path)
			defer s.Close()
			verify(t, s, acked, 0)
			intact(t, s)
			counts := acked.counts()
			mean := acked.total() / processes
			t.Logf("%d appends in %v, by process: %v", acked.total(), duration, counts)
			if len(counts) != processes || slices.Min(counts) < mean/3 {
				t.Errorf("a process was starved: %v, the mean is %d", counts, mean)
			}
		})
	}
}

// TestKill kills processes while they write. A commit has about three thoughts, so that each process
// makes more than 100 commits in a round, and an error in one commit of 100 is seen.
func TestKill(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	rounds := 3
	if long() {
		rounds = 50
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	acked := newAcks()
	const processes, writers = 3, 4
	for round := range rounds {
		before := acked.total()
		enough := acked.reach(before + 1000 + 37*(round%10))
		all, ended := crew(t, path, fmt.Sprint("r", round), "", processes, writers, acked)
		select {
		case <-enough:
		case <-time.After(30 * time.Second):
			t.Errorf("round %d: only %d acknowledged in 30 s", round, acked.total()-before)
		}
		for _, c := range all {
			if err := c.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		ended()
		for _, c := range all {
			if err := c.cmd.Wait(); err == nil {
				t.Errorf("round %d: a child exited before it was killed\n%s", round, c.errors)
			}
		}
		s := openAt(t, path)
		// Each killed writer may have stored one thought without acknowledging it.
		verify(t, s, acked, (round+1)*processes*writers)
		intact(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d rounds, %d thoughts acknowledged, none lost", rounds, acked.total())
}

// acks collects the thoughts that children report as acknowledged.
type acks struct {
	mu      sync.Mutex
	texts   map[string]bool
	target  int           // number of texts at which reached is closed
	reached chan struct{} // nil if there is no target
}

func newAcks() *acks { return &acks{texts: make(map[string]bool)} }

func (a *acks) read(c *child) {
	for c.lines.Scan() {
		a.mu.Lock()
		a.texts[c.lines.Text()] = true
		if a.reached != nil && len(a.texts) >= a.target {
			close(a.reached)
			a.reached = nil
		}
		a.mu.Unlock()
	}
}

// reach returns a channel that is closed when there are n texts.
func (a *acks) reach(n int) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	reached := make(chan struct{})
	a.target, a.reached = n, reached
	return reached
}

func (a *acks) total() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.texts)
}

// counts returns the number of acknowledged thoughts of each process, sorted.
func (a *acks) counts() []int {
	by := make(map[string]int)
	for text := range a.texts {
		process, _, _ := strings.Cut(text, ".")
		by[process]++
	}
	var all []int
	for _, n := range by {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// verify fails the test unless every acknowledged thought is in the store once, the
// logs have no gaps, each writer's thoughts are in order, and at most extra
// thoughts are not acknowledged.
func verify(t *testing.T, s *Store, acked *acks, extra int) {
	t.Helper()
	page, err := s.List(t.Context(), sequent.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	next := make(map[string]int) // the next number of each writer
	for _, head := range page.Headers {
		h, log, err := s.Load(t.Context(), head.Key, sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if len(log) != h.Len {
			t.Errorf("%q has %d thoughts, the header says %d", h.ID, len(log), h.Len)
		}
		for i, th := range sequent.Thoughts(log) {
			if th.Seq != i+1 {
				t.Errorf("%q: thought %d has Seq %d", h.ID, i+1, th.Seq)
			}
			if seen[th.Text] {
				t.Errorf("%q is stored twice", th.Text)
			}
			seen[th.Text] = true
			var n int
			writer, number, _ := strings.Cut(th.Text, " ")
			if _, err := fmt.Sscan(number, &n); err != nil || n != next[writer] {
				t.Errorf("%q: got %q, want number %d", h.ID, th.Text, next[writer])
			}
			next[writer] = n + 1
		}
	}
	lost := 0
	for text := range acked.texts {
		if !seen[text] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged thoughts are lost", lost, len(acked.texts))
	}
	if n := len(seen) - len(acked.texts) + lost; n > extra {
		t.Errorf("%d stored thoughts were not acknowledged, want at most %d", n, extra)
	}
}

// intact runs SQLite's integrity check on the store.
func intact(t *testing.T, s *Store) {
	t.Helper()
	var all string
	err := s.file.readers.QueryRowContext(context.Background(), "SELECT group_concat(integrity_check) FROM pragma_integrity_check").Scan(&all)
	if err != nil || all != "ok" {
		t.Errorf("integrity_check = %q, error %v", all, err)
	}
}
