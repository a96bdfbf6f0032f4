//go:build unix

package replicas

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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

// at returns the URL of a store on one of the servers that its URL names.
func at(t *testing.T, store string, s *pgtest.Server) string {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	return s.URL(u.Query().Get("search_path"))
}

// The primary of a synchronous standby is killed while 64 sessions are written, and the
// standby is promoted. Calls wait or are repeated with their request keys.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary, standby, store := pgtest.Replicated(t, pageSettings(t))
	primary.Synchronous(t)
	l := newLoad(t, store)
	l.write(64)
	l.more(1500)
	killed := time.Now()
	primary.Crash(t)
	standby.Promote(t)
	promoted := time.Since(killed)
	l.more(1)
	t.Logf("the promotion ended %v after the kill, the next call %v", promoted, time.Since(killed))
	l.more(1500)
	l.end(at(t, store, standby))
}

// sequent doctor says how commits are replicated.
func TestDoctorOfStandbys(t *testing.T) {
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
	standby.Crash(t)
	finds("none of them is connected")
}

// The database fails over to an asynchronous standby that lacks the last two thoughts. All
// replicas, which have shown them, go back together and go on from there. A noted head tells
// the loss.
func TestFailoverLosesCommits(t *testing.T) {
	t.Parallel()
	primary, standby, store := pgtest.Replicated(t, pageSettings(t))
	l := newLoad(t, store)
	var clients [size]*client
	for i := range clients {
		clients[i] = l.client(true, "all", i)
	}
	s := l.begin(clients[0])
	think := func(name string, count int) {
		t.Helper()
		for i := range count {
			if err := l.think(clients[i%size], s, name+strconv.Itoa(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	think("kept", size)
	standby.StopReceiving(t, primary)
	kept := len(s.thoughts)
	think("lost", 2)
	for i, c := range clients {
		if thoughts, err := c.read(l.ctx, s.id); err != nil || len(thoughts) != kept+2 {
			t.Fatalf("before the fail-over replica %d shows %+v, %v", i, thoughts, err)
		}
	}
	noted := programtest.Output(t, exec.Command(l.program, "store", "verify", s.id, "--json", "--store", store))
	primary.Kill(t)
	standby.Promote(t)
	delete(s.thoughts, "lost0")
	delete(s.thoughts, "lost1")
	for i, c := range clients {
		if thoughts, err := c.read(l.ctx, s.id); err != nil || len(thoughts) != kept {
			t.Errorf("after the fail-over replica %d shows %+v, %v; want %d thoughts", i, thoughts, err, kept)
		}
	}
	head := regexp.MustCompile(`"head": *"([0-9a-f]{64})"`).FindSubmatch(noted)
	if head == nil {
		t.Fatalf("verify prints no head: %s", noted)
	}
	verify := exec.Command(l.program, "store", "verify", s.id, "--head", string(head[1]), "--store", store)
	if out, err := verify.CombinedOutput(); err == nil || !strings.Contains(string(out), "is not on this log") {
		t.Errorf("verify with the head of the lost thoughts: %v\n%s", err, out)
	}
	think("new", size)
	l.end(at(t, store, standby))
}
