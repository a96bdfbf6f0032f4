package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/tool"
)

const (
	// endTimeout limits the calls in progress after the server was told to end.
	endTimeout = 5 * time.Second
	// lastWrite limits what is written after that.
	lastWrite = time.Second
	// inputTimeout limits calls in lanes, which wait for a language model, after the end of
	// the input.
	inputTimeout = 30 * time.Second
	// maxBeside limits the concurrent calls of other lanes.
	maxBeside = 256
	// maxListening limits the open subscriptions of a connection.
	maxListening = 100
)

// ErrStalled is the error for a client that stops reading while the server is ending.
var errStalled = errors.New("mcpserver: the client has stopped reading")

// A transport carries the messages of a client, in order.
type transport interface {
	// Read returns the next message, in its own memory. A *[rpcError] refuses a message
	// that was skipped. At the end of the input the error is io.EOF.
	Read() ([]byte, error)
	// Ready reports whether the next message may have been read already. If not, Read may
	// block the thread.
	Ready() bool
	// Write writes messages, each with a line end. Concurrent calls of Read and Write are
	// allowed.
	Write(lines []byte) error
}

// A serveConfig configures Serve.
type serveConfig struct {
	Server *Server // required
	Caller tool.Caller
	Via    Via

	// Client limits a client of a server with other clients, who is gone at the end of its
	// input, so that its calls are cancelled. Nil means the only client of the process.
	Client *limits.Client
	// Admit returns an error for a message that is refused, and Done is called when a message
	// was answered. Both are required with a Client.
	Admit func(m *message) *rpcError
	Done  func()
	// MaxReply limits a reply, in bytes; 0 or less means no limit.
	MaxReply int
}

// serve serves one client, as described at mcpserver.Server.ServeStdio.
func serve(ctx context.Context, cfg serveConfig, t transport) error {
	s := &serving{serveConfig: cfg, t: t, conn: newConnection(cfg.Server), queue: newQueue(), beside: make(chan struct{}, maxBeside), ending: make(chan struct{})}
	s.out = newOutput(t.Write, s.abort)
	defer s.conn.Close()
	defer s.out.close()
	s.ctx = context.WithoutCancel(ctx)
	s.laneCtx, s.cancelLanes = context.WithCancel(s.ctx)
	defer s.cancelLanes()
	go s.notify(s.conn.Subscriptions(), s.ctx)
	read, answered := make(chan error, 1), make(chan error, 1)
	go func() {
		read <- s.read()
		s.queue.close()
		if s.Client != nil {
			s.conn.Cancel(nil)
		}
	}()
	go func() {
		s.answerQueue()
		close(s.ending)
		s.running.Wait()
		answered <- s.out.drain()
	}()
	return s.wait(ctx, read, answered)
}

// wait waits until everything that was read is answered. It cancels calls in lanes that
// are not answered inputTimeout after the end of the input: the client has probably ended,
// and a model is paid for every answer. Once ctx is done it waits for endTimeout,
// because supervisors kill a program that takes longer.
func (s *serving) wait(ctx context.Context, read, answered <-chan error) error {
	var failure error // of reading
	told := ctx.Done()
	var late, last, enough <-chan time.Time
	for {
		select {
		case err := <-answered:
			select {
			case failure = <-read:
			default: // it is known already, or ctx is done and the input is still being read
			}
			switch {
			case err != nil:
				return fmt.Errorf("mcpserver: write: %w", err)
			case failure != nil:
				return fmt.Errorf("mcpserver: read: %w", failure)
			}
			return nil
		case failure = <-read:
			read, enough = nil, time.After(inputTimeout)
		case <-enough:
			s.cancelLanes()
		case <-told:
			s.queue.close()
			told, late = nil, time.After(endTimeout)
		case <-late:
			s.abort()
			late, last = nil, time.After(lastWrite)
		case <-last: // in a write that may block for ever
			return fmt.Errorf("mcpserver: write: %w", errStalled)
		}
	}
}

// A serving serves one connection.
type serving struct {
	serveConfig
	t     transport
	conn  *connection
	queue *queue
	out   *output
	ctx   context.Context // of calls

	running   sync.WaitGroup // goroutines that answer lanes or subscriptions
	beside    chan struct{}  // filled with the running calls of other lanes
	listening int            // open subscriptions; guarded by queue.mu
	ending    chan struct{}  // closed when the connection's own lane is answered

	laneCtx     context.Context // of calls in lanes
	cancelLanes func()
}

// abort cancels all calls and accepts no more, after the client has disconnected.
func (s *serving) abort() {
	s.queue.close()
	s.conn.Cancel(nil)
}

// read reads messages until the input ends or the queue is closed.
func (s *serving) read() error {
	for {
		line, err := s.t.Read()
		m := message{Kind: kindRefused}
		if fault, ok := errors.AsType[*rpcError](err); ok {
			m.Fault = fault
		} else if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		} else if isBlank(line) {
			s.done()
			continue
		} else {
			m = s.parse(line)
		}
		if !s.accept(m, len(line)) {
			return nil
		}
		if !s.t.Ready() {
			// The next read can block the thread, and the scheduler takes a while to run
			// other goroutines then.
			runtime.Gosched()
		}
	}
}

// parse reads a message. The turn of a long one ends with that, and its call takes one again: a heavy
// call before it in the queue would wait for it otherwise.
func (s *serving) parse(line []byte) message {
	turn := s.Client.Turn()
	defer turn.Give()
	return parseIn(s.ctx, line, turn)
}

