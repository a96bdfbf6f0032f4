//go:build unix

package replicas

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/pgtest"
)

// Followers see every thought of a session once and in order, while connections to the database
// are terminated and the database is restarted: sequent watch, and a client that subscribes at
// another replica.
func TestFollowFromAnotherReplica(t *testing.T) {
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	store := own.Schema(t)
	l := newLoad(t, store)
	f := l.follow()
	f.watch(store)
	f.subscribe(1)
	f.seen()
	const count = 200
	for n := 1; n < count; n++ {
		switch n {
		case count / 4, count / 3:
			if n := valueOf(t, store, `SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
				WHERE application_name = 'sequent' AND pid <> pg_backend_pid()`); n < "4" {
				t.Errorf("terminated %s connections, want at least 4", n)
			}
			f.record(n)
			f.seen() // no notification arrives for this thought
			continue
		case count / 2:
			own.Kill(t)
			own.Start(t)
		case count * 3 / 4:
			own.Shutdown(t)
			own.Start(t)
		}
		if f.record(n); n%10 == 0 { // otherwise followers lag behind
			f.seen()
		}
	}
	l.end(store)
	f.seen()
}

// A following is a session that a client records at one replica and followers see.
type following struct {
	*load
	client    *client
	session   *session
	count     atomic.Int64 // recorded thoughts
	followers map[string]*atomic.Int64
}

func (l *load) follow() *following {
	l.t.Helper()
	f := &following{load: l, client: l.client(true, "follow", 0), followers: make(map[string]*atomic.Int64)}
	f.session = l.begin(f.client)
	f.count.Store(1)
	return f
}

// record records a thought.
func (f *following) record(n int) {
	if err := f.think(f.client, f.session, strconv.Itoa(n)); err != nil {
		f.t.Errorf("the followed session: %v", err)
		f.cancel()
		return
	}
	f.count.Add(1)
}

// follower returns what a follower calls for each thought that it sees.
func (f *following) follower(name string) (saw func(seq int)) {
	last := new(atomic.Int64)
	f.followers[name] = last
	return func(seq int) {
		if !last.CompareAndSwap(int64(seq-1), int64(seq)) {
			f.t.Errorf("%s: got thought %d after thought %d", name, seq, last.Load())
		}
	}
}

// seen waits until each follower has seen all thoughts.
func (f *following) seen() {
	f.t.Helper()
	for name, last := range f.followers {
		for ; last.Load() < f.count.Load(); time.Sleep(time.Millisecond) {
			if f.ctx.Err() != nil || f.t.Failed() {
				f.t.Fatalf("%s: saw %d of %d thoughts", name, last.Load(), f.count.Load())
			}
		}
	}
}

// watch runs sequent watch.
func (f *following) watch(store string) {
	f.t.Helper()
	cmd := exec.CommandContext(f.ctx, f.program, "watch", f.session.id, "--json", "--store", store)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	saw := f.follower("watch")
	f.wgFollow(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var one struct{ Seq int }
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				f.t.Errorf("sequent watch printed %s: %v", lines.Text(), err)
			}
			saw(one.Seq)
		}
		if _ = cmd.Wait(); f.t.Failed() { // it was killed
			f.t.Logf("sequent watch: %s", &stderr)
		}
	})
}

// subscribe subscribes at a replica, and reads the session after each notification.
func (f *following) subscribe(replica int) {
	f.t.Helper()
	reader := f.cluster.client(false, "follow", replica)
	uri := "sequent://sessions/" + f.session.id + "/json"
	if _, err := reader.ask(f.ctx, "resources/subscribe", uri, `"uri":"`+uri+`"`); err != nil {
		f.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(f.ctx, http.MethodGet, f.url(replica)+"?scope=follow", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header = http.Header{"Accept": {"text/event-stream"}, "Mcp-Session-Id": {reader.session}, "Mcp-Protocol-Version": {"2025-11-25"}}
	res, err := new(http.Client).Do(r)
	if err != nil || res.StatusCode != http.StatusOK {
		f.t.Fatalf("GET of the event stream: got %v, %v", res, err)
	}
	saw := f.follower("subscribe")
	f.wgFollow(func() {
		defer res.Body.Close()
		seen := 0
		for lines := bufio.NewScanner(res.Body); ; {
			thoughts, err := reader.read(f.ctx, f.session.id)
			if err != nil && f.ctx.Err() == nil {
				f.t.Errorf("read after a notification: %v", err)
				f.cancel()
			}
			for _, t := range thoughts[min(seen, len(thoughts)):] {
				saw(t.Seq)
				seen = t.Seq
			}
			for {
				if !lines.Scan() {
					return
				}
				if strings.Contains(lines.Text(), uri) {
					break
				}
			}
		}
	})
}

// wgFollow runs a follower, which ends with the context of the load.
func (f *following) wgFollow(run func()) {
	done := make(chan struct{})
	go func() { defer close(done); run() }()
	f.t.Cleanup(func() { f.cancel(); <-done })
}
