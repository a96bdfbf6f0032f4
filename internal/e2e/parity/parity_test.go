package parity

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
)

var seed = flag.Uint64("seed", 0, "makes the same calls again; 0 for others in each run")

const (
	sequences    = 2000 // in one process
	realOnes     = 40   // in processes of their own
	invalidCalls = 400
)

// newGenerator returns a source of calls, and says how to have the same again.
func newGenerator(t *testing.T) generator {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed=%d", s)
	return generator{rand.New(rand.NewPCG(s, 0))}
}

// compare lets two servers answer a sequence, and returns how many calls agree.
func compare(t *testing.T, calls []string, theirs, ours server) int {
	t.Helper()
	want, got := theirs(t, calls), ours(t, calls)
	for i, args := range calls {
		if want[i].Failed {
			t.Fatalf("the reference server refuses what should be valid: %s\ncall %d of\n%s", want[i].Text, i+1, args)
		}
		if got[i].Failed || got[i].Fields.String() != want[i].Fields.String() {
			t.Fatalf("call %d of %d, %s\nours:   %s %s\ntheirs: %s\nall: %q", i+1, len(calls), args,
				got[i].Fields, got[i].Text, want[i].Fields, calls)
		}
	}
	return len(calls)
}

// Valid calls are answered alike.
func TestParityOfValidCalls(t *testing.T) {
	t.Parallel()
	theirs := reference(t)
	g := newGenerator(t)
	n := 0
	for range sequences {
		n += compare(t, g.sequence(), theirs, inProcess)
	}
	t.Logf("%d sequences, %d calls", sequences, n)
}

// So they are when each sequence has two processes of its own.
func TestParityOfProcesses(t *testing.T) {
	t.Parallel()
	node, file := entry(t)
	theirs := processes(node, file)
	ours := processes(programtest.Build(t), "serve", "--dialect", "classic", "--store", "memory", "--storage-path", t.TempDir())
	g := newGenerator(t)
	n := 0
	for range realOnes {
		n += compare(t, g.sequence(), theirs, ours)
	}
	t.Logf("%d sequences, %d calls", realOnes, n)
}
