package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long one write may take once the server has been told to end, and
// how long the calls that are under way may.
const patience = 5 * time.Second

var (
	errUninitialized = invalidRequest(
		"send initialize first, or with each request the _meta of protocol version " + firstModern)
	errInitialized = invalidRequest("initialize was already received")
)

// ServeStdio serves one client, which writes to in and reads from out, until in
// ends or ctx is done. It then answers what it has read, and returns nil; it
// returns an error if in or out fails before. Calls that go on for seconds after
// ctx is done are stopped, and get no reply.
//
//   - Requests are answered one after the other, in the order they came, and so
//     are their replies. Only ping and a cancellation overtake what is waiting.
//   - Every request gets one reply, with its id as it was written, except one
//     that was cancelled, which gets none and if it had to wait is never begun.
//   - A line that is not a request gets an error and does no harm. A line longer
//     than Config.MaxLine is skipped without being kept.
//   - Replies are written together where they come quickly, and at once where no
//     other follows. A client that does not read is waited for, within bounds of
//     memory; once ctx is done only for some seconds a write.
//   - Nothing but messages of the protocol is written to out.
//
// ServeStdio closes neither in nor out. If ctx ends it leaves a goroutine behind that
// waits in a Read of in, and at worst one in a Write to out, until these return:
// there is no way to interrupt a read of standard input that works everywhere.
// With os.Stdin that is until the process ends, which should be soon. The same
// holds if out fails.
//
// A program that serves os.Stdout should ignore SIGPIPE, or a client that goes
// away ends the program before it can clean up.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &stdio{server: s, ctx: context.WithoutCancel(ctx)}
	c.in = newInbox(func() { c.workers.Go(c.answerAll) })
	c.in.enter()
	c.out = newOutbox(out, c.in.abort)
	for _, b := range []**bridge{&c.legacy, &c.modern} {
		var err error
		if *b, err = connect(c.ctx, s, c.note); err != nil {
			return fmt.Errorf("mcpserver: %w", err)
		}
		defer (*b).shut()
	}
	stop := context.AfterFunc(ctx, func() {
		c.in.close()
		c.out.hurry(patience)
	})
	defer stop()

	read := make(chan error, 1)
	c.reading = newReading(in, s.maxLine, read, c.relieve)
	defer c.reading.timer.Stop()
	go c.read()
	answered := make(chan error, 1)
	go func() {
		c.answerAll()
		c.workers.Wait()
		answered <- c.out.drain()
	}()
	err := c.ended(ctx, answered)
	c.out.close()
	if err != nil {
		return fmt.Errorf("mcpserver: write: %w", err)
	}
	select {
	case err = <-read:
	default: // ctx is done, and the reader still reads
	}
	if err != nil {
		return fmt.Errorf("mcpserver: read: %w", err)
	}
	return nil
}

// ended waits until all that was read is answered. Nobody waits for long for a
// server that was told to end: it would be killed.
func (c *stdio) ended(ctx context.Context, answered <-chan error) error {
	told := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-answered:
			return err
		case <-c.out.stalled: // in a write that may never return
			return errStalled
		case <-told:
			told, late = nil, time.After(patience)
		case <-late:
			c.in.abort()
		}
	}
}

// A stdio is one connection. Its state belongs to whoever has taken an item of
// the inbox and not let go of it.
type stdio struct {
	server  *Server
	ctx     context.Context // of calls
	in      *inbox
	out     *outbox
	reading *reading
	workers sync.WaitGroup // those who answer, but for the first
	// A session of the SDK belongs to the era of the first message in it, so that
	// each era has its own.
	legacy, modern *bridge
	initialized    bool   // the handshake of the legacy era has succeeded
	client         judged // of the modern era
}

// answerAll answers what is read until the inbox is closed and empty. Several
// may be at it.
func (c *stdio) answerAll() {
	for {
		it, ok := c.in.next()
		if !ok {
			return
		}
		waiting, underway := c.in.finish(it, c.answer(it), c.out.put)
		switch {
		case waiting > 0:
			c.out.soon()
		case underway > 0:
			// Those of the same commit are about to be done: one write serves all.
			runtime.Gosched()
			fallthrough
		default:
			c.out.flush()
		}
	}
}

// answer returns the reply to one message, a whole line, or nil for none.
func (c *stdio) answer(it *item) []byte {
	switch {
	case it.kind == refused:
		return errorLine(it.id, it.fault)
	case it.kind == notification:
		if it.method == noteInitialized {
			c.legacy.tell(&it.envelope)
		}
		return nil // the others mean nothing to this server
	case it.modern:
	case it.method == methodDiscover: // the SDK tells such a client which era it is in
	case it.method == methodInitialize && c.initialized:
		return errorLine(it.id, errInitialized)
	case it.method != methodInitialize && !c.initialized:
		return errorLine(it.id, errUninitialized)
	}
	if t := c.tool(it); t != nil {
		return c.call(t, it)
	}
	return c.ask(it, func(cancel func()) { c.in.begin(it, cancel) })
}

// ask has the SDK answer a request. It passes to begin what stops that.
func (c *stdio) ask(it *item, begin func(cancel func())) []byte {
	b := c.legacy
	if it.modern {
		b = c.modern
	}
	var extra *mcp.RequestExtra
	if p := c.progress(it); p != nil {
		defer p.end()
		extra = (&exchange{caller: c.server.caller, progress: p}).extra()
	}
	n, reply := b.call(&it.envelope, extra)
	begin(func() { b.cancel(n) })
	r := b.await(reply)
	if r == nil {
		return nil
	}
	if r.Error != nil {
		return errorLine(it.id, c.server.wireError(it.method, r.Error))
	}
	if it.method == methodInitialize && !it.modern {
		c.initialized = true
	}
	if it.modern && it.plain.ok {
		c.client = judged{true, it.plain.capabilities, it.plain.client}
	}
	return resultLine(it.id, r.Result)
}

// progress returns what reports on a call; nil if the client does not ask.
func (c *stdio) progress(it *item) *progress {
	if it.method != methodCallTool {
		return nil
	}
	token := it.plain.token
	if !it.plain.ok {
		token = progressToken(it.params)
	}
	if token == nil {
		return nil
	}
	return newProgress(token, c.out.offer)
}

// note writes what the server says unasked.
func (c *stdio) note(_ context.Context, m *jsonrpc.Request) error {
	if m.IsCall() {
		return errors.New("mcpserver: over stdio the server asks nothing of a client")
	}
	line, err := messageLine(m)
	if err != nil {
		return err
	}
	_ = c.out.put(line) // if that fails, answerAll hears of it
	c.out.soon()
	return nil
}
