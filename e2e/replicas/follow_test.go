//go:build unix

package replicas

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/store/postgres"
)

// Three followers see every thought of a session once and in order, while database
// connections are terminated and the database is restarted: sequent watch, a
// program that uses the library, and a client that subscribes at another replica.
func TestFollowFromAnotherReplica(t *testing.T) {
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	store, program := own.Schema(t), programtest.Build(t)
	c := newCluster(t, program, store)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const recorder, elsewhere, count = 0, 1, 300
	writer := c.client(rand.New(rand.NewPCG(1, 1)), true, "follow")
	record := func(i int, id string) (r reply) {
		t.Helper()
		args := inJSON(arguments{
			Thought: fmt.Sprint("thought ", i, idea(writer.rng)), Total: count, More: i < count,
			RequestKey: fmt.Sprint(i), SessionID: id,
		})
		for {
			text, err := writer.callOf(ctx, recorder, "sequentialthinking", args)
			if errors.Is(err, errUnavailable) && ctx.Err() == nil {
				continue // until the database has restarted
			}
			if err == nil {
				err = json.Unmarshal([]byte(text), &r)
			}
			if err != nil || r.ThoughtNumber != i {
				t.Fatalf("thought %d: got %s (%v)", i, text, err)
			}
			return r
		}
	}
	id := record(1, "").SessionID

	followers := map[string]<-chan int{
		"watch":     watch(ctx, t, program, store, id),
		"library":   follow(ctx, t, store, id),
		"subscribe": c.subscribe(ctx, t, elsewhere, id),
	}
	seen := make(map[string]int)
	// until waits until each follower has seen n thoughts.
	until := func(n int) {
		t.Helper()
		for name, at := range followers {
			for seen[name] < n {
				select {
				case seq, ok := <-at:
					if !ok || seq != seen[name]+1 {
						t.Fatalf("%s: got thought %d after thought %d (%v)", name, seq, seen[name], ok)
					}
					seen[name] = seq
				case <-ctx.Done():
					t.Fatalf("%s: timeout after thought %d of %d", name, seen[name], n)
				}
			}
		}
	}
	until(1)
	for i := 2; i <= count; i++ {
		wait := i%10 == 0 // otherwise followers lag behind
		switch i {
		case count / 4, count / 3:
			if n := terminate(ctx, t, store); n < 4 {
				t.Errorf("terminated %d connections, want at least 4", n)
			}
			wait = true // no notification arrives for this thought
		case count / 2:
			own.Kill(t)
			own.Start(t)
		case count * 3 / 4:
			own.Shutdown(t)
			own.Start(t)
		}
		record(i, id)
		if wait {
			until(i)
		}
	}
	until(count)
}

// terminate terminates the database connections of all replicas and followers.
func terminate(ctx context.Context, t *testing.T, store string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name = 'sequent' AND pid <> pg_backend_pid()`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// watch runs sequent watch.
func watch(ctx context.Context, t *testing.T, program, store, id string) <-chan int {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, "watch", id, "--json", "--store", store)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(at)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var one struct{ Seq int }
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				t.Errorf("sequent watch printed %s: %v", lines.Text(), err)
			}
			select {
			case at <- one.Seq:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("sequent watch: %s", stderr.String())
		}
	})
	return at
}

// follow follows a session with the library.
func follow(ctx context.Context, t *testing.T, store, id string) <-chan int {
	t.Helper()
	s, err := postgres.Open(ctx, postgres.Config{URL: store, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	at := make(chan int)
	go func() {
		defer close(at)
		e := sequent.New(sequent.Config{Store: s})
		w, err := e.Watch(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		w.Add(sequent.Key{ID: sequent.ID(id)})
		for seen := 0; ctx.Err() == nil; {
			session, err := e.Session(ctx, sequent.ID(id))
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("the library: %v", err)
				}
				return
			}
			for thought := range session.Since(seen) {
				seen = thought.Seq
				select {
				case at <- seen:
				case <-ctx.Done():
				}
			}
			if _, err := w.Wait(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("the library: %v", err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range at {
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return at
}

// subscribe subscribes to a session at a replica, and reads the session after each
// notification.
func (c *cluster) subscribe(ctx context.Context, t *testing.T, replica int, id string) <-chan int {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	reader := c.client(rand.New(rand.NewPCG(2, 2)), false, "follow")
	uri := "sequent://sessions/" + id + "/json"
	if _, err := reader.askOf(ctx, replica, "resources/subscribe", uri, `"uri":"`+uri+`"`); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(replica)+"?scope=follow", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", reader.session)
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	res, err := new(http.Client).Do(r)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET of the event stream: got %v, %v", res, err)
	}
	at := make(chan int)
	news := make(chan struct{}, 1)
	news <- struct{}{} // for the thoughts before the subscription
	go func() {        // notifications during a read are combined
		defer close(news)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), uri) {
				select {
				case news <- struct{}{}:
				default:
				}
			}
		}
	}()
	go func() {
		defer close(at)
		seq := 0
		for range news {
			if ctx.Err() != nil {
				continue
			}
			text, err := reader.read(ctx, replica, uri)
			for err != nil && strings.Contains(err.Error(), "UNAVAILABLE") && ctx.Err() == nil {
				text, err = reader.read(ctx, replica, uri)
			}
			var s struct{ Thoughts []recorded }
			if err == nil {
				err = json.Unmarshal([]byte(text), &s)
			}
			if err != nil && ctx.Err() == nil {
				t.Errorf("read after a notification: %v", err)
				cancel()
			}
			for _, thought := range s.Thoughts[min(seq, len(s.Thoughts)):] {
				select {
				case at <- thought.Seq:
					seq = thought.Seq
				case <-ctx.Done():
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range at {
		}
	})
	return at
}
