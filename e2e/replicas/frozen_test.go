//go:build unix

package replicas

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A replica is frozen again and again while it writes to sessions that another
// replica also writes to, so that it stops with some of them locked. The other
// replica's calls for other sessions take as long as before. At the end every
// confirmed thought is stored once.
func TestFrozenReplica(t *testing.T) {
	times, frozen := 4, time.Second
	if os.Getenv("SEQUENT_LONG") != "" {
		times, frozen = 50, 3*time.Second
	}
	store := database.Schema(t)
	c := newCluster(t, programtest.Build(t), store)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	const victim, other, own, shared = 0, 1, 8, 3

	var confirmed sync.Map // text to true
	var stop atomic.Bool
	// write records thoughts in a session until stop, at one replica.
	write := func(replica int, name, session string, each func() (done func())) {
		client := c.client(rand.New(rand.NewPCG(1, 2)), true, name)
		for n := 0; !stop.Load() && ctx.Err() == nil; n++ {
			text := fmt.Sprintf("%s has idea %d: %s", name, n, idea(client.rng))
			args := inJSON(arguments{Thought: text, Total: 10, More: true, SessionID: session})
			done := each()
			answer, err := client.callOf(ctx, replica, "sequentialthinking", args)
			var r reply
			if err == nil {
				err = json.Unmarshal([]byte(answer), &r)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			session = cmp.Or(session, r.SessionID)
			confirmed.Store(text, true)
			done()
		}
	}
	begin := c.client(rand.New(rand.NewPCG(3, 4)), true, "begin")
	var sharedIDs []string
	for i := range shared {
		text := fmt.Sprint("the beginning of session ", i)
		answer, err := begin.callOf(ctx, other, "sequentialthinking", inJSON(arguments{Thought: text, Total: 10, More: true}))
		var r reply
		if err == nil {
			err = json.Unmarshal([]byte(answer), &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		confirmed.Store(text, true)
		sharedIDs = append(sharedIDs, r.SessionID)
		begin = c.client(rand.New(rand.NewPCG(3, uint64(i))), true, fmt.Sprint("begin-", i))
	}
	var wg sync.WaitGroup
	for i, id := range sharedIDs {
		for _, replica := range []int{victim, victim, other} {
			name := fmt.Sprintf("writer-%d-%d-%d", i, replica, rand.Uint32())
			wg.Go(func() { write(replica, name, id, func() func() { return func() {} }) })
		}
	}
	var mu sync.Mutex
	var now *[]time.Duration
	var undisturbed, disturbed []time.Duration
	now = &undisturbed
	for i := range own {
		wg.Go(func() {
			write(other, fmt.Sprint("owner-", i), "", func() func() {
				mu.Lock()
				defer mu.Unlock()
				start, what := time.Now(), now // what happens when the call begins
				return func() {
					mu.Lock()
					defer mu.Unlock()
					*what = append(*what, time.Since(start))
				}
			})
		})
	}
	during := func(what *[]time.Duration, d time.Duration) {
		mu.Lock()
		now = what
		mu.Unlock()
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	// freeze stops the victim, if possible with a session locked.
	holding := 0
	freeze := func() {
		for range 50 {
			c.replicas[victim].Signal(t, syscall.SIGSTOP)
			time.Sleep(30 * time.Millisecond)
			var holds bool
			if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE state = 'idle in transaction' AND state_change < now() - INTERVAL '20 ms')`).Scan(&holds); err != nil {
				t.Fatal(err)
			}
			if holds {
				holding++
				return
			}
			c.replicas[victim].Signal(t, syscall.SIGCONT)
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		}
		c.replicas[victim].Signal(t, syscall.SIGSTOP)
	}
	for range times {
		during(&undisturbed, frozen/2)
		freeze()
		during(&disturbed, frozen)
		c.replicas[victim].Signal(t, syscall.SIGCONT)
		during(&undisturbed, frozen/2)
	}
	stop.Store(true)
	wg.Wait()
	if t.Failed() {
		return
	}
	if len(undisturbed) < 100 || len(disturbed) < 100 {
		t.Fatalf("%d calls undisturbed, %d while the replica was frozen; want at least 100", len(undisturbed), len(disturbed))
	}
	slices.Sort(undisturbed)
	slices.Sort(disturbed)
	late := func(all []time.Duration) time.Duration { return all[len(all)*99/100] }
	t.Logf("the replica was frozen %d times with a session locked", holding)
	t.Logf("of %d calls undisturbed, the slowest 1%% took %v or more; while the replica was frozen %d times for %v, of %d, %v or more, and at most %v",
		len(undisturbed), late(undisturbed), times, frozen, len(disturbed), late(disturbed), disturbed[len(disturbed)-1])
	if limit := max(2*late(undisturbed), 150*time.Millisecond); late(disturbed) > limit {
		t.Errorf("while the replica was frozen, the slowest 1%% of calls took %v or more, want at most %v", late(disturbed), limit)
	}

	rows, err := conn.Query(ctx, "SELECT text FROM tool_log WHERE kind = 'thought'")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, text := range stored {
		count[text]++
	}
	confirmed.Range(func(text, _ any) bool {
		if n := count[text.(string)]; n != 1 {
			t.Errorf("%q was confirmed and is stored %d times", text, n)
		}
		return true
	})
}
