//go:build unix

package replicas

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// pageSettings returns the lines of postgresql.conf that docs/scaling.md has.
func pageSettings(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```conf\n(.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/scaling.md has no settings")
	}
	return string(m[1])
}

// The primary of a synchronous standby is killed while 64 sessions are written, and the
// standby is promoted. Calls wait or are repeated with their request keys; at the end
// every replica has exactly the thoughts that the replies confirmed, in their order.
func TestFailover(t *testing.T) {
	t.Parallel()
	const sessions = 64
	primary, standby, store := pgtest.Replicated(t, pageSettings(t))
	primary.Synchronous(t)
	program := programtest.Build(t)
	c := newCluster(t, program, store)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	start := rand.Uint64()
	notebooks := make([]*notebook, sessions)
	var wg sync.WaitGroup
	for i := range notebooks {
		notebooks[i] = &notebook{shared: i%4 == 3, thoughts: make(map[string]*recorded)}
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
	killed := time.Now()
	primary.Crash(t)
	standby.Promote(t)
	promoted := time.Now()
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d calls were answered, %d were not", c.answered.Load(), c.lost.Load())
	outage(t, notebooks, killed, promoted)
	for replica := range size {
		reader := c.client(rand.New(rand.NewPCG(start, uint64(sessions+replica))), true, "reader")
		for _, n := range notebooks {
			if err := compare(ctx, reader, replica, n); err != nil {
				t.Errorf("replica %d, session %s: %v", replica, n.id, err)
			}
		}
	}
	now := standby.URL(schemaOf(t, store))
	if stored := valueOf(t, now, "SELECT count(*)::text FROM tool_log WHERE kind = 'thought'"); stored != fmt.Sprint(sessions*thoughts) {
		t.Errorf("the store has %s thoughts, want %d", stored, sessions*thoughts)
	}
	programtest.Output(t, exec.Command(program, "store", "verify", "--all", "--store", now))
}

// schemaOf returns the schema of a store.
func schemaOf(t *testing.T, store string) string {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("search_path")
}

// outage logs for how long no thought was confirmed, and fails if writing resumed later
// than a person would notice.
func outage(t *testing.T, notebooks []*notebook, killed, promoted time.Time) {
	t.Helper()
	const limit = 30 * time.Second // far more than it takes, for machines under load
	var confirmed []time.Time
	for _, n := range notebooks {
		for _, th := range n.thoughts {
			confirmed = append(confirmed, th.at)
		}
	}
	slices.SortFunc(confirmed, time.Time.Compare)
	var before, after time.Time
	for i, at := range confirmed[1:] {
		if confirmed[i].Before(promoted) && at.After(killed) && at.Sub(confirmed[i]) > after.Sub(before) {
			before, after = confirmed[i], at
		}
	}
	t.Logf("of %d thoughts, none was confirmed for %.2f s: from %.2f s after the kill until %.2f s after the promotion, which ended %.2f s after the kill",
		len(confirmed), after.Sub(before).Seconds(), before.Sub(killed).Seconds(), after.Sub(promoted).Seconds(), promoted.Sub(killed).Seconds())
	if resumed := after.Sub(promoted); resumed > limit {
		t.Errorf("the first thought was confirmed %v after the promotion", resumed)
	}
}

// A primary whose only synchronous standby has ended confirms nothing, and everything once
// the standby is back. sequent doctor says how commits are replicated.
func TestStandbyLost(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	primary, standby, store := pgtest.Replicated(t, pageSettings(t))
	finds := func(want string) {
		t.Helper()
		out, _ := exec.Command(program, "doctor", "--json", "--store", store).Output() // it exits with 1 after some findings
		if !strings.Contains(string(out), want) {
			t.Errorf("doctor prints %s, want %q", out, want)
		}
	}
	finds("commits do not wait for the connected standbys (1)")
	primary.Synchronous(t)
	finds("commits wait for *")
	c := newCluster(t, program, store)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	writer := c.client(rand.New(rand.NewPCG(1, 1)), true, "all")
	think := func(ctx context.Context, id, text string) (reply, error) {
		answer, err := writer.callOf(ctx, 0, "sequentialthinking", inJSON(arguments{Thought: text, Total: 3, More: true, RequestKey: text, SessionID: id}))
		var r reply
		if err == nil {
			err = json.Unmarshal([]byte(answer), &r)
		}
		return r, err
	}
	first, err := think(ctx, "", "with a standby")
	if err != nil {
		t.Fatal(err)
	}
	standby.Crash(t)
	finds("none of them is connected")
	hasty, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, err := think(hasty, first.SessionID, "without"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a thought that no standby has was answered with %v", err)
	}
	waiting := make(chan error, 1)
	go func() {
		again, err := think(ctx, first.SessionID, "without")
		if err == nil && again.ThoughtNumber != 2 {
			err = fmt.Errorf("the repeated call made thought %d, want 2", again.ThoughtNumber)
		}
		waiting <- err
	}()
	select {
	case err := <-waiting:
		t.Errorf("the repeated call was answered with %v before the standby was back", err)
	case <-time.After(time.Second):
	}
	standby.Start(t)
	started := time.Now()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	t.Logf("the call was answered %.2f s after the standby was back", time.Since(started).Seconds())
}

// The database fails over to an asynchronous standby that lacks the last two thoughts.
// All replicas, which have shown them, go back together and go on from there. A noted head
// tells the loss. The former primary becomes a standby without the lost thoughts.
func TestFailoverLosesCommits(t *testing.T) {
	t.Parallel()
	primary, standby, store := pgtest.Replicated(t, pageSettings(t))
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
		id = cmp.Or(id, r.SessionID)
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
			search := func(in string) string {
				return do(func() (string, error) {
					return clients[replica].callOf(ctx, replica, "recall_thinking", `{"query":"heron","limit":50,"maxTokens":10000`+in+`}`)
				})
			}
			if found := search(""); strings.Count(found, id+" ") != 1 { // by the index
				t.Errorf("%s: replica %d finds %s, want the session %s once", when, replica, found, id)
			}
			found := search(`,"sessionId":"` + id + `"`)
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
	noted := programtest.Output(t, exec.Command(program, "store", "verify", id, "--json", "--store", store))
	primary.Kill(t)
	standby.Promote(t)
	shows("after the failover", kept, lost)
	head := regexp.MustCompile(`"head": *"([0-9a-f]{64})"`).FindSubmatch(noted)
	if head == nil {
		t.Fatalf("verify prints no head: %s", noted)
	}
	verify := exec.Command(program, "store", "verify", id, "--head", string(head[1]), "--store", store)
	if out, err := verify.CombinedOutput(); err == nil || !strings.Contains(string(out), "is not on this log") {
		t.Errorf("verify with the head of the lost thoughts: %v\n%s", err, out)
	}
	for i := range 2 * size {
		kept = append(kept, think(i%size, fmt.Sprint("new", i)))
	}
	shows("in the end", kept, lost)
	programtest.Output(t, exec.Command(program, "store", "verify", "--all", "--store", store))
	primary.Rewind(t, standby)
	primary.Follow(t, standby)
	standby.Synchronous(t)
	primary.CatchUp(t, standby)
	const digest = "SELECT count(*) || md5(string_agg(t::text, ',' ORDER BY id)) FROM tool_log t"
	if a, b := valueOf(t, primary.URL(schemaOf(t, store)), digest), valueOf(t, standby.URL(schemaOf(t, store)), digest); a != b {
		t.Errorf("the former primary has the thoughts %s, want %s", a, b)
	}
}

// valueOf returns the result of a query.
func valueOf(t *testing.T, store, query string) (v string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
