//go:build unix

package main

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/picture"
)

// A pgReport is what was measured with PostgreSQL.
type pgReport struct {
	plan          pgPlan
	before, after string // the machine's load

	stored [3]float64 // appends a second, by crowds
	bare   [3]bareResult
	told   [3]float64 // of a bare loop that tells others

	servers [2]struct { // PostgreSQL, SQLite
		subject subject
		web     float64 // calls a second over HTTP
	}
}

// goalAppends is the least ratio of the store's rate to that of the best bare loop.
const goalAppends = 0.6

// page returns the section of the page.
func (r *pgReport) page() string {
	var b strings.Builder
	var missed []string
	fmt.Fprintf(&b, `## PostgreSQL

Measured by `+"`make benchpostgres`"+` on %s/%s with %s and %d cores, shared by server, program and clients. The load average
was %s at the start and %s at the end; on a busy machine, ratios say more than figures. The server is a temporary one with
synchronous_commit and fsync on, on a Unix socket. Subjects take turns in rounds, %d short ones for appends and %d for the rest,
and the best round of each counts. Thoughts have %d bytes.

### Appends per second

Through the engine, each client one call at a time in its own session; and by a bare loop on pgx that writes the same rows to
the same tables on the same condition, without notifications and without a word index. The best of three such loops is shown.
The last column is a loop with one writer and one pg_notify per batch, as in the store.

%s
| clients | engine and store | bare loop | best loop | ratio | bare loop with notifications |
|--:|--:|--:|---|---|--:|
`, runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU(), r.before, r.after, r.plan.turns, r.plan.rounds, r.plan.size,
		picture.Reference("pictures", "scaling", "Appends to PostgreSQL"))
	for i, clients := range crowds {
		ratio := fmt.Sprintf("%.2fx, goal ≥ %gx", r.stored[i]/r.bare[i].rate, goalAppends)
		if r.stored[i] < goalAppends*r.bare[i].rate {
			missed = append(missed, fmt.Sprintf("- appends with %d clients: %s", clients, ratio))
			ratio += ", **missed**"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", clients, figure(r.stored[i]), figure(r.bare[i].rate), r.bare[i].name,
			ratio, figure(r.told[i]))
	}

	pg, lite := &r.servers[0], &r.servers[1]
	fmt.Fprintf(&b, `
### Calls per second of one process

The program with PostgreSQL, and with a SQLite file that survives a power cut. The CPU of the program excludes PostgreSQL's
processes.

| | PostgreSQL | SQLite, full | ratio |
|---|--:|--:|--:|
`)
	for _, row := range []struct {
		name string
		a, b float64
	}{
		{"start to first reply, ms", 1e3 * pg.subject.start, 1e3 * lite.subject.start},
		{"one call at a time, calls/s", pg.subject.serial.rate, lite.subject.serial.rate},
		{"median of a call, µs", 1e6 * pg.subject.serial.median, 1e6 * lite.subject.serial.median},
		{"99th percentile, µs", 1e6 * pg.subject.serial.late, 1e6 * lite.subject.serial.late},
		{"CPU of the program per call, µs", 1e6 * pg.subject.serial.cpu, 1e6 * lite.subject.serial.cpu},
		{fmt.Sprintf("%d calls in flight, calls/s", r.plan.window), pg.subject.windowed.rate, lite.subject.windowed.rate},
		{"over HTTP, 16 clients, calls/s", pg.web, lite.web},
	} {
		if row.a > 0 && row.b > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %.2fx |\n", row.name, figure(row.a), figure(row.b), row.a/row.b)
		}
	}

	if len(missed) > 0 {
		fmt.Fprintf(&b, "\nMissed goals:\n\n%s\n", strings.Join(missed, "\n"))
	} else {
		fmt.Fprint(&b, "\nAll goals were met.\n")
	}
	return b.String()
}

// A missed goal is marked beside the figure and listed at the end.
func TestPostgresPageSaysWhatWasMissed(t *testing.T) {
	t.Parallel()
	r := &pgReport{
		stored: [3]float64{90, 50, 70}, bare: [3]bareResult{{"a", 100}, {"b", 100}, {"c", 100}},
	}
	_, below, ok := strings.Cut(r.page(), "Missed goals:\n\n")
	want := "- appends with 8 clients: 0.50x, goal ≥ 0.6x\n"
	if !ok || below != want {
		t.Errorf("missed goals are\n%s\nwant\n%s", below, want)
	}
}
