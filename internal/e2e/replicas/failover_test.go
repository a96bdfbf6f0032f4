//go:build unix

package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// replicated starts a database with a standby, and returns the URL of whichever of them
// accepts writes.
func replicated(t *testing.T) (primary, standby *pgtest.Server, store string) {
	t.Helper()
	primary, standby = new(pgtest.Server), new(pgtest.Server)
	t.Cleanup(func() {
		if err := errors.Join(primary.Stop(), standby.Stop()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(primary.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	standby.Clone(t, primary)
	standby.Follow(t, primary)
	return primary, standby, primary.URL(u.Query().Get("search_path"), standby)
}

// The database fails over to a synchronous standby while replicas write. Calls wait or
// are repeated with their request keys; at the end every replica has exactly the
// thoughts that the replies confirmed.
func TestFailover(t *testing.T) {
	t.Parallel()
	const sessions = 16
	primary, standby, store := replicated(t)
	primary.Synchronous(t)
	program := programtest.Build(t)
	c := newCluster(t, program, store)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	start := rand.Uint64()
	notebooks := make([]*notebook, sessions)
	var wg sync.WaitGroup
	for i := range notebooks {
		notebooks[i] = &notebook{shared: i%4 == 3, thoughts: make(map[int]*recorded)}
		wg.Go(func() {
			if err := write(ctx, c.client(rand.New(rand.NewPCG(start, uint64(i))), i%2 == 0, fmt.Sprint("user", i)), notebooks[i]); err != nil {
				t.Errorf("session %d: %v", i, err)
				cancel()
			}
		})
	}
	defer func() { cancel(); wg.Wait() }() // also if the standby is not promoted
	for c.answered.Load() < sessions*thoughts/3 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	primary.Kill(t)
	begun := time.Now()
	standby.Promote(t)
	t.Logf("the promotion took %.1f s", time.Since(begun).Seconds())
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d calls were answered, %d were not", c.answered.Load(), c.lost.Load())
	for replica := range size {
		reader := c.client(rand.New(rand.NewPCG(start, uint64(sessions+replica))), true, "reader")
		for _, n := range notebooks {
			if err := compare(ctx, reader, replica, n); err != nil {
				t.Errorf("replica %d, session %s: %v", replica, n.id, err)
			}
		}
	}
	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var stored int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM thoughts").Scan(&stored); err != nil || stored != sessions*thoughts {
		t.Errorf("the store has %d thoughts, %v; want %d", stored, err, sessions*thoughts)
	}
	programtest.Output(t, exec.Command(program, "verify", "--all", "--store", store))
}

// The database fails over to an asynchronous standby that lacks the last two thoughts.
// All replicas, which have shown them, go back together and go on from there.
func TestFailoverLosesCommits(t *testing.T) {
	t.Parallel()
	primary, standby, store := replicated(t)
	program := programtest.Build(t)
	c := newCluster(t, program, store)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var id string
	clients := make([]*client, size)
	for i := range clients {
		clients[i] = c.client(rand.New(rand.NewPCG(1, uint64(i))), true, "all")
	}
	// do repeats a call while the database is not reachable.
	do := func(call func() (string, error)) string {
		t.Helper()
		for {
			text, err := call()
			if err == nil {
				return text
			}
			if !errors.Is(err, errUnavailable) || ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	think := func(replica int, word string) string {
		t.Helper()
		text := "heron " + word
		args := inJSON(arguments{Thought: text, Total: 10, More: true, RequestKey: word, SessionID: id})
		answer := do(func() (string, error) { return clients[replica].callOf(ctx, replica, "sequentialthinking", args) })
		var r reply
		if err := json.Unmarshal([]byte(answer), &r); err != nil {
			t.Fatal(err)
		}
		id = r.SessionID
		return text
	}
	// shows checks what every replica has and finds.
	shows := func(when string, want, not []string) {
		t.Helper()
		for replica := range size {
			text := do(func() (string, error) {
				text, err := clients[replica].read(ctx, replica, "sequent://sessions/"+id+"/json")
				if err != nil && strings.Contains(err.Error(), "UNAVAILABLE") {
					err = errUnavailable
				}
				return text, err
			})
			var s struct{ Thoughts []recorded }
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, th := range s.Thoughts {
				got = append(got, th.Text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: replica %d has %q, want %q", when, replica, got, want)
			}
			found := do(func() (string, error) {
				return clients[replica].callOf(ctx, replica, "recall_thinking", `{"query":"heron","limit":50,"maxTokens":10000}`)
			})
			for _, text := range want {
				if strings.Count(found, text) != 1 {
					t.Errorf("%s: replica %d finds %s, want %q once", when, replica, found, text)
				}
			}
			for _, text := range not {
				if strings.Contains(found, text) {
					t.Errorf("%s: replica %d finds %s, which has %q", when, replica, found, text)
				}
			}
		}
	}
	var kept []string
	for i := range 2 * size {
		kept = append(kept, think(i%size, fmt.Sprint("kept", i)))
	}
	shows("at first", kept, nil)
	standby.StopReceiving(t, primary)
	lost := []string{think(0, "lost0"), think(1, "lost1")}
	shows("before the failover", slices.Concat(kept, lost), nil)
	primary.Kill(t)
	standby.Promote(t)
	shows("after the failover", kept, lost)
	for i := range 2 * size {
		kept = append(kept, think(i%size, fmt.Sprint("new", i)))
	}
	shows("in the end", kept, lost)
	programtest.Output(t, exec.Command(program, "verify", "--all", "--store", store))
}
