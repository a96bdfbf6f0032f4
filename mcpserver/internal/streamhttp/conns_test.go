package streamhttp

import (
	"net"
	"net/http"
	"testing"

	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/governor"
)

// A fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr { return c.from }
func (c *fakeConn) Close() error         { c.closed = true; return nil }

// A fakeListener has the connections that are put into it.
type fakeListener struct {
	net.Listener
	conns []*fakeConn
}

func (l *fakeListener) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}

// TestConnections opens more connections than a client may have. It loses its own that
// wait, those that have never sent a request first, and never one in use.
func TestConnections(t *testing.T) {
	t.Parallel()
	x := newHeavyHouse(t, governor.Limits{governor.Connections: 9})
	x.h.gate, _ = admission.New(nil, nil) // cannot fail without origins
	from := &fakeListener{}
	l := newListener(from, x.h)
	open := func(ip string) (*fakeConn, *conn) {
		t.Helper()
		f := &fakeConn{from: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}
		from.conns = append(from.conns, f)
		c, err := l.Accept()
		if err != nil {
			return f, nil
		}
		return f, c.(*conn)
	}
	kept, k := open("10.0.0.1")
	k.busy()
	changed(k, http.StateIdle)
	used, u := open("10.0.0.1")
	u.busy()
	var fresh []*fakeConn
	for range 3 {
		f, _ := open("10.0.0.1")
		fresh = append(fresh, f)
	}
	other, o := open("10.0.0.2")
	for range 3 {
		open("10.0.0.1")
	}
	for i, f := range fresh {
		if !f.closed {
			t.Errorf("connection %d without a request is open, want it replaced", i)
		}
	}
	if kept.closed || used.closed || other.closed {
		t.Errorf("closed: one between requests %v, one in use %v, another client's %v; want none", kept.closed, used.closed, other.closed)
	}
	for {
		f, c := open("10.0.0.1")
		if c == nil {
			if !f.closed {
				t.Error("a connection that was not admitted is open")
			}
			break
		}
		c.busy()
	}
	if !kept.closed || used.closed || other.closed {
		t.Errorf("closed: one between requests %v, one in use %v, another client's %v; want the first", kept.closed, used.closed, other.closed)
	}
	if got := x.h.governor.Used(governor.Connections); got != 6 {
		t.Errorf("%d connections are open, want 5 of one client and 1 of another", got)
	}
	for range 2 {
		_ = u.Close()
		_ = o.Close()
	}
	if got := x.h.governor.Used(governor.Connections); got != 4 {
		t.Errorf("%d connections are open after two were closed, want 4", got)
	}
	if _, c := open("10.0.0.1"); c == nil {
		t.Error("no connection is admitted in the place of a closed one")
	} else {
		c.busy()
		_ = c.Close()
	}
	x.h.governor = governor.New(governor.Config{}) // the others stay open
}

// TestConnectionsOfSubjects has clients with tokens at one address. Each has connections
// of its own, and what it has too many does not fall to the others.
func TestConnectionsOfSubjects(t *testing.T) {
	t.Parallel()
	x := newHeavyHouse(t, governor.Limits{governor.Connections: 12})
	x.h.gate, _ = admission.New(nil, nil) // cannot fail without origins
	from := &fakeListener{}
	l := newListener(from, x.h)
	open := func() (*fakeConn, *conn) {
		t.Helper()
		f := &fakeConn{from: &net.TCPAddr{IP: net.ParseIP("10.0.0.1"), Port: 1}}
		from.conns = append(from.conns, f)
		c, err := l.Accept()
		if err != nil {
			t.Fatalf("a connection was not admitted: %v", err)
		}
		c.(*conn).busy()
		return f, c.(*conn)
	}
	alice, bob := x.h.governor.Subject("subject alice"), x.h.governor.Subject("subject bob")
	address := x.h.governor.Subject("address 10.0.0.1")
	var own []*conn
	for alice.Held(governor.Connections) < 6 {
		_, c := open()
		if err := c.moveTo(alice); err != nil {
			t.Fatalf("connection %d of alice: %v", len(own), err)
		}
		own = append(own, c)
	}
	_, beyond := open()
	if err := beyond.moveTo(alice); err == nil || alice.Held(governor.Connections) != 6 || address.Held(governor.Connections) != 1 {
		t.Errorf("alice's connection beyond her share: %v; she has %d, the address %d", err,
			alice.Held(governor.Connections), address.Held(governor.Connections))
	}
	_ = beyond.Close()
	_, last := open()
	for range 2 { // the second time it is bob's already
		if err := last.moveTo(bob); err != nil || bob.Held(governor.Connections) != 1 {
			t.Errorf("bob has %d connections, %v; want 1", bob.Held(governor.Connections), err)
		}
	}
	changed(own[2], http.StateIdle)
	f, c := open()
	if err := c.moveTo(alice); err != nil || !own[2].Conn.(*fakeConn).closed || f.closed {
		t.Errorf("alice's connection after one was idle: %v; closed: the idle one %v, the new one %v", err, own[2].Conn.(*fakeConn).closed, f.closed)
	}
	own[2] = c
	for _, c := range own {
		_ = c.Close()
	}
	defer last.Close()
	if a, b, n := alice.Held(governor.Connections), address.Held(governor.Connections), x.h.governor.Used(governor.Connections); a != 0 || b != 0 || n != 1 {
		t.Errorf("after alice's connections were closed she has %d, the address %d, all %d; want 0, 0, 1", a, b, n)
	}
}
