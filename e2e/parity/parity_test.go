package parity

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

var seed = flag.Uint64("seed", 0, "seed of the calls; 0 means a random one")

// Sizes are those of make oracles; see [programtest.Size].
const (
	sequences        = 10_000 // in one process
	processSequences = 400    // each in its own process
	invalidCalls     = 4_000
)

// newGenerator returns a generator and logs its seed.
func newGenerator(t *testing.T) generator {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed=%d", s)
	return generator{rand.New(rand.NewPCG(s, 0))}
}

// compare checks that two servers give the same answers. It returns the number of
// calls.
func compare(t *testing.T, calls []string, theirs, ours server) int {
	t.Helper()
	want, got := theirs(t, calls), ours(t, calls)
	for i, args := range calls {
		if want[i].Failed {
			t.Fatalf("the reference server refused a valid call: %s\ncall %d of\n%s", want[i].Text, i+1, args)
		}
		if got[i].Failed || !got[i].Structured || !want[i].Structured || got[i].Fields.String() != want[i].Fields.String() {
			t.Fatalf("call %d of %d, %s\nours:   %s %s\ntheirs: %s\nall: %q", i+1, len(calls), args,
				got[i].Fields, got[i].Text, want[i].Fields, calls)
		}
	}
	return len(calls)
}

// Both servers give the same answers to valid calls.
func TestParityOfValidCalls(t *testing.T) {
	t.Parallel()
	theirs := reference(t)
	g := newGenerator(t)
	n := 0
	size := programtest.Size(sequences)
	for range size {
		n += compare(t, g.sequence(), theirs, inProcess)
	}
	t.Logf("%d sequences, %d calls", size, n)
}

// The answers are also the same if each sequence has its own processes.
func TestParityOfProcesses(t *testing.T) {
	t.Parallel()
	node, file := entry(t)
	theirs := processes(node, file)
	ours := processes(programtest.Build(t), "serve", "--dialect", "classic", "--store", "memory", "--storage-path", t.TempDir())
	g := newGenerator(t)
	n := 0
	size := programtest.Size(processSequences)
	for range size {
		n += compare(t, g.sequence(), theirs, ours)
	}
	t.Logf("%d sequences, %d calls", size, n)
}
