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
