package governor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// takeAll has a subject take units until it is refused, and returns how many it got.
func takeAll(t *testing.T, s *Subject, r Resource) (n int64) {
	t.Helper()
	for {
		err := s.Take(r, 1)
		if err == nil {
			n++
			continue
		}
		if _, ok := errors.AsType[*Refusal](err); !ok {
			t.Fatalf("Take = %v, want a Refusal", err)
		}
		return n
	}
}

// TestShares checks how much of 100 units greedy subjects get that come one after the
// other.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit int64
		want  []int64
	}{
		{100, []int64{50, 25, 13, 6, 3, 2, 1}}, // and none of the last unit for the eighth
		{3, []int64{2, 1, 0}},
		{2, []int64{1, 1, 0}},
		{1, []int64{1, 0}},
	} {
		g := New(Config{Limits: Limits{Calls: c.limit}})
		for i, want := range c.want {
			if got := takeAll(t, g.Subject(fmt.Sprint(i)), Calls); got != want {
				t.Errorf("of %d, subject %d got %d, want %d", c.limit, i, got, want)
			}
		}
	}
}

// TestSharesOfMany has subjects take turns: each gets the same, and one more share
// remains for the next subject.
func TestSharesOfMany(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, 2, 3, 9} {
		g := New(Config{Limits: Limits{Calls: 1000}})
		for refused := int64(0); refused < n; {
			refused = 0
			for i := range n {
				if g.Subject(fmt.Sprint(i)).Take(Calls, 1) != nil {
					refused++
				}
			}
		}
		for i := range n {
			if got, want := g.Subject(fmt.Sprint(i)).Held(Calls), 1000/(n+1); got < want || got > want+1 {
				t.Errorf("subject %d of %d holds %d, want %d", i, n, got, want)
			}
		}
	}
}

func TestNoShares(t *testing.T) {
	t.Parallel()
	sole := New(Config{Sole: true, Limits: Limits{Calls: 10}}).Subject("a")
	if got := takeAll(t, sole, Calls); got != 10 {
		t.Errorf("a sole subject got %d, want 10", got)
	}
	g := New(Config{Limits: Limits{Calls: 10, Streams: -1}})
	proxy := g.Subject("proxy")
	for i := range 11 {
		if err := proxy.TakeUnshared(Calls, 1); (err == nil) != (i < 10) {
			t.Errorf("unit %d of 10: %v", i, err)
		}
	}
	for range 100_000 {
		if err := proxy.Take(Streams, 1); err != nil {
			t.Fatalf("without a limit: %v", err)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	g := New(Config{Limits: Limits{BytesIn: 4 << 20, Sessions: 3}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	a, b := g.Subject("address 10.0.0.1"), g.Subject("subject bob")
	for _, s := range []*Subject{a, b} {
		if err := s.Take(Sessions, 1); err != nil {
			t.Fatal(err)
		}
	}
	check := func(err error, own bool, want string) {
		t.Helper()
		r, ok := errors.AsType[*Refusal](err)
		if !ok || r.Own() != own || r.Error() != want {
			t.Errorf("got %v (own: %v), want %s (own: %v)", err, ok && r.Own(), want, own)
		}
	}
	check(a.Take(BytesIn, 3<<20), true,
		"this client has 0 KiB of requests in flight, wants 3 MiB more and may have 2 MiB now, of 4 MiB for all clients: send fewer large requests at a time")
	check(a.Take(Sessions, 1), true,
		"this client has 1 MCP sessions in use and may have 1 now, of 3 for all clients: end some with DELETE, or use protocol version 2026-07-28, which needs none")
	if err := b.TakeUnshared(Sessions, 1); err != nil {
		t.Fatal(err)
	}
	check(a.Take(Sessions, 1), false,
		"the clients of this server together have 3 of 3 MCP sessions in use: try again in a minute, or use protocol version 2026-07-28, which needs none")
	if got := strings.Count(log.String(), "\n"); got != 2 || !strings.Contains(log.String(), `limit=mcp-sessions client="address 10.0.0.1" held=1 share=1 used=2 total=3 refusals=1`) {
		t.Errorf("logged %d lines, want the first refusal of each limit:\n%s", got, &log)
	}
	for r := range resources {
		if k := kinds[r]; k.name == "" || k.noun == "" || k.fix == "" || k.wait == "" || k.retry == 0 {
			t.Errorf("resource %d lacks words: %+v", r, k)
		}
	}
}

// TestWaitIsFair has one subject queue many calls before others come. They need not
// wait for its calls.
func TestWaitIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{Limits: Limits{Heavy: 2}, Wait: -1})
		began := time.Now()
		var mu sync.Mutex
		var at [8][]string // who began a call, by the second
		var all sync.WaitGroup
		call := func(name string) {
			s := g.Subject(name)
			all.Go(func() {
				if err := s.Wait(t.Context(), Heavy, 1); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				mu.Lock()
				second := int(time.Since(began) / time.Second)
				at[second] = append(at[second], name)
				mu.Unlock()
				time.Sleep(time.Second)
				s.Give(Heavy, 1)
				s.Release()
			})
			synctest.Wait()
		}
		for range 7 {
			call("greedy")
		}
		call("b")
		call("b")
		call("c")
		all.Wait()
		for _, names := range at {
			slices.Sort(names) // within a second the order is the scheduler's
		}
		if got, want := fmt.Sprint(at), "[[b greedy] [c greedy] [b greedy] [greedy] [greedy] [greedy] [greedy] []]"; got != want {
			t.Errorf("calls began, by the second, as %s, want %s", got, want)
		}
		if g.used != (Limits{}) || g.idle.Len() != 3 {
			t.Errorf("in the end %v are used and %d subjects idle, want none and 3", g.used, g.idle.Len())
		}
	})
}

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{Limits: Limits{Heavy: 1}})
		a, b := g.Subject("a"), g.Subject("b")
		if err := a.Take(Heavy, 1); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Wait(ctx, Heavy, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled wait = %v", err)
		}
		begun := time.Now()
		_, refused := errors.AsType[*Refusal](b.Wait(t.Context(), Heavy, 1))
		if took := time.Since(begun); !refused || took != defaultWait {
			t.Errorf("refused: %v after %v, want a refusal after %v", refused, took, defaultWait)
		}
		a.Give(Heavy, 1)
		if err := b.Wait(t.Context(), Heavy, 1); err != nil {
			t.Errorf("then Wait = %v", err)
		}
		b.Give(Heavy, 1)
		if len(g.queues[Heavy]) != 0 || g.used != (Limits{}) {
			t.Errorf("left: %v waiting, %v used", g.queues[Heavy], g.used)
		}
	})
}

