package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	// inlineLimit is how long a call is answered by the goroutine that read it, before another one
	// reads on, so that a cancellation and a ping overtake a longer call. It can take twice that.
	inlineLimit = time.Millisecond
	// maxListening limits the open subscriptions of a connection.
	maxListening = 100
)

// errStalled is the error for a client that stops reading while the server is ending.
var errStalled = errors.New("mcpserver: the client has stopped reading")

// A transport carries the messages of a client, in order.
type transport interface {
	// Read returns the next message, in its own memory. A *[rpcError] refuses a message
	// that was skipped. At the end of the input the error is io.EOF.
	Read() ([]byte, error)
	// Ready reports whether the next message may have been read already. If not, Read may
	// block the thread, and the goroutine may as well answer first.
	Ready() bool
	// Write writes messages, each with a line end. Concurrent calls of Read and Write are
	// allowed.
	Write(lines []byte) error
}

// A serveConfig says who is served.
type serveConfig struct {
	server *Server // required
	caller tool.Caller
	via    Via

	// client limits a client of a server with other clients, who is gone at the end of its
	// input, so that its calls are cancelled. For each message it gives back a unit of
	// limits.Calls. Nil means the only client of the process.
	client *limits.Client
	// admit returns an error for a message that is refused; required with a client.
	admit func(m *message) *rpcError
	// maxReply limits a reply, in bytes; 0 or less means no limit.
	maxReply int
}

// A serving serves one connection.
type serving struct {
	serveConfig
	t     transport
	conn  *connection
	queue *queue
	out   *output
	say   func(line []byte) // has out write it
	ctx   context.Context   // of calls
	buf   []byte            // for the reply to a call that the queue lets its reader take

	running   sync.WaitGroup // goroutines that answer calls of lanes or subscriptions
	listening chan struct{}  // filled with the open subscriptions
	ending    chan struct{}  // closed when all calls but those of lanes are answered

	laneCtx     context.Context // of calls in lanes
	cancelLanes func()
	lanesMu     sync.Mutex
	lanes       map[string]chan struct{} // closed when the last call of the lane is answered
}

// serve serves one client, as described at [Server.ServeStdio].
func serve(ctx context.Context, cfg serveConfig, t transport) error {
	s := &serving{
		serveConfig: cfg, t: t, conn: newConnection(cfg.server), lanes: make(map[string]chan struct{}),
		listening: make(chan struct{}, maxListening), ending: make(chan struct{}),
	}
	s.out = newOutput(t.Write, s.abort)
	s.say = func(line []byte) { s.out.put(line, false) }
	defer s.conn.close()
	defer s.out.close()
	s.ctx = context.WithoutCancel(ctx)
	s.laneCtx, s.cancelLanes = context.WithCancel(s.ctx)
	defer s.cancelLanes()
	go s.notify(s.ctx, s.conn.subscriptions)
	read, answered, stalled := make(chan error, 1), make(chan error, 1), make(chan struct{})
	s.queue = newQueue(func() { // in one goroutine at a time
		err, moved := s.read()
		if moved {
			return
		}
		read <- err
		s.queue.close()
		if s.client != nil {
			s.conn.cancel(nil)
		}
		// The client has probably ended, and a model is paid for every answer.
		if !s.over(inputTimeout) {
			s.cancelLanes()
		}
	})
	go s.queue.readOn()
	go func() {
		s.answerQueue()
		close(s.ending)
		s.running.Wait()
		answered <- s.out.drain()
	}()
	defer context.AfterFunc(ctx, func() { // supervisors kill a program that takes longer
		s.queue.close()
		if !s.over(endTimeout) {
			s.abort()
		}
		if !s.over(lastWrite) { // in a write that may block for ever
			close(stalled)
		}
	})()
	err := errStalled
	select {
	case err = <-answered:
	case <-stalled:
	}
	if err != nil {
		return fmt.Errorf("mcpserver: write: %w", err)
	}
	select {
	case err = <-read:
	default: // ctx is done and the input is still being read
	}
	if err != nil {
		return fmt.Errorf("mcpserver: read: %w", err)
	}
	return nil
}

// over waits until serving has ended, and reports whether that was within d.
func (s *serving) over(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.laneCtx.Done():
		return true
	case <-t.C:
		return false
	}
}

// abort cancels all calls and accepts no more, after the client has disconnected.
func (s *serving) abort() {
	s.queue.close()
	s.conn.cancel(nil)
}

// read reads messages until the input ends or the queue is closed. It answers a call itself if
// nothing else is to be done: handing it to another goroutine, while this one blocks its thread,
// costs more than the call. A call that takes long moves the reading to another goroutine.
func (s *serving) read() (err error, moved bool) {
	for {
		line, err := s.t.Read()
		m := message{Kind: kindRefused}
		if fault, ok := errors.AsType[*rpcError](err); ok {
			m.Fault = fault
		} else if errors.Is(err, io.EOF) {
			return nil, false
		} else if err != nil {
			return err, false
		} else if isBlank(line) {
			s.done()
			continue
		} else {
			m = s.parse(line)
		}
		call := s.accept(m, len(line))
		switch {
		case call == nil:
		case !s.t.Ready() && s.queue.take(call):
			s.buf = s.answer(call, s.buf[:0])
			if !s.queue.pass() {
				return nil, true
			}
		case !s.queue.put(call):
			s.conn.end(call)
			s.done()
			return nil, false
		}
	}
}

// parse reads a message. The turn of a long one ends with that, and its call takes one again: a heavy
// call before it in the queue would wait for it otherwise.
func (s *serving) parse(line []byte) message {
	turn := s.client.Turn()
	defer turn.Give()
	return parseIn(s.ctx, line, turn)
}

