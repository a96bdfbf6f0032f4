package status_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// think returns a function that records the next thought of a session in memory.
func think(t *testing.T) func() {
	d := status.New(status.Config{Engine: sequent.New(sequent.Config{})})
	n := 0
	return func() {
		n++
		call := json.RawMessage(args{Thought: "Look at the pool.", Number: n, Total: n, Next: true, Session: "s"}.json())
		if reply, err := d.Tools[0].Call(t.Context(), tool.Call{Args: call}); err != nil || reply.Failed {
			t.Fatalf("thought %d: %s, %v", n, reply.Text, err)
		}
	}
}

// A call takes less than a millisecond. On a busy machine the first rounds can take longer.
func TestCallTakesLessThanAMillisecond(t *testing.T) {
	next := think(t)
	const rounds, calls = 50, 101
	var median time.Duration
	for range rounds {
		took := make([]time.Duration, calls)
		for i := range took {
			begun := time.Now()
			next()
			took[i] = time.Since(begun)
		}
		slices.Sort(took)
		if median = took[calls/2]; median < time.Millisecond {
			return
		}
	}
	t.Errorf("half of the calls take %v or longer", median)
}

// A session of four times as many thoughts takes about four times as much memory.
func TestMemoryGrowsWithThoughts(t *testing.T) {
	heap := func() float64 {
		runtime.GC()
		runtime.GC() // what a pool holds goes with the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	each := func(thoughts int) float64 {
		before := heap()
		next := think(t)
		for range thoughts {
			next()
		}
		grown := heap() - before
		runtime.KeepAlive(next)
		return grown / float64(thoughts)
	}
	few, many := each(1000), each(4000)
	t.Logf("%.0f bytes a thought of 1,000, %.0f of 4,000", few, many)
	if few <= 0 || many > 2*few {
		t.Errorf("a thought takes %.0f bytes in a session of 1,000 and %.0f in one of 4,000, want about the same", few, many)
	}
}
