//go:build unix

package main

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/picture"
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

	grown []grown
	bytes [2]float64 // a thought: rows and indexes; the index for words

	parts     []divided
	partsLoad [2]string // before and after
}

// Goals.
const (
	goalAppends = 0.7
	goalGrowth  = 1.3
)

// page returns the page.
func (r *pgReport) page() string {
	var b strings.Builder
	var missed []string
	judge := func(name string, ratio, goal float64, least bool) string {
		sign, met := "≤", ratio <= goal
		if least {
			sign, met = "≥", ratio >= goal
		}
		text := fmt.Sprintf("%.2fx, goal %s %gx", ratio, sign, goal)
		if met {
			return text
		}
		missed = append(missed, fmt.Sprintf("- %s: %s", name, text))
		return text + ", **missed**"
	}
	fmt.Fprintf(&b, `# Benchmarks with PostgreSQL

Measured by `+"`make benchpostgres`"+` on %s/%s with %s and %d cores, shared by server, program and clients. The load average
was %s at the start and %s at the end; on a busy machine, ratios say more than figures. The server is a temporary one with
synchronous_commit and fsync on, on a Unix socket. Subjects take turns in rounds, %d short ones for appends and %d for the rest,
and the best round of each counts. Thoughts have %d bytes.

## Appends per second

Through the engine, each client one call at a time in its own session; and by a bare loop on pgx that writes the same rows to
the same tables on the same condition, without notifications and without a word index. The best of three such loops is shown.
The last column is a loop with one writer and one pg_notify per batch, as in the store.

%s
| clients | engine and store | bare loop | best loop | ratio | bare loop with notifications |
|--:|--:|--:|---|---|--:|
`, runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU(), r.before, r.after, r.plan.turns, r.plan.rounds, r.plan.size,
		picture.Reference("pictures", "scaling", "Appends to PostgreSQL"))
	for i, clients := range crowds {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", clients, figure(r.stored[i]), figure(r.bare[i].rate), r.bare[i].name,
			judge(fmt.Sprintf("appends with %d clients", clients), r.stored[i]/r.bare[i].rate, goalAppends, true), figure(r.told[i]))
	}

	pg, lite := &r.servers[0], &r.servers[1]
	fmt.Fprintf(&b, `
## Calls per second of one process

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

	fmt.Fprintf(&b, `
## With more thoughts

Calls through the engine, one at a time, with %d and %d thoughts in the store, in sessions of %d: medians in µs, 99th
percentiles in parentheses.

| | %d | %d | ratio of medians |
|---|--:|--:|---|
`, r.plan.small, r.plan.large, each, r.plan.small, r.plan.large)
	for i, g := range r.grown {
		ratio := g.of[1].median / g.of[0].median
		text := fmt.Sprintf("%.2fx", ratio)
		if i == 0 {
			text = judge("latency of an append", ratio, goalGrowth, false)
		}
		fmt.Fprintf(&b, "| %s | %s (%s) | %s (%s) | %s |\n", g.name, figure(1e6*g.of[0].median), figure(1e6*g.of[0].late),
			figure(1e6*g.of[1].median), figure(1e6*g.of[1].late), text)
	}
	fmt.Fprintf(&b, `
With %d thoughts the database takes %.0f bytes per thought for rows and their indexes, and %.0f for the word index.
`, r.plan.large, r.bytes[0], r.bytes[1])
	if len(r.parts) > 0 {
		b.WriteString(r.partsSection())
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
		grown: []grown{{"append", [2]latency{{1e-4, 1e-3}, {2e-4, 1e-3}}}, {"load", [2]latency{{1e-4, 1e-3}, {9e-4, 1e-3}}}},
	}
	_, below, ok := strings.Cut(r.page(), "Missed goals:\n\n")
	want := "- appends with 8 clients: 0.50x, goal ≥ 0.7x\n- latency of an append: 2.00x, goal ≤ 1.3x\n"
	if !ok || below != want {
		t.Errorf("missed goals are\n%s\nwant\n%s", below, want)
	}
}
