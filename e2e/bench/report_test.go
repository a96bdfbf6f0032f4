package main

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/store/sqlite"
)

// A missed goal is marked beside the figure and listed below the table. Goals that
// are met or were not measured are not.
func TestReportSaysWhatWasMissed(t *testing.T) {
	t.Parallel()
	figures := func(name string, start, rate, cpu float64) *subject {
		p := phase{rate: rate, cpu: cpu, median: 1, late: 0.002}
		return &subject{name: name, start: start, serial: p, windowed: p, fresh: 10 << 20, full: 20 << 20}
	}
	all := []*subject{
		figures("reference", 1, 1000, 1), figures("memory", 0.0104, 1900, 0.5),
		figures("SQLite, normal", 0.06, 1200, 0), figures("SQLite, full", 0.05, 800, 1.2),
	}
	for _, s := range all[1:] {
		s.fresh, s.full = 2<<20, 8<<20
	}
	loops := []*bare{{sync: sqlite.Normal, goal: 0.9, engine: 9000, loop: 10_000}, {sync: sqlite.Full, goal: 0.85, engine: 800, loop: 1000}}
	page := report(plan{window: 32, kept: 5, size: 200}, all, loops, &web{clients: 16, echo: 1000, real: 250}, 1600)
	_, below, ok := strings.Cut(page, "Missed goals:\n\n")
	want := `- start to first reply, memory: 10.4, goal ≤ 10
- one call at a time, memory: 1.9x, goal ≥ 2x
- CPU of the server per call, memory: 0.5x, goal ≤ 0.45x
- appends, SQLite, full: 0.80x of a bare loop, goal ≥ 0.85x
- over HTTP, memory: 0.25x of a bare echo, goal ≥ 0.5x
`
	if !ok || below != want {
		t.Errorf("missed goals are\n%s\nwant\n%s", below, want)
	}
	for _, want := range []string{
		"| start to first reply, ms | 1000 | 10.4 (0.0104x)<br>goal ≤ 10, **missed** | 60.0 (0.06x) |",
		"| CPU of the server per call, µs | 1000000 | 500000 (0.5x)<br>goal ≤ 0.45x, **missed** | – | 1200000 (1.2x) |",
		"| SQLite, normal | 9000 | 10000 | 0.90x, goal ≥ 0.9x |", "| SQLite, full | 800 | 1000 | 0.80x, goal ≥ 0.85x, **missed** |",
		"| 32 calls in flight, calls/s |", "| memory with 5 thoughts, MiB |", "0.50 of that",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