// TestFirstReplies makes replies of an unknown size: a few at once, until the size of one
// is known or some time has passed.
func TestFirstReplies(t *testing.T) {
	t.Parallel()
	for _, large := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := New(Config{Limits: Limits{BytesOut: 128 << 20}})
			s := g.Subject("a")
			var made []*Reply
			var mu sync.Mutex
			count := func() int {
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				return len(made)
			}
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					r, err := s.Reply(t.Context(), "x")
					if err != nil {
						return // it has waited for memory
					}
					mu.Lock()
					defer mu.Unlock()
					made = append(made, r)
				})
			}
			if n := count(); n != maxFirstReplies {
				t.Errorf("%d replies are made at once, want %d", n, maxFirstReplies)
			}
			if large {
				if err := made[0].Made(60<<20, 60<<20); err != nil {
					t.Error(err)
				}
				time.Sleep(firstReplyWait + defaultWait)
				if n := count(); n != maxFirstReplies {
					t.Errorf("after a large one %d replies are made, want no more", n)
				}
			} else {
				for _, want := range []int{2 * maxFirstReplies, 4 * maxFirstReplies, 10} {
					time.Sleep(firstReplyWait)
					if n := count(); n != want {
						t.Errorf("%d replies are made, want %d", n, want)
					}
				}
			}
			all.Wait()
			for _, r := range made {
				r.Sent()
			}
			if n := s.replies["x"].first; n != 0 || g.used != (Limits{}) {
				t.Errorf("in the end %d first replies, %v used", n, g.used)
			}
		})
	}
}

