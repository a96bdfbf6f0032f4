package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is kept of a client that does not read, and read ahead of one that writes: see package
// conn.

// A writeCounter counts writes. In a bubble of synctest, each lasts until all else waits.
type writeCounter struct {
	bytes.Buffer
	writes int
}

func (w *writeCounter) Write(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	w.writes++
	return w.Buffer.Write(p)
}

// Pipelined calls are recorded and answered in order, and many replies are one write.
func TestPipelinedCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, n, _ := testServer(t)
		in, want := helloLine+"\n", []string(nil)
		for i := range 300 {
			want = append(want, fmt.Sprint("note ", i))
			in += callLine(i+1, "note", want[i]) + "\n"
		}
		var out writeCounter
		if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		// The first reply can be written before the next call is read, and all the others come
		// during a write: they have 40 KiB, less than may be unwritten.
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != 301 || out.writes > 3 {
			t.Fatalf("got %d replies in %d writes, want 301 in fewer", len(lines), out.writes)
		}
		for i, line := range lines {
			var r struct{ ID int }
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID != i {
				t.Fatalf("reply %d is %.200s (%v), want id %d", i, line, err, i)
			}
		}
		if got := n.All(); !slices.Equal(got, want) {
			t.Errorf("recorded %q, want them in the order of the calls", got)
		}
		if got := n.FirstCaller(); got.Scope.Name != "test" || !got.Scope.Exclusive {
			t.Errorf("caller = %+v, want the one of the configuration", got)
		}
	})
}

func TestAReplyDoesNotWaitForTheNextCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, n, _ := testServer(t)
		p := dial(t, s)
		p.open()
		p.send(callLine(1, "args", "a"), callLine(2, "wait", "b"), callLine(3, "args", "c"))
		await(t, "a call begins", n.Begun)
		p.line() // or the test hangs
		n.Release <- struct{}{}
		p.line()
		p.line()
		_ = p.in.Close()
		p.ended()
	})
}

// At the end of the input, and when the server is told to end, what was accepted is finished. This test and those
// that follow run in a bubble, which fails if anything they start is left behind.
func TestEndFinishesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, n, _ := testServer(t)
			p := dial(t, s)
			p.begin(n, callLine(2, "note", "b"))
			synctest.Wait()
			if told {
				p.cancel() // the input is open still, and the reader waits in it
			} else {
				_ = p.in.Close()
			}
			synctest.Wait()
			select {
			case err := <-p.done:
				t.Fatalf("ServeStdio = %v while a call runs", err)
			default:
			}
			n.Release <- struct{}{}
			p.want(saidLine(1, "done a"))
			p.line()
			p.ended()
			if got := n.All(); !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("recorded %q, want both", got)
			}
			_ = p.in.Close()
		})
	}
}

func TestShutdownStopsCallsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, n, _ := testServer(t)
		p := dial(t, s)
		p.begin(n, callLine(2, "note", "b"))
		start := time.Now()
		p.cancel()
		if err := await(t, "a call ends", n.Ended); !errors.Is(err, context.Canceled) || time.Since(start) != endTimeout {
			t.Errorf("the running call ended with %v after %v, want %v after %v", err, time.Since(start), context.Canceled, endTimeout)
		}
		p.ended()
		if got := n.All(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("recorded %q, want nothing that had not begun", got)
		}
		_ = p.in.Close()
	})
}

func TestShutdownDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := testServer(t)
		p := dial(t, s)
		p.send(helloLine)
		synctest.Wait() // the reply is being written, and the client does not read
		start := time.Now()
		p.cancel()
		err := await(t, "serving ends", p.done)
		if !errors.Is(err, errStalled) || time.Since(start) != endTimeout+time.Second {
			t.Errorf("ServeStdio = %v after %v, want %v a second after %v", err, time.Since(start), errStalled, endTimeout)
		}
		_ = p.in.Close()
		_ = p.out.Close()
	})
}

func TestClosedOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, n, _ := testServer(t)
		p := dial(t, s)
		p.begin(n, callLine(2, "note", "b"))
		_ = p.out.Close()
		p.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`) // the reply to which finds out
		if err := await(t, "a call ends", n.Ended); !errors.Is(err, context.Canceled) {
			t.Errorf("the running call ended with %v, want %v", err, context.Canceled)
		}
		if err := await(t, "serving ends", p.done); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("ServeStdio = %v, want %v", err, io.ErrClosedPipe)
		}
		if got := n.All(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("recorded %q, want nothing after the client has gone", got)
		}
		_ = p.in.Close()
	})
}

func TestFailingInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, n, _ := testServer(t)
		broken := errors.New("cable pulled")
		in := io.MultiReader(strings.NewReader(helloLine+"\n"+callLine(1, "note", "a")+"\n"+callLine(2, "note", "half")), failing{broken})
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), in, &out); !errors.Is(err, broken) {
			t.Errorf("ServeStdio = %v, want %v", err, broken)
		}
		if got := strings.Count(out.String(), "\n"); got != 2 || !slices.Equal(n.All(), []string{"a"}) {
			t.Errorf("wrote %s and recorded %q, want what came before answered", out.String(), n.All())
		}
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestSlowConsumer pipelines more than is kept for a client that does not read.
func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const calls = 80
		s, n, _ := testServer(t)
		p := dial(t, s)
		p.send(helloLine)
		text := strings.Repeat("y", 60<<10)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for i := range calls {
				fmt.Fprintln(p.in, callLine(i+1, "note", text))
			}
			_ = p.in.Close()
		}()
		synctest.Wait()
		// Each reply holds the text twice.
		if got, most := len(n.All()), maxUnwritten/(2*len(text))+20; got > most {
			t.Errorf("%d calls were answered for a client that does not read, want at most %d", got, most)
		}
		for i := range calls + 1 {
			var r struct{ ID int }
			if err := json.Unmarshal([]byte(p.line()), &r); err != nil || r.ID != i {
				t.Fatalf("reply %d has id %d (%v)", i, r.ID, err)
			}
		}
		<-sent
		p.ended()
	})
}

// TestReadingAheadIsBounded writes to a server that is busy, until a number of messages or of bytes waits.
func TestReadingAheadIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ size, most int }{
		"messages": {len("nonsense"), maxAhead},
		"bytes":    {1 << 20, maxAheadBytes>>20 - 1}, // beside the call
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { readAhead(t, strings.Repeat("x", c.size), c.most) })
		})
	}
}

// readAhead checks that a server that is busy takes about most messages ahead, and answers them all.
func readAhead(t *testing.T, message string, most int) {
	s, n, _ := testServer(t)
	p := dial(t, s)
	p.begin(n)
	time.Sleep(3 * inlineLimit) // then another goroutine reads on
	sent := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 * most {
			// What is refused waits its turn like anything else.
			if _, err := io.WriteString(p.in, message+"\n"); err != nil {
				return
			}
			sent++
		}
	}()
	synctest.Wait()
	if sent < most || sent > most+most/2 {
		t.Errorf("the server took %d messages ahead, want about %d", sent, most)
	}
	p.cancel()
	synctest.Wait() // until nothing more is taken
	n.Release <- struct{}{}
	for i := range 1 + most {
		if got := p.line(); i == 0 && got != saidLine(1, "done a") {
			t.Errorf("server wrote %s, want the first reply first", got)
		}
	}
	p.ended()
	_ = p.in.Close()
	_ = p.out.Close()
	// The reader is in the middle of a line, which the pipe has now cut.
	<-done
	for range p.lines { // left by a server that took too many
	}
}

// TestOneReader moves the reading from a call that takes long, and asks for another call of that kind while
// the first one is answered and its goroutine has not left yet: two goroutines would read.
func TestOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		moved := 0
		q := newQueue(func() { moved++ })
		first, second := new(pendingCall), new(pendingCall)
		taken := q.take(first)
		time.Sleep(3 * inlineLimit)
		synctest.Wait()
		q.done(first)
		if early := q.take(second); !taken || moved != 1 || early {
			t.Errorf("taken %t, moved %d times, the next taken early %t", taken, moved, early)
		}
		if q.pass() {
			t.Error("the goroutine reads on, and so does another one")
		}
		if !q.take(second) || !q.pass() {
			t.Error("the next call is not taken, or moves the reading at once")
		}
	})
}