// accept handles a message, or puts it into the queue. It returns false if that is closed.
func (s *serving) accept(m message, size int) bool {
	var received time.Time
	if m.Kind == kindRequest {
		received = time.Now()
	}
	if s.Admit != nil {
		if fault := s.Admit(&m); fault != nil && m.Kind == kindRequest {
			m.Kind, m.Fault = kindRefused, fault
		}
	}
	if m.Kind != kindRequest && m.Kind != kindRefused {
		s.conn.Hear(&m)
		s.done()
		return true // no reply is expected
	}
	call := s.conn.Begin(s.ctx, m)
	call.size, call.received = size, received
	if m.Kind == kindRequest && m.Method == methodPing { // it is about the server, and does not wait
		reply, _ := s.conn.Answer(s.ctx, nil, &call.request)
		s.conn.End(call)
		s.out.put(reply)
		s.done()
		return true
	}
	if !s.queue.put(call) {
		s.conn.End(call)
		s.done()
		return false
	}
	return true
}

// done says that a message was answered.
func (s *serving) done() {
	if s.Done != nil {
		s.Done()
	}
}

// answerQueue answers the connection's own lane until the queue is closed and empty.
func (s *serving) answerQueue() {
	var buf []byte
	for call := s.queue.next(); call != nil; call = s.queue.next() {
		buf = s.answer(call, buf[:0])
		if cap(buf) > maxSpare {
			buf = nil
		}
	}
}

// answer answers a call, or moves it to its lane. It returns the memory of the reply.
func (s *serving) answer(call *pendingCall, buf []byte) []byte {
	if call.message.Kind == kindRefused {
		s.refuse(call)
		return buf
	}
	call.Modern, call.Caller, call.Via, call.MaxReply = call.message.Modern(), s.Caller, s.Via, s.MaxReply
	call.Notify, call.Turn = s.out.put, s.Client.Turn()
	if call.Modern && call.Method == methodListen {
		s.listen(call)
		return buf
	}
	lane := s.Server.lane(&call.request)
	if lane == "" {
		return s.run(call, buf)
	}
	if s.queue.enter(lane, call) {
		s.running.Go(func() { s.answerLane(lane, call) })
	}
	return buf
}

// answerLane answers a lane until it is empty.
func (s *serving) answerLane(lane string, call *pendingCall) {
	for ; call != nil; call = s.queue.leave(lane) {
		s.beside <- struct{}{}
		stop := context.AfterFunc(s.laneCtx, func() { call.cancel(nil) })
		s.run(call, nil)
		stop()
		<-s.beside
	}
}

// run answers one call.
func (s *serving) run(call *pendingCall, buf []byte) []byte {
	if call.Cancelled() {
		s.reply(call, nil)
		return buf
	}
	var ctx context.Context
	ctx, call.Seen = s.observe(call)
	line, fault := s.conn.Answer(ctx, buf, &call.request)
	call.Seen.End(fault)
	s.reply(call, line)
	return line
}

// observe tells the observer of a call that begins.
func (s *serving) observe(call *pendingCall) (context.Context, *Exchange) {
	return s.Server.observe(call.ctx, &call.message, s.Caller, s.Via, call.received)
}

// refuse answers a message with its error.
func (s *serving) refuse(call *pendingCall) {
	if !call.received.IsZero() {
		_, seen := s.observe(call)
		seen.End(call.message.Fault)
	} else {
		s.Server.other(&Exchange{Dialect: s.Server.name(), Caller: s.Caller, Via: s.Via, Received: time.Now()}, call.message.Fault)
	}
	s.reply(call, appendError(nil, call.ID, call.message.Fault))
}

// reply writes the reply to a call, which has ended. A cancelled call gets none. A client
// with limits holds what the call has taken until the reply is written: it is in memory.
func (s *serving) reply(call *pendingCall, line []byte) {
	put := s.out.putNow
	if s.queue.waiting() { // so that replies are written together
		put = s.out.put
	}
	if !s.conn.End(call) && line != nil {
		put(line)
	}
	if s.Client != nil {
		_ = s.out.drain() // if writing fails, the connection ends
	}
	call.Turn.Give()
	s.done()
	s.queue.done(call)
}

// listen begins a subscription. Its reply is sent when it ends. Until then it delays
// neither later calls nor the end of the connection.
func (s *serving) listen(call *pendingCall) {
	if call.Cancelled() {
		s.reply(call, nil)
		return
	}
	ctx, seen := s.observe(call)
	l, fault := listen(ctx, s.Server, &call.request)
	if fault == nil && !l.Empty() && !s.addListening(1) {
		l.Close()
		fault = invalidParams("a connection may have %d subscriptions at a time: cancel some of them", maxListening)
	}
	seen.End(fault)
	switch {
	case fault != nil:
		s.reply(call, appendError(nil, call.ID, fault))
	case l.Empty():
		s.reply(call, append(l.Acknowledgement(), l.Result()...))
	default:
		s.out.put(l.Acknowledgement())
		s.done()
		s.queue.done(call)
		s.running.Go(func() {
			s.notify(l.subscriptions, call.ctx)
			l.Close()
			s.addListening(-1)
			if !s.conn.End(call) {
				s.out.put(l.Result())
			}
		})
	}
}

// addListening counts an open subscription, and returns false if there are too many.
func (s *serving) addListening(n int) bool {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	if s.listening+n > maxListening {
		return false
	}
	s.listening += n
	return true
}

// notify sends notifications until ctx is done, or until the connection ends.
func (s *serving) notify(to *subscriptions, ctx context.Context) {
	for {
		select {
		case <-to.Wake():
			for _, line := range to.Take() {
				s.out.put(line)
			}
		case <-ctx.Done():
			return
		case <-s.ending:
			return
		}
	}
}
