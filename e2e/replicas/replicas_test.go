//go:build unix

package replicas

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// Clients send each call to any replica. Meanwhile one replica is killed and one is stopped, and
// each is replaced at another address. A call without an answer is repeated with its request key.
func TestEveryCallToAnyReplica(t *testing.T) {
	t.Parallel()
	store := database.Schema(t)
	l := newLoad(t, store)
	l.write(32)
	victims := rand.Perm(size)
	l.more(1500)
	l.replace(t, victims[0], (*programtest.Server).Kill, func() { l.more(1000) })
	l.more(1000)
	l.replace(t, victims[1], (*programtest.Server).Stop, func() { l.more(1000) })
	l.more(1500)
	l.end(store)
	if l.lost.Load() == 0 || l.strayed.Load() == 0 {
		t.Error("no call was interrupted, so the test proves nothing")
	}
}

// A replica is frozen again and again while it writes to sessions that another replica also
// writes to, so that it stops with some of them locked. The other replica's calls for other
// sessions take as long as before.
func TestFrozenReplica(t *testing.T) {
	const times, frozen, victim, other = 4, time.Second, 0, 1
	store := database.Schema(t)
	l := newLoad(t, store)
	const endless = 1 << 30
	for n := range 3 {
		shared := l.begin(l.client(true, fmt.Sprint("shared", n), other))
		for i, at := range []int{victim, victim, other} {
			l.wg.Go(func() { l.author(l.client(true, "shared", at), shared, string(rune('a'+i)), endless) })
		}
	}
	var own []*session
	for n := range 8 {
		s := l.begin(l.client(true, fmt.Sprint("own", n), other))
		own = append(own, s)
		l.wg.Go(func() { l.author(l.client(true, "own", other), s, "own", endless) })
	}
	conn, err := pgx.Connect(l.ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	// freeze stops the victim, if possible with a session locked.
	holding := 0
	freeze := func() {
		for range 50 {
			l.replicas[victim].Signal(t, syscall.SIGSTOP)
			time.Sleep(30 * time.Millisecond)
			var holds bool
			if err := conn.QueryRow(l.ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE state = 'idle in transaction' AND state_change < now() - INTERVAL '20 ms')`).Scan(&holds); err != nil {
				t.Fatal(err)
			}
			if holds {
				holding++
				return
			}
			l.replicas[victim].Signal(t, syscall.SIGCONT)
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		}
		l.replicas[victim].Signal(t, syscall.SIGSTOP)
	}
	begun := time.Now()
	l.more(1000)
	calm := [2]time.Time{begun, time.Now()}
	var disturbed [times][2]time.Time
	for i := range disturbed {
		freeze()
		disturbed[i][0] = time.Now()
		time.Sleep(frozen)
		disturbed[i][1] = time.Now()
		l.replicas[victim].Signal(t, syscall.SIGCONT)
		l.more(100)
	}
	l.end(store)
	t.Logf("the replica was frozen %d times of %d with a session locked", holding, times)
	before := latencies(own, calm[0], calm[1])
	for _, d := range disturbed {
		during := latencies(own, d[0], d[1])
		if len(before) < 100 || len(during) < 20 {
			t.Fatalf("%d calls before, %d while the replica was frozen", len(before), len(during))
		}
		late := func(all []time.Duration) time.Duration { return all[len(all)*95/100] }
		if limit := max(2*late(before), 150*time.Millisecond); late(during) > limit {
			t.Errorf("while the replica was frozen, the slowest 5%% of calls took %v or more, want at most %v", late(during), limit)
		}
	}
}

// Replicas write to a store on a Citus cluster while the cluster moves a shard to the other
// worker and back, and while the worker that has it is killed and started again. A follower
// sees every thought of a session once and in order.
func TestCitus(t *testing.T) {
	t.Parallel()
	var citus pgtest.Citus
	t.Cleanup(func() {
		if err := citus.Stop(); err != nil {
			t.Error(err)
		}
	})
	store := citus.Schema(t)
	l := newLoad(t, store)
	l.patient = true
	l.write(8)
	f := l.follow()
	f.watch(store)
	l.wg.Go(func() {
		for n := 1; l.goesOn(); n++ {
			f.record(n)
		}
	})
	l.more(80)
	port := 0
	var moves [2][2]time.Time
	for i := range moves { // there and back: to a server with higher ids of transactions, and to one with lower ids
		moves[i][0] = time.Now()
		port = citus.Move(t, store)
		moves[i][1] = time.Now()
		l.more(80)
	}
	citus.RestartWorker(t, port)
	l.more(80)
	l.end(store)
	f.seen()
	for _, m := range moves {
		t.Logf("a move took %v; calls meanwhile: %s", m[1].Sub(m[0]), describe(latencies(l.sessions, m[0], m[1])))
	}
}
