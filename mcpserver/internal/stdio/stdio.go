// Package stdio serves one client over standard input and output: a message a
// line.
package stdio

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
	"github.com/sequent-dev/sequent/tool"
)

// EndTimeout is how long one write may take once the server has been told to end,
// and how long the calls under way may.
const EndTimeout = 5 * time.Second

// A Config configures Serve. All of it is required.
type Config struct {
	Server  *method.Server
	Caller  tool.Caller
	MaxLine int // bytes
}

// Serve serves one client. What it promises is said at mcpserver.Server.ServeStdio.
func Serve(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	c := &conn{
		server: cfg.Server, caller: cfg.Caller, maxLine: cfg.MaxLine,
		ctx: context.WithoutCancel(ctx), session: session.New(cfg.Server),
		queue: newQueue(), beside: make(chan struct{}, maxBeside),
		ending: make(chan struct{}),
	}
	c.out = newOutput(out, c.abort)
	stop := context.AfterFunc(ctx, func() {
		c.queue.close()
		c.out.limit(EndTimeout)
	})
	defer stop()
	c.running.Go(func() { c.notify(c.session.Subscriptions(), nil) })

	ended := make(chan error, 1)
	c.reader = newReader(in, cfg.MaxLine, ended, c.relieve)
	defer c.reader.timer.Stop()
	go c.read()
	answered := make(chan error, 1)
	go func() {
		<-c.queue.over
		close(c.ending)
		c.running.Wait()
		answered <- c.out.drain()
	}()
	err := c.wait(ctx, answered)
	c.out.close()
	c.session.Close()
	if err != nil {
		return fmt.Errorf("mcpserver: write: %w", err)
	}
	select {
	case err = <-ended:
	default: // ctx is done, and the reader still reads
	}
	if err != nil {
		return fmt.Errorf("mcpserver: read: %w", err)
	}
	return nil
}

// wait waits until all that was read is answered: for EndTimeout once ctx is done,
// since a program that takes longer to end would be killed.
func (c *conn) wait(ctx context.Context, answered <-chan error) error {
	told := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-answered:
			return err
		case <-c.out.stalled: // in a write that may never return
			return ErrStalled
		case <-told:
			told, late = nil, time.After(EndTimeout)
		case <-late:
			c.abort()
		}
	}
}

// A conn is one connection.
type conn struct {
	server  *method.Server
	caller  tool.Caller
	maxLine int
	ctx     context.Context // of calls
	session *session.Session
	reader  *reader
	queue   *queue
	out     *output
	buf     []byte         // for replies, of the goroutine that has taken the queue
	beside  chan struct{}  // has one for each call of a lane that is being answered
	running sync.WaitGroup // goroutines that answer or notify, but for the one that reads
	ending  chan struct{}  // closed when all that was read is answered

	listening atomic.Int32 // open subscriptions
}

// abort cancels all calls and accepts no more, as when the client is gone.
func (c *conn) abort() {
	c.queue.close()
	c.session.CancelAll()
}

// answerQueue answers the connection's own lane until it is empty.
func (c *conn) answerQueue() {
	for call := c.queue.next(); call != nil; call = c.queue.next() {
		c.answer(call)
		c.written(c.queue.waiting())
	}
}

// written has what was put into the output written: soon if more follows.
func (c *conn) written(more bool) {
	if more {
		c.out.soon()
	} else {
		c.out.flush()
	}
}

// answer answers a call in its turn, or moves it to where it is answered beside
// the others.
func (c *conn) answer(call *session.Call) {
	if call.Kind == message.Refused {
		c.reply(call, message.AppendError(nil, call.ID, call.Fault))
		return
	}
	r := &call.Request
	*r = method.Request{Message: &call.Message, Modern: call.Modern(), Caller: c.caller}
	if r.Modern && r.Method == method.Listen {
		c.listen(call, r)
		return
	}
	lane := c.server.Lane(r)
	if lane == "" {
		c.buf = c.run(call, c.buf[:0])
		return
	}
	if c.queue.enter(lane, call) {
		c.running.Go(func() { c.answerLane(lane, call) })
	}
}

// answerLane answers a lane until it is empty.
func (c *conn) answerLane(lane string, call *session.Call) {
	for call != nil {
		c.beside <- struct{}{}
		c.run(call, nil)
		<-c.beside
		next := c.queue.leave(lane)
		c.written(next != nil)
		call = next
	}
}

// run answers one call. It makes the reply in a buffer, and returns that for the
// next.
func (c *conn) run(call *session.Call, buf []byte) []byte {
	ctx, cancel, ok := c.session.Begin(c.ctx, call)
	if !ok {
		c.reply(call, nil)
		return buf
	}
	defer cancel()
	progress := method.NewProgress(&call.Message, c.out)
	call.Request.Progress = progress.Reporter()
	line, _ := c.session.Answer(ctx, buf, &call.Request)
	progress.End()
	c.reply(call, line)
	if cap(line) > maxSpare {
		return nil
	}
	return line
}

// reply gives out the reply to a call, which is over. A call that was cancelled
// gets none.
func (c *conn) reply(call *session.Call, line []byte) {
	if !c.session.End(call) && line != nil {
		_ = c.out.put(line) // if that fails, the connection ends
	}
	c.queue.done(call)
}
