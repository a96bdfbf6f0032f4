package session

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

func server() *method.Server { return method.New(method.Config{Dialect: mcptest.New().Dialect()}) }

func call(id string) *Call {
	return &Call{Message: message.Message{Kind: message.Request, ID: json.RawMessage(id), Method: "tools/call"}}
}

// A request is known from Add to End, so that a cancellation ends it whenever it
// comes.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := New(server(), nil)
	before, during, other := call(`"a"`), call(`7`), call(`8`)
	for _, c := range []*Call{before, during, other} {
		s.Add(c)
	}
	s.Cancel(message.IDKey(json.RawMessage(`"\u0061"`)))
	if _, _, ok := s.Begin(t.Context(), before); ok {
		t.Error("a call that was cancelled before it began has begun")
	}
	ctx, cancel, ok := s.Begin(t.Context(), during)
	if !ok {
		t.Fatal("a call has not begun")
	}
	defer cancel()
	s.Cancel("n7")
	if ctx.Err() == nil {
		t.Error("a call goes on after it was cancelled")
	}
	for c, want := range map[*Call]bool{before: true, during: true, other: false} {
		if got := s.End(c); got != want {
			t.Errorf("call %s was cancelled = %v, want %v", c.ID, got, want)
		}
	}
	if s.first != nil || s.last != nil {
		t.Error("calls that have ended are known")
	}
}

// Over HTTP a cancellation can arrive before its request. It holds, for a while,
// and for one request; one that comes too late cancels nothing else.
func TestEarlyCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewUnordered(server(), nil)
		begins := func(id string) bool {
			c := call(id)
			s.Add(c)
			defer s.End(c)
			_, cancel, ok := s.Begin(t.Context(), c)
			if ok {
				cancel()
			}
			return ok
		}
		s.Cancel("n1")
		if begins("1") {
			t.Error("a request begins although it was cancelled before")
		}
		s.Cancel("n1") // too late
		if !begins("1") {
			t.Error("a request is cancelled by what cancelled the one before with its id")
		}
		s.Cancel("n2")
		time.Sleep(earlyFor)
		if !begins("2") {
			t.Error("a cancellation holds for ever")
		}
		s.Cancel("")
		for i := range 10 * maxEarly {
			s.Cancel(fmt.Sprint("n", 100+i))
		}
		if n := len(s.strayed.waiting); n != maxEarly {
			t.Errorf("%d cancellations are kept, want %d", n, maxEarly)
		}
		if begins(fmt.Sprint(100 + 10*maxEarly - 1)) {
			t.Error("the latest of many cancellations is forgotten")
		}
	})
}

// The handshake cannot be cancelled.
func TestInitializeIsNotCancelled(t *testing.T) {
	t.Parallel()
	s := NewUnordered(server(), nil)
	s.Cancel("n1")
	c := call("1")
	c.Method = method.Initialize
	s.Add(c)
	s.Cancel("n1")
	if _, cancel, ok := s.Begin(t.Context(), c); !ok {
		t.Error("the handshake was cancelled")
	} else {
		cancel()
	}
}
