//go:build unix

package replicas

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/store/postgres"
)

var seed = flag.Uint64("seed", 0, "seed of the clients' actions; 0 means a random one")

const (
	thoughts = 50 // per session
	parallel = 32 // concurrent sessions
)

// Clients of both eras record sessions, some with two authors, and send each call
// to a random replica. During the calls one replica is killed and one is stopped;
// each is replaced at another address. A call without an answer is repeated with
// its request key, and so are some others. At the end every replica has exactly the
// thoughts that the replies confirmed.
func TestEveryCallToAnyReplica(t *testing.T) {
	t.Parallel()
	store, sessions := database.Schema(t), 200
	start := *seed
	for start == 0 {
		start = rand.Uint64()
	}
	t.Logf("to repeat: go test -C e2e ./replicas -run %s -seed %d", t.Name(), start)
	c := newCluster(t, programtest.Build(t), store)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	begin := time.Now()
	notebooks := make([]*notebook, sessions)
	waiting := make(chan int, sessions)
	for i := range notebooks {
		notebooks[i] = &notebook{shared: i%10 == 9, thoughts: make(map[string]*recorded)}
		waiting <- i
	}
	close(waiting)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for i := range waiting {
				rng := rand.New(rand.NewPCG(start, uint64(i)))
				if err := write(ctx, c.client(rng, i%2 == 0, fmt.Sprint("user", i)), notebooks[i]); err != nil {
					t.Errorf("session %d: %v", i, err)
					cancel()
					return
				}
			}
		})
	}
	defer func() { cancel(); wg.Wait() }() // also if a replica fails to start
	reached := func(share float64) func() {
		return func() {
			for float64(c.answered.Load()) < share*float64(sessions*thoughts) && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
	victims := rand.New(rand.NewPCG(start, uint64(sessions))).Perm(size)
	reached(0.25)()
	c.replace(t, victims[0], (*programtest.Server).Kill, reached(0.4))
	reached(0.6)()
	c.replace(t, victims[1], (*programtest.Server).Stop, reached(0.75))
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d calls in %.1f s; %d requests without an answer, %d to a replica without the client's MCP session",
		c.answered.Load(), time.Since(begin).Seconds(), c.lost.Load(), c.strayed.Load())
	if c.lost.Load() == 0 || c.strayed.Load() == 0 {
		t.Error("no call was interrupted, so the test proves nothing")
	}

	begin = time.Now()
	for replica := range size {
		wg.Go(func() {
			reader := c.client(rand.New(rand.NewPCG(start, uint64(sessions+1+replica))), replica > 0, "reader")
			for _, n := range notebooks {
				if err := compare(ctx, reader, replica, n); err != nil {
					t.Errorf("replica %d, session %s: %v", replica, n.id, err)
				}
			}
		})
	}
	wg.Wait()
	s, err := postgres.Open(ctx, postgres.Config{URL: store, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	usage, err := s.Usage(ctx, sequent.UsageQuery{AllOwners: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(usage) != 1 || usage[0].Sessions != sessions || usage[0].Thoughts != sessions*thoughts {
		t.Errorf("the store has %+v, want %d sessions and %d thoughts of one owner", usage, sessions, sessions*thoughts)
	}
	t.Logf("compared in %.1f s", time.Since(begin).Seconds())
}

// write fills a session. In a shared session a second author writes to a branch
// concurrently.
func write(ctx context.Context, c *client, n *notebook) error {
	first := &author{client: c, notebook: n, name: "A", lines: []line{{}}}
	if err := first.think(ctx, false); err != nil {
		return err
	}
	count := thoughts
	second := make(chan error, 1)
	if n.shared {
		count = thoughts / 2
		other := &author{client: c.twin(), notebook: n, name: "B", lines: []line{{branch: "B", opens: pick(c.rng, []int{1})}}}
		go func() { second <- other.fill(ctx, thoughts-count) }()
	} else {
		second <- nil
	}
	err := first.fill(ctx, count)
	if other := <-second; err == nil {
		err = other
	}
	return err
}

// compare checks that a replica returns a session as the replies confirmed it.
func compare(ctx context.Context, c *client, replica int, n *notebook) error {
	text, err := c.read(ctx, replica, "sequent://sessions/"+n.id+"/json")
	if err != nil {
		return err
	}
	var s struct {
		State    string
		Thoughts []recorded
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	if len(s.Thoughts) != thoughts || len(n.thoughts) != thoughts {
		return fmt.Errorf("got %d thoughts, and replies confirmed %d, want %d", len(s.Thoughts), len(n.thoughts), thoughts)
	}
	for i, got := range s.Thoughts {
		confirmed := n.thoughts[got.Request.Key]
		if confirmed == nil {
			return fmt.Errorf("no reply confirmed thought %d: %s", i+1, inJSON(got))
		}
		want := *confirmed
		want.Seq, want.line, want.sent, want.answered = i+1, "", "", ""
		a, b := inJSON(got), inJSON(want)
		if a != b {
			return fmt.Errorf("thought %d is\n%s, want\n%s", i+1, a, b)
		}
	}
	if want := map[bool]string{false: "active", true: "completed"}[s.Thoughts[thoughts-1].Final]; s.State != want {
		return fmt.Errorf("got state %s, want %s", s.State, want)
	}
	recalled, err := c.callOf(ctx, replica, "recall_thinking", `{"sessionId":"`+n.id+`","view":"log","maxTokens":100000}`)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(strings.Split(recalled, "\n"), func(line string) bool { // of the head
		return strings.HasPrefix(line, "asked: ") || strings.HasPrefix(line, "now: ") || strings.HasPrefix(line, "lines: ")
	})
	if len(lines) != thoughts+1 {
		return fmt.Errorf("recall_thinking returned %s", recalled)
	}
	for i, line := range lines[1:] {
		t := s.Thoughts[i]
		if !strings.HasPrefix(line, fmt.Sprintf("%s#%d ", t.Branch, t.Number)) || !strings.HasSuffix(line, t.Text) {
			return fmt.Errorf("recall_thinking returned thought %d as %s, want %s", i+1, line, t.Text)
		}
	}
	return nil
}

func inJSON[T any](v T) string {
	text, _ := json.Marshal(v) // plain values
	return string(text)
}
