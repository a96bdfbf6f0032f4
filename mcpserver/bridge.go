package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A bridge is a session with the SDK's server, in the form of a transport whose
// other end is [stdio] or [HTTP]. Requests get ids of the bridge's own: the SDK
// would round large numbers and drop fractions.
type bridge struct {
	server  *Server
	unasked func(ctx context.Context, m *jsonrpc.Request) error // takes what the server sends unasked
	in      chan jsonrpc.Message
	closed  chan struct{}
	close   func()
	session *mcp.ServerSession

	mu      sync.Mutex
	last    int64
	waiting map[int64]waiter // by the bridge's id
}

type waiter struct {
	id    json.RawMessage // as the client wrote it
	reply chan<- *jsonrpc.Response
}

// connect opens a session.
func connect(ctx context.Context, s *Server, unasked func(context.Context, *jsonrpc.Request) error) (*bridge, error) {
	b := &bridge{
		server:  s,
		unasked: unasked,
		in:      make(chan jsonrpc.Message),
		closed:  make(chan struct{}),
		waiting: make(map[int64]waiter),
	}
	b.close = sync.OnceFunc(func() { close(b.closed) })
	ctx = context.WithValue(ctx, bridgeKey{}, b) // for handlers
	var err error
	b.session, err = s.mcp.Connect(ctx, bridgeTransport{b}, nil)
	return b, err
}

// shut ends the session and waits until the SDK has let go of it.
func (b *bridge) shut() {
	b.close()
	_ = b.session.Wait() // says how the connection ended, which was our doing
	b.server.watches.forget(b.session)
}

// call hands a request over. The work on it has begun when call returns, so that
// cancel reaches it; its reply comes on the channel. The handler sees extra.
func (b *bridge) call(e *envelope, extra *mcp.RequestExtra) (n int64, reply <-chan *jsonrpc.Response) {
	ch := make(chan *jsonrpc.Response, 1)
	b.mu.Lock()
	b.last++
	n = b.last
	b.waiting[n] = waiter{id: e.id, reply: ch}
	b.mu.Unlock()
	id, _ := jsonrpc.MakeID(float64(n)) // a number cannot fail
	m := &jsonrpc.Request{ID: id, Method: e.method, Params: e.params}
	if extra != nil {
		m.Extra = extra
	}
	b.send(m)
	return n, ch
}

// await returns the reply to a call, or nil if the session ended before.
func (b *bridge) await(reply <-chan *jsonrpc.Response) *jsonrpc.Response {
	select {
	case r := <-reply:
		return r
	case <-b.closed:
		return nil
	}
}

// cancel stops the work on a call.
func (b *bridge) cancel(n int64) {
	params := strconv.AppendInt([]byte(`{"requestId":`), n, 10)
	b.send(&jsonrpc.Request{Method: noteCancelled, Params: append(params, '}')})
}

// tell hands a notification over.
func (b *bridge) tell(e *envelope) {
	b.send(&jsonrpc.Request{Method: e.method, Params: e.params})
}

func (b *bridge) send(m jsonrpc.Message) {
	select {
	case b.in <- m:
	case <-b.closed:
	}
}

// A bridgeTransport is the side of a bridge that the SDK sees.
type bridgeTransport struct{ b *bridge }

func (t bridgeTransport) Connect(context.Context) (mcp.Connection, error) { return t, nil }

func (t bridgeTransport) SessionID() string { return "" }

func (t bridgeTransport) Close() error {
	t.b.close()
	return nil
}

func (t bridgeTransport) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-t.b.in:
		return m, nil
	case <-t.b.closed:
		return nil, io.EOF
	}
}

func (t bridgeTransport) Write(ctx context.Context, m jsonrpc.Message) error {
	b := t.b
	switch m := m.(type) {
	case *jsonrpc.Response:
		n, ok := m.ID.Raw().(int64)
		b.mu.Lock()
		w := b.waiting[n]
		delete(b.waiting, n)
		b.mu.Unlock()
		if !ok || w.reply == nil {
			return nil // an answer to nothing that was asked
		}
		m.Result = restore(m.Result, n, w.id)
		w.reply <- m
		return nil
	case *jsonrpc.Request:
		m.Params = b.restoreAny(m.Params)
		return b.unasked(ctx, m)
	}
	return nil
}

// restoreAny puts the client's id back into a notification that belongs to a
// subscription.
func (b *bridge) restoreAny(params json.RawMessage) json.RawMessage {
	if !bytes.Contains(params, []byte(`"`+metaSubscription+`":`)) {
		return params
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for n, w := range b.waiting {
		params = restore(params, n, w.id)
	}
	return params
}

// restore puts the client's id in the place of the bridge's where a subscription
// is named. The SDK alone writes that member, in this form.
func restore(raw json.RawMessage, n int64, id json.RawMessage) json.RawMessage {
	key := []byte(`"` + metaSubscription + `":`)
	i := bytes.Index(raw, key)
	if i < 0 {
		return raw
	}
	i += len(key)
	ours, rest := strconv.FormatInt(n, 10), raw[i:]
	if !bytes.HasPrefix(rest, []byte(ours)) || len(rest) > len(ours) && '0' <= rest[len(ours)] && rest[len(ours)] <= '9' {
		return raw
	}
	out := append(json.RawMessage(nil), raw[:i]...)
	out = append(out, id...)
	return append(out, rest[len(ours):]...)
}
