//go:build unix

package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// Replicas write to a store on a Citus cluster while the cluster moves a shard to the
// other worker and back, and while the worker that has it is killed and started again. A
// call without an answer is repeated with its request key. At the end the replicas have
// exactly the thoughts that the replies confirmed, each log is proven, and followers have
// seen every thought once and in order.
func TestCitus(t *testing.T) {
	t.Parallel()
	var citus pgtest.Citus
	t.Cleanup(func() {
		if err := citus.Stop(); err != nil {
			t.Error(err)
		}
	})
	const writers, followed = 8, 100
	store := citus.Schema(t)
	program := programtest.Build(t)
	c := newCluster(t, program, store)
	c.patient = true
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	start := rand.Uint64()

	var wg sync.WaitGroup
	defer func() { cancel(); wg.Wait() }()
	var mu sync.Mutex
	var notebooks []*notebook
	var stop atomic.Bool
	for i := range writers {
		rng := rand.New(rand.NewPCG(start, uint64(i)))
		wg.Go(func() {
			for k := 0; !stop.Load(); k++ {
				n := &notebook{shared: k%4 == 3, thoughts: make(map[string]*recorded)}
				if err := write(ctx, c.client(rng, i%2 == 0, fmt.Sprintf("user%d.%d", i, k)), n); err != nil {
					t.Errorf("session %d of writer %d: %v", k, i, err)
					cancel()
					return
				}
				mu.Lock()
				notebooks = append(notebooks, n)
				mu.Unlock()
			}
		})
	}
	wait := c.followed(ctx, t, &wg, program, store, followed)
	// more waits until the writers have had some answers more.
	more := func() {
		for enough := c.answered.Load() + 10*writers; c.answered.Load() < enough && ctx.Err() == nil; {
			time.Sleep(5 * time.Millisecond)
		}
	}
	more()
	port := 0
	for range 2 { // there and back: to a server with higher ids of transactions, and to one with lower ids
		begin := time.Now()
		port = citus.Move(t, store)
		t.Logf("a move took %.1f s; meanwhile %s", time.Since(begin).Seconds(), c.latencies(begin, time.Now()))
		more()
	}
	begin := time.Now()
	citus.KillWorker(t, port)
	citus.StartWorker(t, port)
	t.Logf("the worker was started again after %.1f s", time.Since(begin).Seconds())
	more()
	stop.Store(true)
	wait()
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d calls were answered, %d were not; of all: %s", c.answered.Load(), c.lost.Load(), c.latencies(time.Time{}, time.Now()))
	for i, n := range notebooks {
		reader := c.client(rand.New(rand.NewPCG(start, uint64(writers+i))), true, "reader")
		if err := compare(ctx, reader, i%size, n); err != nil {
			t.Errorf("replica %d, session %s: %v", i%size, n.id, err)
		}
	}
	programtest.Output(t, exec.Command(program, "store", "verify", "--all", "--store", store))
}

// followed records a session of count thoughts at one replica, and follows it elsewhere.
// The function that it returns waits until all followers have seen all.
func (c *cluster) followed(ctx context.Context, t *testing.T, wg *sync.WaitGroup, program, store string, count int) (wait func()) {
	t.Helper()
	writer := c.client(rand.New(rand.NewPCG(1, 1)), true, "follow")
	record := func(i int, id string) (r reply, err error) {
		args := inJSON(arguments{
			Thought: fmt.Sprint("thought ", i, idea(writer.rng)), Total: count, More: i < count, RequestKey: fmt.Sprint(i), SessionID: id,
		})
		text, err := writer.call(ctx, "sequentialthinking", args)
		if err == nil {
			err = json.Unmarshal([]byte(text), &r)
		}
		if err == nil && r.ThoughtNumber != i {
			err = fmt.Errorf("thought %d: got %s", i, text)
		}
		return r, err
	}
	first, err := record(1, "")
	if err != nil {
		t.Fatal(err)
	}
	followers := map[string]<-chan int{
		"watch":   watch(ctx, t, program, store, first.SessionID),
		"library": follow(ctx, t, store, first.SessionID),
	}
	var seen sync.WaitGroup
	for name, at := range followers {
		seen.Go(func() {
			for n := 1; n <= count; n++ {
				select {
				case seq, ok := <-at:
					if !ok || seq != n {
						t.Errorf("%s: got thought %d instead of %d (%v)", name, seq, n, ok)
						return
					}
				case <-ctx.Done():
					t.Errorf("%s: timeout before thought %d", name, n)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for i := 2; i <= count; i++ {
			if _, err := record(i, first.SessionID); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("the followed session: %v", err)
				return
			}
			time.Sleep(50 * time.Millisecond) // so that it goes on during the moves
		}
	})
	return seen.Wait
}

// A span is the time of a call.
type span struct {
	begin time.Time
	took  time.Duration
}

// latencies describes the calls that were answered between two times.
func (c *cluster) latencies(from, to time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []time.Duration
	for _, s := range c.spans {
		if end := s.begin.Add(s.took); end.After(from) && end.Before(to) {
			all = append(all, s.took)
		}
	}
	if len(all) == 0 {
		return "0 calls"
	}
	slices.Sort(all)
	at := func(share float64) int64 { return all[int(share*float64(len(all)-1))].Milliseconds() }
	return fmt.Sprintf("%d calls: median %d ms, p99 %d ms, longest %d ms", len(all), at(0.5), at(0.99), at(1))
}
