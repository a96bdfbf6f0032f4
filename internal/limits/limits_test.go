package limits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// takeAll has a client take units until it is refused, and returns how many it got.
func takeAll(t *testing.T, c *Client, r Resource) (n int, refusal error) {
	t.Helper()
	for {
		err := c.Take(r)
		if _, ok := errors.AsType[*Refusal](err); ok {
			return n, err
		}
		if err != nil || n > 100_000 {
			return n, err
		}
		n++
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New(Config{Caps: Caps{Calls: 3, Streams: -1}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	a, b := l.Client("address 10.0.0.1"), l.Client("subject bob")
	n, err := takeAll(t, a, Calls)
	if n != 3 || err == nil || err.Error() != "this client has 3 requests in progress, as many as it may have: wait for replies, and read them" {
		t.Errorf("a client got %d, %v; want 3", n, err)
	}
	if n, _ := takeAll(t, b, Calls); n != 3 {
		t.Errorf("another client got %d, want 3", n)
	}
	if n, err := takeAll(t, a, Streams); err != nil || n < 100_000 {
		t.Errorf("without a limit %d units, then %v", n, err)
	}
	if n, _ := takeAll(t, a, Sessions); n != Defaults().each()[Sessions] {
		t.Errorf("%d sessions, want the default", n)
	}
	a.Give(Calls)
	if err := a.Take(Calls); err != nil || len(a.units[Calls]) != 3 {
		t.Errorf("a unit that was given back: %v, held %d", err, len(a.units[Calls]))
	}
	s := l.Stats()
	if s.Used[Calls] != 6 || s.Refused[Calls] != 2 {
		t.Errorf("Stats() = %+v", s)
	}
	if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `limit=calls client="address 10.0.0.1" held=3 refusals=1`) {
		t.Errorf("logged, want the first refusal of each limit:\n%s", got)
	}
	for r := range resources {
		if k := kinds[r]; k.name == "" || k.noun == "" || k.fix == "" || k.retry == 0 || Defaults().each()[r] < 1 {
			t.Errorf("resource %d: %+v, default %d", r, k, Defaults().each()[r])
		}
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ending, end := context.WithCancel(t.Context())
		l := New(Config{Caps: Caps{Heavy: 1}, Ending: ending})
		a := l.Client("a")
		if err := errors.Join(a.Wait(t.Context(), Heavy), l.Client("b").Wait(t.Context(), Heavy)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.Wait(ctx, Heavy); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait = %v", err)
		}
		begun := time.Now()
		if _, refused := errors.AsType[*Refusal](a.Wait(t.Context(), Heavy)); !refused || time.Since(begun) != maxWait {
			t.Errorf("refused: %v after %v, want a refusal after %v", refused, time.Since(begun), maxWait)
		}
		time.AfterFunc(time.Second, func() { a.Give(Heavy) })
		if err := a.Wait(t.Context(), Heavy); err != nil {
			t.Errorf("Wait = %v, want a unit that is given back", err)
		}
		time.AfterFunc(time.Second, end)
		for range 2 {
			if err := a.Wait(t.Context(), Heavy); !errors.Is(err, ErrEnding) {
				t.Errorf("Wait while the server ends = %v", err)
			}
		}
	})
}

func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{Rate: 10, Burst: 2}).Client("a")
		if err := errors.Join(c.Request(), c.Request()); err != nil {
			t.Fatal(err)
		}
		if err := c.Request(); err == nil || err.Error() != "too many requests: this client may send 10 a second; retry in 100ms" {
			t.Errorf("one too many: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
		if err := c.Request(); err != nil {
			t.Errorf("after the announced time: %v", err)
		}
		for range promptRefusals {
			if d := c.Delay(); d != 0 {
				t.Fatalf("a refusal is delayed by %v", d)
			}
		}
		if d := c.Delay(); d != refusalDelay {
			t.Errorf("one refusal more is delayed by %v, want %v", d, refusalDelay)
		}
	})
}

// Many clients do not fill the memory, and one that holds something is never forgotten.
func TestForgets(t *testing.T) {
	t.Parallel()
	l := New(Config{Rate: 1e-6, Burst: 1})
	holder := l.Client("holder")
	if err := holder.Take(Sessions); err != nil {
		t.Fatal(err)
	}
	steady := func() error { // seen all the time
		c := l.Client("steady")
		defer c.Release()
		return c.Request()
	}
	_ = steady()
	for n := range 2 * maxIdle {
		l.Client(fmt.Sprint(n)).Release()
		if steady() == nil {
			t.Fatal("a client that is seen all the time was forgotten")
		}
	}
	if n := len(l.known); n > maxIdle+1 {
		t.Errorf("%d clients are remembered", n)
	}
	if l.Client("holder") != holder.Retain() {
		t.Error("a client that holds something was forgotten")
	}
}
