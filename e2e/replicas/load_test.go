//go:build unix

package replicas

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A load has clients that record thoughts until it ends, and compares what replicas have with what
// their replies confirmed.
type load struct {
	*cluster
	t      *testing.T
	ctx    context.Context
	cancel context.CancelFunc
	stop   atomic.Bool
	wg     sync.WaitGroup

	mu       sync.Mutex
	sessions []*session
}

// A session has what replies have confirmed.
type session struct {
	id       string // set by the first thought
	mu       sync.Mutex
	thoughts map[string]thought // by request key
	calls    []call
}

// A call is the time that one took with its repetitions.
type call struct {
	begun time.Time
	took  time.Duration
}

func newLoad(t *testing.T, store string) *load {
	t.Helper()
	l := &load{cluster: newCluster(t, programtest.Build(t), store), t: t}
	l.ctx, l.cancel = context.WithTimeout(t.Context(), 9*time.Minute)
	t.Cleanup(func() { l.cancel(); l.wg.Wait() })
	return l
}

// write starts writers of either protocol. Each records one session after the other at random
// replicas; two clients share every fourth session.
func (l *load) write(writers int) {
	for i := range writers {
		l.wg.Go(func() {
			for k := 0; l.goesOn(); k++ {
				scope := fmt.Sprintf("user%d.%d", i, k)
				s := l.begin(l.client(i%2 == 0, scope))
				var authors sync.WaitGroup
				for a := range 1 + k%4/3 {
					authors.Go(func() { l.author(l.client(i%2 == 0, scope), s, fmt.Sprint("author", a), 30) })
				}
				authors.Wait()
			}
		})
	}
}

func (l *load) goesOn() bool { return !l.stop.Load() && l.ctx.Err() == nil }

// begin records the first thought of a session.
func (l *load) begin(c *client) *session {
	s := &session{thoughts: make(map[string]thought)}
	l.author(c, s, "first", 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions = append(l.sessions, s)
	return s
}

// author records so many thoughts in a session.
func (l *load) author(c *client, s *session, name string, count int) {
	for n := 0; n < count && (s.id == "" || l.goesOn()) && l.ctx.Err() == nil; n++ {
		if err := l.think(c, s, fmt.Sprintf("%s-%d", name, n)); err != nil {
			l.t.Errorf("session %s: %v", s.id, err)
			l.cancel()
		}
	}
}

// think records a thought. Now and then it makes the call also with a second client at the same
// time, as a load balancer that retries after a timeout, or once more: the answers are the same.
func (l *load) think(c *client, s *session, key string) error {
	t := thought{Text: fmt.Sprintf("%s: %x %x %x", key, c.rng.Uint64(), c.rng.Uint64(), c.rng.Uint64())}
	args := map[string]any{"thought": t.Text, "totalThoughts": 9, "nextThoughtNeeded": true, "requestKey": key}
	if s.id != "" {
		args["sessionId"] = s.id
	}
	line, _ := json.Marshal(args) // plain values
	clients := []*client{c}
	if s.id != "" && c.rng.IntN(30) == 0 {
		clients = append(clients, l.client(c.modern, c.scope, c.at...))
	}
	begun := time.Now()
	answers, failed := make([]string, len(clients)), make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() { answers[i], failed[i] = c.call(l.ctx, "sequentialthinking", string(line)) })
	}
	wg.Wait()
	took := time.Since(begun)
	if c.rng.IntN(30) == 0 {
		again, err := c.call(l.ctx, "sequentialthinking", string(line))
		answers, failed = append(answers, again), append(failed, err)
	}
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	if len(slices.Compact(answers)) != 1 {
		return fmt.Errorf("%s, made twice: got %q", line, answers)
	}
	var reply struct {
		SessionID     string
		ThoughtNumber int
	}
	if err := json.Unmarshal([]byte(answers[0]), &reply); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		s.id = reply.SessionID
	}
	t.Number, t.Request.Key = reply.ThoughtNumber, key
	s.thoughts[key], s.calls = t, append(s.calls, call{begun, took})
	return nil
}

// more waits until so many calls more were answered.
func (l *load) more(calls int64) {
	l.t.Helper()
	begun := time.Now()
	for enough := l.answered.Load() + calls; l.answered.Load() < enough; {
		if l.ctx.Err() != nil {
			l.t.Fatalf("%d of %d calls were not answered", enough-l.answered.Load(), calls)
		}
		time.Sleep(5 * time.Millisecond)
	}
	l.t.Logf("%d calls were answered in %.2f s", calls, time.Since(begun).Seconds())
}

// end ends the load. Then each replica has the confirmed thoughts, each once and under its number,
// the store has no other sessions, and all logs are proven.
func (l *load) end(store string) {
	l.t.Helper()
	l.stop.Store(true)
	l.wg.Wait()
	if l.t.Failed() {
		l.t.FailNow()
	}
	total := 0
	var compared sync.WaitGroup
	for _, s := range l.sessions {
		total += len(s.thoughts)
	}
	for replica := range size {
		compared.Go(func() {
			reader := l.client(replica > 0, "reader", replica)
			for _, s := range l.sessions {
				thoughts, err := reader.read(l.ctx, s.id)
				if err != nil || len(thoughts) != len(s.thoughts) {
					l.t.Errorf("replica %d, session %s: %d thoughts, %v; replies confirmed %d", replica, s.id, len(thoughts), err, len(s.thoughts))
				}
				for i, got := range thoughts {
					want := s.thoughts[got.Request.Key]
					if want.Seq = i + 1; got != want || got.Number != i+1 {
						l.t.Errorf("replica %d, session %s: thought %d is %+v, want %+v", replica, s.id, i+1, got, want)
					}
				}
			}
		})
	}
	compared.Wait()
	const sums = "SELECT (SELECT count(*) FROM tool_sessions) || ' ' || (SELECT count(*) FROM tool_log WHERE kind = 'thought')"
	if got, want := valueOf(l.t, store, sums), fmt.Sprint(len(l.sessions), " ", total); got != want {
		l.t.Errorf("the store has sessions and thoughts %s, want %s", got, want)
	}
	programtest.Output(l.t, exec.Command(l.program, "store", "verify", "--all", "--store", store))
	l.t.Logf("%d thoughts in %d sessions, %s; %d requests without an answer, %d to a replica without the client's MCP session",
		total, len(l.sessions), describe(latencies(l.sessions, time.Time{}, time.Now())), l.lost.Load(), l.strayed.Load())
}

// latencies returns how long the calls took that began between two times, ordered.
func latencies(sessions []*session, from, to time.Time) (all []time.Duration) {
	for _, s := range sessions {
		for _, c := range s.calls {
			if c.begun.After(from) && c.begun.Before(to) {
				all = append(all, c.took)
			}
		}
	}
	slices.Sort(all)
	return all
}

func describe(all []time.Duration) string {
	return fmt.Sprintf("median %v, p99 %v, longest %v", all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
}

// valueOf returns the result of a query.
func valueOf(t *testing.T, store, query string) (v string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), strings.Replace(store, "&distributed=1", "", 1)) // which is ours
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