// accept handles a message that needs no turn, or returns the call that it begins.
func (s *serving) accept(m message, size int) *pendingCall {
	var received time.Time
	if m.Kind == kindRequest {
		received = time.Now()
	}
	if s.admit != nil {
		if fault := s.admit(&m); fault != nil && m.Kind == kindRequest {
			m.Kind, m.Fault = kindRefused, fault
		}
	}
	if m.Kind != kindRequest && m.Kind != kindRefused {
		s.conn.hear(&m)
		s.done()
		return nil // no reply is expected
	}
	call := s.conn.begin(s.ctx, m)
	call.size, call.received = size, received
	if m.Kind != kindRequest || m.Method != methodPing {
		return call
	}
	reply, _ := s.conn.answer(s.ctx, nil, &call.request) // a ping is about the server, and does not wait
	s.say(reply)
	s.conn.end(call)
	s.done()
	return nil
}

// done says that a message was answered.
func (s *serving) done() {
	if s.client != nil {
		s.client.Give(limits.Calls)
	}
}

// answerQueue answers the queue until it is closed and empty.
func (s *serving) answerQueue() {
	var buf []byte
	for call := s.queue.next(); call != nil; call = s.queue.next() {
		buf = s.answer(call, buf[:0])
	}
}

// answer answers a call, or moves it to its lane. It returns memory for the next reply.
func (s *serving) answer(call *pendingCall, buf []byte) []byte {
	if call.Kind == kindRefused {
		s.refuse(call)
		return buf
	}
	call.Modern, call.Caller, call.Via, call.MaxReply = call.message.Modern(), s.caller, s.via, s.maxReply
	call.Notify, call.Turn = s.say, s.client.Turn()
	switch lane := s.server.lane(&call.request); {
	case call.Modern && call.Method == methodListen:
		s.listen(call)
	case lane != "":
		s.runIn(lane, call)
	default:
		return s.run(call, buf)
	}
	return buf
}

// runIn answers a call beside others, when the call before it in its lane is answered.
func (s *serving) runIn(lane string, call *pendingCall) {
	answered := make(chan struct{})
	s.lanesMu.Lock()
	before := s.lanes[lane]
	s.lanes[lane] = answered
	s.lanesMu.Unlock()
	s.running.Go(func() {
		if before != nil {
			<-before
		}
		stop := context.AfterFunc(s.laneCtx, func() { call.cancel(nil) })
		s.run(call, nil)
		stop()
		close(answered)
		s.lanesMu.Lock()
		defer s.lanesMu.Unlock()
		if s.lanes[lane] == answered {
			delete(s.lanes, lane)
		}
	})
}

// run answers one call.
func (s *serving) run(call *pendingCall, buf []byte) []byte {
	if call.cancelled() {
		s.reply(call, nil)
		return buf
	}
	var ctx context.Context
	ctx, call.Seen = s.observe(call)
	line, fault := s.conn.answer(ctx, buf, &call.request)
	call.Seen.finish(fault)
	s.reply(call, line)
	if cap(line) > maxSpare {
		return nil
	}
	return line
}

// observe tells the observer of a call that begins.
func (s *serving) observe(call *pendingCall) (context.Context, *Exchange) {
	return s.server.observe(call.ctx, &call.message, s.caller, s.via, call.received)
}

// refuse answers a message with its error.
func (s *serving) refuse(call *pendingCall) {
	if !call.received.IsZero() {
		_, seen := s.observe(call)
		seen.finish(call.Fault)
	} else {
		s.server.other(&Exchange{Dialect: s.server.name(), Caller: s.caller, Via: s.via, Received: time.Now()}, call.Fault)
	}
	s.reply(call, appendError(nil, call.ID, call.Fault))
}

// reply writes the reply to a call, which has ended. A cancelled call gets none. A client
// with limits holds what the call has taken until the reply is written: it is in memory.
func (s *serving) reply(call *pendingCall, line []byte) {
	if !s.conn.end(call) && line != nil {
		s.out.put(line, s.queue.empty()) // or replies are written together
	}
	if s.client != nil {
		_ = s.out.drain() // if writing fails, the connection ends
	}
	call.Turn.Give()
	s.done()
	s.queue.done(call)
}

// listen begins a subscription. Its reply is sent when it ends. Until then it delays
// neither later calls nor the end of the connection.
func (s *serving) listen(call *pendingCall) {
	if call.cancelled() {
		s.reply(call, nil)
		return
	}
	ctx, seen := s.observe(call)
	l, fault := listen(ctx, s.server, &call.request)
	if fault == nil && !l.empty {
		select {
		case s.listening <- struct{}{}:
		default:
			l.close()
			fault = invalidParams("a connection may have %d subscriptions at a time: cancel some of them", maxListening)
		}
	}
	seen.finish(fault)
	switch {
	case fault != nil:
		s.reply(call, appendError(nil, call.ID, fault))
	case l.empty:
		s.reply(call, append(l.acknowledgement, l.result...))
	default:
		s.say(l.acknowledgement)
		call.Turn.Give()
		s.done()
		s.queue.done(call)
		s.running.Go(func() {
			s.notify(call.ctx, l.subscriptions)
			l.close()
			<-s.listening
			if !s.conn.end(call) {
				s.say(l.result)
			}
		})
	}
}

// notify sends notifications until ctx is done, or until the connection ends.
func (s *serving) notify(ctx context.Context, from *subscriptions) {
	from.follow(ctx, s.ending, nil, func(lines []byte) error {
		s.say(lines)
		return nil
	})
}
