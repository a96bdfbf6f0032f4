package streamhttp

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/governor"
)

// A listener admits as many connections as each client may have. A connection is one of
// its address, and from the first request with a token on one of the token's subject. A
// client that opens one more loses the one of its own that has waited longest for a
// request: rather one that has never sent a request than one between two requests. If all
// its connections are in use, the new one is closed.
type listener struct {
	net.Listener
	h *Handler

	mu   sync.Mutex
	idle map[*governor.Subject]*idleConns
}

// idleConns are the connections of one client without a request, those that have
// waited longest first. A connection is idle until the header of its request is read.
type idleConns struct {
	fresh, kept list.List // of *conn: before and after their first request
}

func (i *idleConns) oldest() *conn {
	e := i.fresh.Front()
	if e == nil {
		e = i.kept.Front()
	}
	if e == nil {
		return nil
	}
	return e.Value.(*conn)
}

// A conn is a connection that counts as one of its client's.
type conn struct {
	net.Conn
	l     *listener
	proxy bool // from a trusted proxy, which sends requests of several clients

	// Guarded by l.mu:
	client  *governor.Subject
	in      *list.List    // that has the connection while it is idle
	place   *list.Element // in it
	counted bool
}

func newListener(l net.Listener, h *Handler) *listener {
	return &listener{Listener: l, h: h, idle: make(map[*governor.Subject]*idleConns)}
}

// Accept returns the next connection that is admitted.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.admit(c); admitted != nil {
			return admitted, nil
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset leaves nothing behind
		}
		_ = c.Close() // it has sent nothing yet
	}
}

// admit counts a connection; nil if there is no room for it.
func (l *listener) admit(c net.Conn) *conn {
	name, proxy := "address "+c.RemoteAddr().String(), false
	if peer, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
		name, proxy = admission.AddressName(peer.Addr()), l.h.gate.TrustedProxy(peer.Addr())
	}
	client := l.h.governor.Subject(name)
	defer client.Release()
	take := client.Take
	if proxy {
		take = client.TakeUnshared
	}
	admitted := &conn{Conn: c, l: l, proxy: proxy, client: client, counted: true}
	var replaced *conn
	l.mu.Lock()
	if take(governor.Connections, 1) != nil {
		if client.Delay() == 0 { // one that comes too often is not worth a goroutine
			replaced = l.takePlace(client)
		}
		if replaced == nil {
			l.mu.Unlock()
			return nil
		}
	}
	l.rest(admitted, true)
	l.mu.Unlock()
	if replaced != nil {
		_ = replaced.Close()
	}
	return admitted
}

// takePlace returns the idle connection of a client that a new one replaces; nil if
// there is none. The caller holds mu and closes the connection.
func (l *listener) takePlace(client *governor.Subject) *conn {
	own := l.idle[client]
	if own == nil {
		return nil
	}
	c := own.oldest()
	l.unrest(c)
	c.counted = false // its place goes to the new connection
	return c
}

// moveTo makes a connection with a request one of the client whose token the request has.
// A client that has its share loses an idle connection of its own. If it has none, the
// error is a [governor.Refusal], and the connection is whose it was.
func (c *conn) moveTo(client *governor.Subject) error {
	c.l.mu.Lock()
	before := c.client
	if c.proxy || !c.counted || before == client {
		c.l.mu.Unlock()
		return nil
	}
	before.Give(governor.Connections, 1) // so that the place is free
	err := client.Take(governor.Connections, 1)
	var replaced *conn
	if err != nil {
		replaced = c.l.takePlace(client)
	}
	if err == nil || replaced != nil {
		c.client = client
	} else {
		_ = before.TakeUnshared(governor.Connections, 1) // the same place
	}
	c.l.mu.Unlock()
	if replaced == nil {
		return err
	}
	_ = replaced.Close()
	return nil
}

// rest makes a connection idle. The caller holds mu.
func (l *listener) rest(c *conn, fresh bool) {
	own := l.idle[c.client]
	if own == nil {
		own = new(idleConns)
		l.idle[c.client] = own
	}
	c.in = &own.kept
	if fresh {
		c.in = &own.fresh
	}
	c.place = c.in.PushBack(c)
}

// unrest makes a connection one that is not idle. The caller holds mu.
func (l *listener) unrest(c *conn) {
	if c.in == nil {
		return
	}
	c.in.Remove(c.place)
	c.in, c.place = nil, nil
	if own := l.idle[c.client]; own.oldest() == nil {
		delete(l.idle, c.client)
	}
}

// Close closes the connection.
func (c *conn) Close() error {
	c.l.mu.Lock()
	c.l.unrest(c)
	if c.counted {
		c.counted = false
		c.client.Give(governor.Connections, 1)
	}
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends the output, so that the client can read the reply before the
// connection is reset; net/http asks for it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// busy says that a request has come.
func (c *conn) busy() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.unrest(c)
}

// changed hears from net/http that a request is over.
func changed(nc net.Conn, state http.ConnState) {
	c := admitted(nc)
	if c == nil || state != http.StateIdle {
		return
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.in == nil && c.counted { // not closed meanwhile
		c.l.rest(c, false)
	}
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, admitted(c))
}

// admitted returns the connection of a listener, which may be inside one with TLS; nil for
// another one.
func admitted(nc net.Conn) *conn {
	if secure, ok := nc.(*tls.Conn); ok {
		nc = secure.NetConn()
	}
	c, _ := nc.(*conn)
	return c
}

// connOf returns the connection of a request; nil if it is not one of a listener.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}
