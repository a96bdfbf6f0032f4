package mcpserver

import (
	"net"
	"net/netip"
	"sync"

	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
)

// reservedFiles is how many of the files that the process may have open are kept for
// the store and the like.
const reservedFiles = 256

// A listener counts connections towards the limit of the address that they come from, and
// all together towards the open files of the process. It closes those beyond. A trusted
// proxy has no limit of its own, because it stands for many clients.
type listener struct {
	net.Listener
	h    *HTTP
	room chan struct{} // filled with the open connections
}

func newListener(l net.Listener, h *HTTP) *listener {
	files := openFiles()
	return &listener{Listener: l, h: h, room: make(chan struct{}, files-min(reservedFiles, files/2))}
}

// Accept returns the next connection that is admitted.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.admit(c); counted != nil {
			return counted, nil
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset leaves nothing behind
		}
		_ = c.Close() // it has sent nothing yet
	}
}

// admit counts a connection; nil if there is no room for it.
func (l *listener) admit(c net.Conn) net.Conn {
	select {
	case l.room <- struct{}{}:
	default:
		return nil
	}
	name := "address " + c.RemoteAddr().String()
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	switch {
	case err == nil && l.h.gate.TrustedProxy(peer.Addr()):
		return &countedConn{Conn: c, close: sync.OnceFunc(func() { <-l.room })}
	case err == nil:
		name = admission.AddressName(peer.Addr())
	}
	client := l.h.limiter.Client(name)
	if client.Take(limits.Connections) != nil {
		client.Release()
		<-l.room
		return nil
	}
	return &countedConn{Conn: c, close: sync.OnceFunc(func() {
		client.Give(limits.Connections)
		client.Release()
		<-l.room
	})}
}

// A countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	close func()
}

// Close closes the connection.
func (c *countedConn) Close() error {
	defer c.close()
	return c.Conn.Close()
}

// CloseWrite ends the output, so that the client can read the reply before the
// connection is reset; net/http asks for it.
func (c *countedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}
