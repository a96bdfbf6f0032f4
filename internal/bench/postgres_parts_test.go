//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// divided are the figures of a store in parts.
type divided struct {
	name string
	rate float64 // appends a second
	late float64 // 99th percentile of an append, in seconds, in the round with that rate
}

// owners is the number of owners that append at a time, each in a session of its own.
const owners = 64

// partitions compares appends by many owners to stores of one part and of 32, and to one
// on a Citus cluster if there is one for tests.
func (r *pgReport) partitions(t *testing.T, server *pgtest.Server, citus *pgtest.Citus) {
	stores := []struct{ name, url string }{
		{"PostgreSQL, without parts", server.Schema(t)},
		{"PostgreSQL, 32 parts", server.Schema(t) + "&parts=32"},
	}
	if pgtest.HasCitus() {
		stores = append(stores, struct{ name, url string }{"Citus, 32 parts on two workers", citus.Schema(t) + "&parts=32"})
	}
	r.parts = make([]divided, len(stores))
	r.partsLoad[0] = load()
	engines := make([]*sequent.Engine, len(stores))
	for i, s := range stores {
		r.parts[i].name = s.name
		engines[i] = sequent.New(sequent.Config{Store: openStore(t, s.url)})
	}
	for round := range r.plan.turns {
		for i := range stores {
			var mu sync.Mutex
			var all []float64
			rate := crowd(t, owners, r.plan.during, func(client, _ int) error {
				begun := time.Now()
				err := appendTo(t.Context(), engines[i].Owned(fmt.Sprint("owner", client)), "a", r.plan.size)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, time.Since(begun).Seconds())
				return err
			})
			if round > 0 || r.plan.turns == 1 { // the first round begins the sessions
				if d := &r.parts[i]; rate > d.rate {
					slices.Sort(all)
					d.rate, d.late = rate, all[len(all)*99/100]
				}
			}
		}
	}
	r.partsLoad[1] = load()
}

// partsSection describes what partitions has measured.
func (r *pgReport) partsSection() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
## In parts

Appends by %d owners at a time, each in a session of its own, through one process. The load average was %s at the start of
these rounds and %s at their end. A batch of many owners is a statement for each of their parts, in one transaction on one
server, so on one machine parts cost appends, and give nothing; with Citus it is a transaction for each part, and coordinator
and both workers share the same cores here.

| store | appends per second | ratio | 99th percentile of an append, ms |
|---|--:|--:|--:|
`, owners, r.partsLoad[0], r.partsLoad[1])
	for _, d := range r.parts {
		fmt.Fprintf(&b, "| %s | %s | %.2fx | %.1f |\n", d.name, figure(d.rate), d.rate/r.parts[0].rate, 1e3*d.late)
	}
	return b.String()
}

// TestParts measures stores in parts alone, and logs the section of the page.
func TestParts(t *testing.T) {
	if *page == "" {
		t.Skip("TestPostgres includes it")
	}
	server, citus := databases(t)
	r := &pgReport{plan: pgPlan{plan: plan{size: 200}, turns: 10, during: time.Second}}
	r.partitions(t, server, citus)
	t.Log(r.partsSection())
}

// databases returns servers whose commits survive a loss of power.
func databases(t *testing.T) (*pgtest.Server, *pgtest.Citus) {
	t.Helper()
	server, citus := &pgtest.Server{Durable: true}, &pgtest.Citus{Durable: true}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if err := citus.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server, citus
}
