// Package stdio serves one client over standard input and output, with one message per
// line.
package stdio

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
	"github.com/sequent-dev/sequent/tool"
)

// EndTimeout limits a write, and the calls in progress, after the server was told to end.
const EndTimeout = 5 * time.Second

// InputTimeout limits calls in lanes, which wait for a language model, after the end of
// the input.
const InputTimeout = 30 * time.Second

// A Config configures Serve.
type Config struct {
	Server  *method.Server // required
	Caller  tool.Caller
	Origin  method.Origin
	Via     method.Via // for an observer
	MaxLine int        // bytes; required

	// Guest limits a client of a server with other clients. Nil means the only client of
	// the process.
	Guest *Guest
}

// A Guest is a client of a server with other clients. All fields are required.
type Guest struct {
	Client method.Client // for heavy calls, calls of models and watches
	// Admit takes what a request of some bytes needs until it is answered, and Leave
	// returns it. The request is refused with a fault of Admit.
	Admit func(m *message.Message, size int) *message.Error
	Leave func(size int)
	// Weigh limits the memory of replies. The caller calls sent when the reply is written.
	Weigh func(Answer) (weighed Answer, sent func())
}

// An Answer appends the reply to a request to a line.
type Answer func(ctx context.Context, line []byte, r *method.Request) ([]byte, *message.Error)

// maxUnwrittenGuest is MaxUnwritten for a Guest.
const maxUnwrittenGuest = 256 << 10

// Serve serves one client, as described at mcpserver.Server.ServeStdio. A Guest is gone at
// the end of its input, so that its calls are cancelled.
func Serve(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	client := governor.New(governor.Config{
		Limits: governor.Limits{governor.Calls: maxBeside, governor.Streams: maxListening},
		Wait:   -1, // the input waits meanwhile
		Sole:   true,
	}).Subject("standard input")
	c := &conn{
		server: cfg.Server, caller: cfg.Caller, maxLine: cfg.MaxLine, origin: cfg.Origin, via: cfg.Via, guest: cfg.Guest,
		ctx: context.WithoutCancel(ctx), client: client, limits: client,
		queue:  newQueue(),
		ending: make(chan struct{}),
		ended:  make(chan struct{}),
	}
	c.out = newOutput(out, c.abort)
	if g := cfg.Guest; g != nil {
		c.client = g.Client
		c.out.max = maxUnwrittenGuest
	}
	c.session = session.New(cfg.Server, c.client)
	c.laneCtx, c.cancelLanes = context.WithCancel(c.ctx)
	defer c.cancelLanes()
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
	default: // ctx is done, and the reader is still reading
	}
	if err != nil {
		return fmt.Errorf("mcpserver: read: %w", err)
	}
	return nil
}

// wait waits until everything that was read is answered. It cancels calls in lanes that
// are not answered InputTimeout after the end of the input: the client has probably ended,
// and a model is paid for every answer. Once ctx is done it waits for EndTimeout,
// because supervisors kill a program that takes longer.
func (c *conn) wait(ctx context.Context, answered <-chan error) error {
	told, ended := ctx.Done(), c.ended
	var late, enough <-chan time.Time
	for {
		select {
		case err := <-answered:
			return err
		case <-c.out.stalled: // in a write that may block for ever
			return ErrStalled
		case <-told:
			told, late = nil, time.After(EndTimeout)
		case <-ended:
			ended, enough = nil, time.After(InputTimeout)
		case <-enough:
			c.cancelLanes()
		case <-late:
			c.abort()
		}
	}
}

// A conn is one connection.
type conn struct {
	server  *method.Server
	caller  tool.Caller
	origin  method.Origin
	via     method.Via
	maxLine int
	ctx     context.Context // of calls
	session *session.Session
	guest   *Guest            // nil for the only client of the process
	client  method.Client     // limits heavy calls, calls of models and watches
	limits  *governor.Subject // limits concurrent calls and subscriptions of the connection
	reader  *reader
	queue   *queue
	out     *output
	buf     []byte         // for replies; used by the goroutine that has taken the queue
	running sync.WaitGroup // goroutines that answer or notify, but not the one that reads
	ending  chan struct{}  // closed when everything that was read is answered
	ended   chan struct{}  // closed at the end of the input

	laneCtx     context.Context // of calls in lanes
	cancelLanes func()
}

