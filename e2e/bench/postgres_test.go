//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/gendocs"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/store/postgres"
)

var page = flag.String("page", "", "page whose section postgres is written; empty means to try the measurement out, on a small scale")

// A pgPlan says what is measured with PostgreSQL.
type pgPlan struct {
	plan
	turns  int           // rounds of appends, which are short
	during time.Duration // each of them
}

// crowds are the numbers of clients at a time.
var crowds = []int{1, 8, 64}

// TestPostgres measures with a PostgreSQL server of its own, whose commits are
// durable, and writes the page if it is told to.
func TestPostgres(t *testing.T) {
	needtest.Long(t)
	p := pgPlan{
		plan:  plan{rounds: 1, calls: 64, warm: 32, window: 32, size: 200},
		turns: 1, during: 50 * time.Millisecond,
	}
	if *page != "" {
		p = pgPlan{
			plan:  plan{rounds: 5, calls: 4000, warm: 2000, window: 32, size: 200},
			turns: 20, during: 300 * time.Millisecond,
		}
	}
	server := pgtest.Server{Durable: true}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	r := &pgReport{plan: p, before: load()}
	r.appends(t, &server)
	r.calls(t, &server)
	r.after = load()
	text := r.page()
	if *page == "" {
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || !strings.Contains(text, "| 64 |") {
			t.Errorf("the page is\n%s", text)
		}
		return
	}
	if err := gendocs.WriteSection(*page, "postgres", text); err != nil {
		t.Fatal(err)
	}
}

// load returns how busy the machine is, where the system tells.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(data), " ")
	return one
}

// openStore opens a store, which ends with the test.
func openStore(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// appendTo appends a thought of so many bytes, as a dialect does.
func appendTo(ctx context.Context, e *sequent.Engine, id sequent.ID, size int) error {
	_, err := e.Ensure(ctx, id, func(c *sequent.Change) error {
		n := c.Session().Len() + 1
		_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: words(n, size), Final: true})
		return err
	})
	return err
}

// appends compares appends by a number of clients, each in a session of its own,
// with bare loops that store the same.
func (r *pgReport) appends(t *testing.T, server *pgtest.Server) {
	url := server.Schema(t)
	e := sequent.New(sequent.Config{Store: openStore(t, url)})
	loops := []*bareLoop{
		{name: "one statement a batch, one writer", writers: 1},
		{name: "one statement a batch, two writers", writers: 2},
		{name: "one statement an append, a connection for each client", single: true},
	}
	telling := &bareLoop{name: "telling", writers: 1, tells: true}
	bareURL := server.Schema(t)
	openStore(t, bareURL) // which makes the tables
	for round := range r.plan.turns {
		for i, clients := range crowds {
			rate := crowd(t, clients, r.plan.during, func(client, _ int) error {
				return appendTo(t.Context(), e, sequent.ID(fmt.Sprint(round, " ", clients, " ", client)), r.plan.size)
			})
			best(&r.stored[i], rate, more)
			for _, l := range loops {
				rate := l.measure(t, bareURL, fmt.Sprint(l.name, round), clients, r.plan)
				if r.bare[i].rate < rate {
					r.bare[i] = bareResult{l.name, rate}
				}
			}
			best(&r.told[i], telling.measure(t, bareURL, fmt.Sprint(telling.name, round), clients, r.plan), more)
		}
	}
}

// crowd has clients do something again and again for a while, and returns how
// often they did in a second.
func crowd(t *testing.T, clients int, during time.Duration, do func(client, n int) error) float64 {
	t.Helper()
	var wg sync.WaitGroup
	done := make([]int, clients)
	begun := time.Now()
	for client := range clients {
		wg.Go(func() {
			for ; done[client] == 0 || time.Since(begun) < during; done[client]++ {
				if err := do(client, done[client]+1); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begun).Seconds()
	if t.Failed() {
		t.FailNow()
	}
	total := 0
	for _, n := range done {
		total += n
	}
	return float64(total) / took
}

// calls compares the program with PostgreSQL and with SQLite.
func (r *pgReport) calls(t *testing.T, server *pgtest.Server) {
	program := programtest.Build(t)
	url := server.Schema(t)
	for i := range r.servers {
		r.servers[i].subject = subject{name: "PostgreSQL", command: []string{program, "serve", "--store", url}}
	}
	lite := &r.servers[1].subject
	*lite = subject{name: "SQLite, full", command: []string{program, "serve", "--store"}, stores: t.TempDir()}
	for round := range r.plan.rounds {
		for i := range r.servers {
			s := &r.servers[i]
			if err := s.subject.round(t.Context(), r.plan.plan); err != nil {
				t.Fatalf("%s: %v", s.subject.name, err)
			}
			store := url
			if i == 1 {
				store = filepath.Join(lite.stores, fmt.Sprintf("web%d.db", round))
			}
			w := web{clients: 16}
			rate, err := w.measure(t.Context(), r.plan.plan, []string{program, "serve", "--store", store, "--rate", "0", "--http"})
			if err != nil {
				t.Fatalf("%s: %v", s.subject.name, err)
			}
			best(&s.web, rate, more)
		}
	}
}
