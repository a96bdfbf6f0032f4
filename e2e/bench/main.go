// Command bench compares sequent on standard input and output with the reference
// server, and writes what it measured into a page of the documentation.
//
//	go run ./e2e/bench -sequent ./sequent -reference index.js -out docs/benchmarks.md
//
// `make bench` does all of that, on one core. Servers are measured in turn, in
// rounds, and of each figure the best round counts: what disturbs a round makes
// it slower, never faster. Ratios are of figures of the same run.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/sequent-dev/sequent/internal/gendocs"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A plan says what is measured.
type plan struct {
	rounds, calls, warm, window, kept int
	size                              int           // bytes of a thought
	during                            time.Duration // of each turn of a bare loop
}

func main() {
	var p plan
	sequent := flag.String("sequent", "sequent", "the program to measure")
	reference := flag.String("reference", "", "the reference server's index.js")
	out := flag.String("out", "", "page whose section stdio is written; empty means standard output")
	flag.IntVar(&p.rounds, "rounds", 5, "rounds, of which the best counts")
	flag.IntVar(&p.calls, "calls", 5000, "calls in each phase of a round")
	flag.IntVar(&p.warm, "warm", 3000, "calls before each phase that do not count")
	flag.IntVar(&p.window, "window", 32, "calls in flight in the second phase")
	flag.IntVar(&p.kept, "kept", 50_000, "thoughts in memory when it is read the second time")
	flag.IntVar(&p.size, "size", 200, "bytes of a thought")
	flag.DurationVar(&p.during, "during", 500*time.Millisecond, "time of each turn of appends to SQLite")
	echo := flag.String("echo", "", "serve HTTP at this address and send back what is read; used by the program itself")
	flag.Parse()
	if *echo != "" {
		fmt.Fprintln(os.Stderr, "bench:", serveEcho(*echo))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, p, *sequent, *reference, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, p plan, sequent, reference, out string) error {
	sequent, err := filepath.Abs(sequent)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	all := []*subject{
		{name: "reference", command: []string{"node", reference}},
		{name: "memory", command: []string{sequent, "serve", "--store", "memory"}},
		{name: "SQLite, normal", command: []string{sequent, "serve", "--sync", "normal", "--store"}, stores: dir},
		{name: "SQLite, full", command: []string{sequent, "serve", "--store"}, stores: dir},
	}
	loops := []*bare{{sync: sqlite.Normal, goal: 0.65}, {sync: sqlite.Full, goal: 0.65}}
	web := web{clients: 16}
	syncs := 0.0
	for round := range p.rounds {
		for _, s := range all {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, p.rounds, s.name)
			if err := s.round(ctx, p); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		if err := web.round(ctx, p, sequent); err != nil {
			return err
		}
		for _, b := range loops {
			const turns = 4 // short ones, so that both loops get quiet moments
			for turn := range turns {
				at, err := os.MkdirTemp(dir, "bare")
				if err != nil {
					return err
				}
				if err := b.round(ctx, at, p.size, p.during); err != nil {
					return fmt.Errorf("bare loop, turn %d: %w", turn+1, err)
				}
			}
		}
		n, err := syncLoop(filepath.Join(dir, "sync"), p.size, time.Second)
		if err != nil {
			return err
		}
		syncs = max(syncs, n)
	}
	for _, s := range all {
		fmt.Fprintf(os.Stderr, "memory: %s\n", s.name)
		if err := s.memory(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	text := report(p, all, loops, &web, syncs)
	if out == "" {
		_, err := fmt.Print(text)
		return err
	}
	return gendocs.WriteSection(out, "stdio", text)
}

// best keeps the better of two figures. 0 means no figure.
func best(old *float64, now float64, better func(a, b float64) bool) {
	if *old == 0 || better(now, *old) {
		*old = now
	}
}

func less(a, b float64) bool { return cmp.Less(a, b) }
func more(a, b float64) bool { return cmp.Less(b, a) }