// abort cancels all calls and accepts no more, after the client has disconnected.
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

// written flushes the output, later if more replies follow.
func (c *conn) written(more bool) {
	if more {
		c.out.soon()
	} else {
		c.out.flush()
	}
}

// answer answers a call, or moves it to its lane.
func (c *conn) answer(call *session.Call) {
	if call.Kind == message.Refused {
		if _, seen := c.observe(c.ctx, call); seen != nil {
			seen.End(call.Fault)
		} else if c.server.Observed() {
			c.server.Other(&method.Exchange{Dialect: c.server.Name(), Caller: c.caller, Via: c.via, Received: time.Now()}, call.Fault)
		}
		c.reply(call, message.AppendError(nil, call.ID, call.Fault))
		return
	}
	r := &call.Request
	*r = method.Request{Message: &call.Message, Modern: call.Modern(), Caller: c.caller, Origin: c.origin, Client: c.client}
	if r.Modern && r.Method == method.Listen {
		c.listen(call, r)
		return
	}
	lane := c.server.Lane(r)
	if lane == "" {
		c.buf = c.run(c.ctx, call, c.buf[:0])
		return
	}
	if c.queue.enter(lane, call) {
		c.running.Go(func() { c.answerLane(lane, call) })
	}
}

// answerLane answers a lane until it is empty.
func (c *conn) answerLane(lane string, call *session.Call) {
	for call != nil {
		if c.limits.Wait(c.ctx, governor.Calls, 1) == nil { // always: c.ctx is never done
			c.run(c.laneCtx, call, nil)
			c.limits.Give(governor.Calls, 1)
		}
		next := c.queue.leave(lane)
		c.written(next != nil)
		call = next
	}
}

// run answers one call. It uses buf for the reply and returns it for the next call.
func (c *conn) run(ctx context.Context, call *session.Call, buf []byte) []byte {
	ctx, cancel, ok := c.session.Begin(ctx, call)
	if !ok {
		c.reply(call, nil)
		return buf
	}
	defer cancel()
	ctx, call.Request.Seen = c.observe(ctx, call)
	progress := method.NewProgress(&call.Message, c.out)
	progress.Attach(&call.Request)
	answer := Answer(c.session.Answer)
	if c.guest != nil {
		weighed, sent := c.guest.Weigh(answer)
		defer sent()
		answer = weighed
	}
	line, fault := answer(ctx, buf, &call.Request)
	progress.End()
	call.Request.Seen.End(fault)
	c.reply(call, line)
	if cap(line) > maxSpare {
		return nil
	}
	return line
}

// observe tells the observer of a call that begins. Only requests have the time when they were
// received, so notifications and invalid lines are left out.
func (c *conn) observe(ctx context.Context, call *session.Call) (context.Context, *method.Exchange) {
	if call.Received.IsZero() {
		return ctx, nil
	}
	return c.server.Observe(ctx, &call.Message, c.caller, c.via, call.Received)
}

// admit takes what a call needs until it is done. A call that is not admitted is refused.
func (c *conn) admit(call *session.Call) {
	if c.guest == nil {
		return
	}
	fault := c.guest.Admit(&call.Message, call.Size)
	if call.Guest = fault == nil; fault != nil {
		call.Kind, call.Fault = message.Refused, fault
	}
}

// done ends a call that was answered.
func (c *conn) done(call *session.Call) {
	if call.Guest {
		c.guest.Leave(call.Size)
	}
	c.queue.done(call)
}

// reply writes the reply to a call, which has ended. A cancelled call gets none.
func (c *conn) reply(call *session.Call, line []byte) {
	if !c.session.End(call) && line != nil {
		_ = c.out.put(line) // if that fails, the connection ends
	}
	c.done(call)
}
