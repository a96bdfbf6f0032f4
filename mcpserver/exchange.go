package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/tool"
)

// How much may wait for a client that does not read its stream.
const (
	maxQueued      = 1000
	maxQueuedBytes = 4 << 20
)

// An exchange is one HTTP request, as the handlers of its message see it: who
// makes it, and what it is sent before its reply. It is also a stream that a
// client opens to hear what belongs to no request. On standard input, where what
// is sent has another way, it is who calls and how that is reported on.
type exchange struct {
	caller   tool.Caller
	progress *progress     // of the call, if the client wants to know
	wake     chan struct{} // has room for one; filled when there is something to take

	mu    sync.Mutex
	queue [][]byte // lines
	size  int      // of queue
	over  bool     // nobody takes any more
}

func newExchange(c tool.Caller) *exchange {
	return &exchange{caller: c, wake: make(chan struct{}, 1)}
}

// put adds a line to what the client is sent. It never waits: a client that falls
// behind loses its stream. It reports whether the line will be sent.
func (x *exchange) put(line []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return false
	}
	if len(x.queue) >= maxQueued || x.size+len(line) > maxQueuedBytes {
		x.over = true
	} else {
		x.queue = append(x.queue, line)
		x.size += len(line)
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return !x.over
}

// offer is put for what may be lost, so that the stream is not.
func (x *exchange) offer(line []byte) {
	x.mu.Lock()
	full := len(x.queue) >= maxQueued/2 || x.size+len(line) > maxQueuedBytes/2
	x.mu.Unlock()
	if !full {
		x.put(line)
	}
}

// take returns what was put, and whether more may come.
func (x *exchange) take() (lines [][]byte, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	lines, x.queue, x.size = x.queue, nil, 0
	return lines, !x.over
}

// end makes put refuse.
func (x *exchange) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	x.queue, x.size = nil, 0
}

// exchangeKey is where the context of a handler has the exchange.
type exchangeKey struct{}

// extraKey is where a request has it on its way through the SDK, which hands what
// a transport says about the caller to the handler.
const extraKey = "exchange"

func (x *exchange) extra() *mcp.RequestExtra {
	return &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{
		UserID: x.caller.Owner,
		Extra:  map[string]any{extraKey: x},
	}}
}

func exchangeOf(extra *mcp.RequestExtra) *exchange {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	x, _ := extra.TokenInfo.Extra[extraKey].(*exchange)
	return x
}

func exchangeIn(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// callerOf returns who makes the request that ctx belongs to.
func (s *Server) callerOf(ctx context.Context) tool.Caller {
	if x := exchangeIn(ctx); x != nil {
		return x.caller
	}
	return s.caller
}

// hangUp ends a stream from the other side: what was put is still taken.
func (x *exchange) hangUp() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	select {
	case x.wake <- struct{}{}:
	default:
	}
}
