package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent/e2e/picture"
)

// A goal is a row of the table: a figure of some subjects, and what each shall reach.
type goal struct {
	name  string
	unit  string
	scale float64 // from the figure's unit to the row's
	of    func(*subject) float64
	kind  kind
	goals [3]float64 // memory, SQLite normal, SQLite full; 0 means none
}

// A kind says what a goal limits.
type kind int

const (
	most    kind = iota // the figure, in the row's unit
	ratio               // its ratio to the reference's
	atLeast             // the same ratio, from below
)

var goals = []goal{
	{"start to first reply", "ms", 1e3, func(s *subject) float64 { return s.start }, most, [3]float64{10, 0, 0}},
	{"one call at a time", "calls/s", 1, func(s *subject) float64 { return s.serial.rate }, atLeast, [3]float64{2, 0, 0}},
	{"CPU of the server per call", "µs", 1e6, func(s *subject) float64 { return s.serial.cpu }, ratio, [3]float64{0.45, 0, 0}},
	{"median of a call", "µs", 1e6, func(s *subject) float64 { return s.serial.median }, most, [3]float64{}},
	{"99th percentile", "µs", 1e6, func(s *subject) float64 { return s.serial.late }, most, [3]float64{0, 0, 20_000}},
	{"WINDOW calls in flight", "calls/s", 1, func(s *subject) float64 { return s.windowed.rate }, atLeast, [3]float64{}},
	{"CPU of the server per call, WINDOW in flight", "µs", 1e6, func(s *subject) float64 { return s.windowed.cpu }, ratio, [3]float64{}},
	{"memory after the handshake", "MiB", 1.0 / (1 << 20), func(s *subject) float64 { return s.fresh }, most, [3]float64{22, 26, 26}},
	{"memory with KEPT thoughts", "MiB", 1.0 / (1 << 20), func(s *subject) float64 { return s.full }, most, [3]float64{}},
}

// report returns the section of the page.
func report(p plan, all []*subject, loops []*bare, web *web, syncs float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Beside the reference server

Measured by `+"`make bench`"+` on %s/%s with %s, client and server on one core if the system has taskset(1). Thoughts have
%d bytes; each phase has %d calls after %d warm-up calls; servers take turns in %d rounds, and the best round counts. Transport is
standard input and output, protocol 2025-11-25, the dialect `+"`standard`"+`. The reference is
@modelcontextprotocol/server-sequential-thinking with DISABLE_THOUGHT_LOGGING=true, which keeps thoughts in memory until it
exits. Each figure has its ratio to the reference and, below, its goal if there is one: a figure, or (x) a ratio.

SQLite *normal* survives the death of the process, *full* a power cut: each call then waits for the disk.

%s
%s
`, runtime.GOOS, runtime.GOARCH, runtime.Version(), p.size, p.calls, p.warm, p.rounds,
		picture.Reference("pictures", "speed", "How many calls a second"), picture.Reference("pictures", "memory", "How much memory"))

	fmt.Fprint(&b, "| |")
	for _, s := range all {
		fmt.Fprintf(&b, " %s |", s.name)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("--:|", len(all)))
	var missed []string
	for _, g := range goals {
		name := strings.NewReplacer("WINDOW", fmt.Sprint(p.window), "KEPT", fmt.Sprint(p.kept)).Replace(g.name)
		base := g.of(all[0])
		fmt.Fprintf(&b, "| %s, %s | %s |", name, g.unit, figure(base*g.scale))
		for i, s := range all[1:] {
			value := g.of(s)
			if base == 0 || value == 0 {
				fmt.Fprint(&b, " – |")
				continue
			}
			fmt.Fprintf(&b, " %s (%.3gx)", figure(value*g.scale), value/base)
			if want := g.goals[i]; want > 0 {
				got, text := fmt.Sprintf("%.3gx", value/base), fmt.Sprintf("≤ %gx", want)
				met := value/base <= want
				switch g.kind {
				case atLeast:
					text, met = fmt.Sprintf("≥ %gx", want), value/base >= want
				case most:
					got, text, met = figure(value*g.scale), fmt.Sprintf("≤ %g", want), value*g.scale <= want
				}
				fmt.Fprintf(&b, "<br>goal %s", text)
				if !met {
					fmt.Fprint(&b, ", **missed**")
					missed = append(missed, fmt.Sprintf("- %s, %s: %s, goal %s", name, s.name, got, text))
				}
			}
			fmt.Fprint(&b, " |")
		}
		fmt.Fprintln(&b)
	}
	full := all[len(all)-1]
	fmt.Fprintf(&b, `
A loop that appends %d bytes and calls fdatasync runs %s times per second. One call at a time with SQLite, full, reaches
%.2f of that.
`, p.size, figure(syncs), full.serial.rate/syncs)
	table, short := reportBare(loops, p.size)
	missed = append(missed, short...)
	paragraph, slow := web.report()
	fmt.Fprint(&b, paragraph)
	if slow != "" {
		missed = append(missed, slow)
	}
	fmt.Fprint(&b, table)
	if len(missed) > 0 {
		fmt.Fprintf(&b, "\nMissed goals:\n\n%s\n", strings.Join(missed, "\n"))
	} else {
		fmt.Fprint(&b, "\nAll goals were met.\n")
	}
	return b.String()
}

// figure returns a number with three digits that matter.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