// TestReply checks that the calls of a subject wait for each other if their replies
// are large, and only then.
func TestReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{Limits: Limits{BytesOut: 128 << 20}})
		s := g.Subject("a")
		began := func(kind string) (n int, replies []*Reply) {
			for {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				r, err := s.Reply(ctx, kind)
				cancel()
				if err != nil {
					return n, replies
				}
				n, replies = n+1, append(replies, r)
			}
		}
		check := func(what, kind string, want int, size int64) {
			t.Helper()
			n, replies := began(kind)
			if n != want {
				t.Errorf("%s: %d replies at a time, want %d", what, n, want)
			}
			for i, r := range replies {
				if i == 0 {
					if err := r.Made(size, size); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
				r.Sent()
			}
		}
		check("unknown", "x", 256, 100)
		check("small", "x", 4096, 20<<10)
		check("less small", "x", 3276, 100)
		check("small for a while", "x", 3276, 39<<20)
		check("large", "x", 1, 100)
		check("still large", "x", 1, 100)
		check("another tool", "y", 256, 100)
		time.Sleep(2 * replyWindow)
		check("forgotten", "x", 4096, 100)
		if g.used != (Limits{}) {
			t.Errorf("%v used in the end, want none", g.used)
		}

		r, err := s.Reply(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, refused := errors.AsType[*Refusal](r.Made(100<<20, 100<<20)); !refused {
			t.Error("a reply larger than a share was not refused")
		}
		r.Sent()
		check("too large before", "x", 1, 1)
		for i := range 3 * maxReplyKinds {
			r, err := s.Reply(t.Context(), fmt.Sprint(i))
			if err != nil {
				t.Fatal(err)
			}
			r.Sent()
		}
		if n := len(s.replies); n > maxReplyKinds+1 {
			t.Errorf("%d kinds of replies are remembered", n)
		}
	})
}

// TestForgets checks that many clients do not fill the memory, and that one that
// holds something is never forgotten.
func TestForgets(t *testing.T) {
	t.Parallel()
	g := New(Config{Rate: 1, Burst: 1})
	visit := func(name string) error {
		s := g.Subject(name)
		defer s.Release()
		return s.Request()
	}
	holder := g.Subject("holder")
	if err := holder.Take(Sessions, 1); err != nil {
		t.Fatal(err)
	}
	holder.Release()
	for n := range 2 * maxIdle {
		_ = visit(fmt.Sprint(n))
		_ = visit("steady")
	}
	if len(g.subjects) != maxIdle+1 || g.idle.Len() != maxIdle {
		t.Errorf("%d subjects, %d idle, want %d and the holder", len(g.subjects), g.idle.Len(), maxIdle)
	}
	if g.subjects["holder"] != holder {
		t.Error("a subject that holds a session was forgotten")
	}
	if visit("steady") == nil {
		t.Error("a client that keeps coming was forgotten")
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Rate: 10, Burst: 20}).Subject("a")
		count := func() (n int) {
			for range 100 {
				if s.Request() == nil {
					n++
				}
			}
			return n
		}
		if got := count(); got != 20 {
			t.Errorf("%d requests at once, want 20", got)
		}
		time.Sleep(time.Second)
		if got := count(); got != 10 {
			t.Errorf("%d requests a second later, want 10", got)
		}
		e, ok := errors.AsType[*Throttled](s.Request())
		if !ok || e.RetryAfter != 100*time.Millisecond || e.Error() != "too many requests: this client may send 10 a second; retry in 100ms" {
			t.Errorf("got %v, want what the limit is", e)
		}
	})
}

// TestDelay has a client go on although it is refused.
func TestDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{})
		prompt := func(s *Subject) (n int) {
			for range 10 * promptRefusals {
				switch d := s.Delay(); d {
				case 0:
					n++
				case refusalDelay:
				default:
					t.Fatalf("delay %v, want %v", d, refusalDelay)
				}
			}
			return n
		}
		a, b := g.Subject("a"), g.Subject("b")
		for _, s := range []*Subject{a, b} {
			if got := prompt(s); got != promptRefusals {
				t.Errorf("%s: %d refusals without delay, want %d", s.Name(), got, promptRefusals)
			}
		}
		time.Sleep(time.Second / 2)
		if got := prompt(a); got != promptRefusals/2 {
			t.Errorf("%d refusals without delay half a second later, want %d", got, promptRefusals/2)
		}
	})
}

// TestRace uses a governor from many goroutines. In the end nothing is held.
func TestRace(t *testing.T) {
	t.Parallel()
	g := New(Config{Limits: Limits{Heavy: 3, BytesOut: 1 << 20}, Wait: time.Millisecond})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 200 {
				s := g.Subject(fmt.Sprint(i % 5))
				if s.Wait(t.Context(), Heavy, 1) == nil {
					s.Give(Heavy, 1)
				}
				if r, err := s.Reply(t.Context(), "x"); err == nil {
					_ = r.Made(int64(n)<<8, int64(n)<<8)
					r.Sent()
				}
				if s.Take(Calls, 1) == nil {
					s.Give(Calls, 1)
				}
				s.Release()
			}
		})
	}
	all.Wait()
	if g.used != (Limits{}) || g.idle.Len() != 5 {
		t.Errorf("in the end %v are used and %d of 5 subjects idle", g.used, g.idle.Len())
	}
	for r, q := range g.queues {
		if len(q) != 0 {
			t.Errorf("%d subjects wait for %s", len(q), Resource(r))
		}
	}
}
