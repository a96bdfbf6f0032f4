package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
)

const (
	// idleConn is how long a connection may be open between two requests.
	idleConn = 2 * time.Minute
	// lastWords is how long messages that are being read and replies that are being written
	// may hold up the end of the server.
	lastWords = time.Second
	// maxHeader bounds the header of a request.
	maxHeader = 64 << 10
	// reservedFiles is how many of the files that the process may have open are kept for
	// the store and the like.
	reservedFiles = 256
)

// Serve accepts connections until ctx is done, and for Config.Drain after that.
// Then it answers what it has begun to read, for as long as Config.Grace allows, refuses
// calls that wait for their turn, ends streams, and returns nil, or an error if there was not time enough. It
// closes l.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: h.config.Timeout,
		IdleTimeout:       idleConn,
		MaxHeaderBytes:    maxHeader,
		// What it would log are connections that fail, at anybody's wish.
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig:   h.config.TLS,
		Protocols:   new(http.Protocols),
		ConnState:   h.count,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		// What takes longer than a header has a deadline of its own; a stream is
		// for as long as its client reads it.
	}
	srv.Protocols.SetHTTP1(true) // connections are counted, and one of HTTP/2 has many requests
	served := make(chan error, 1)
	go func() {
		if h.config.TLS != nil {
			served <- srv.ServeTLS(l, "", "")
			return
		}
		served <- srv.Serve(l)
	}()
	select {
	case err := <-served:
		_ = h.Shutdown(context.WithoutCancel(ctx))
		return fmt.Errorf("mcpserver: %w", err)
	case <-ctx.Done():
	}
	h.draining.Store(true)
	within(served, h.config.Drain)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.config.Grace)
	defer cancel()
	h.endStreams()
	stopped := make(chan error)
	go func() { _ = srv.Shutdown(grace); close(stopped) }() // closes l before anything else
	defer srv.Close()
	// A connection on which a request is being read or a reply written gets its
	// time, but not all of it: it may be one on which nothing happens any more.
	within(stopped, lastWords)
	if err := h.Shutdown(grace); err != nil {
		return fmt.Errorf("mcpserver: calls were still under way: %w", err)
	}
	within(stopped, lastWords)
	return nil
}

// within waits for a channel, but not for long, and reports whether it was there.
func within(c <-chan error, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// Shutdown refuses new calls, ends streams and waits for the calls in progress.
// If ctx is done first, it cancels them and returns ctx's error. Further calls of
// Shutdown do nothing.
func (h *HTTP) Shutdown(ctx context.Context) error {
	h.draining.Store(true)
	h.mu.Lock()
	first := !h.down
	h.down = true
	h.mu.Unlock()
	if !first {
		return errors.New("mcpserver: Shutdown was called before")
	}
	h.endStreams()
	quiet := make(chan error)
	go func() { h.active.Wait(); close(quiet) }()
	var err error
	select {
	case <-quiet:
	case <-ctx.Done():
		err = ctx.Err()
		h.abort()
		if !within(quiet, time.Second) { // calls that do not heed it
			return err
		}
	}
	h.sessions.shut()
	return err
}

// enter counts a call in progress, unless the server ends. If it reports false it has answered.
func (v *visit) enter(id []byte) bool {
	v.h.mu.Lock()
	down := v.h.down
	if !down {
		v.h.active.Add(1)
	}
	v.h.mu.Unlock()
	if down {
		v.w.Header().Set("Connection", "close")
		v.fail(http.StatusServiceUnavailable, id, errEnding)
	}
	return !down
}

// A connKey is the key of the [net.Conn] in the context of a request.
type connKey struct{}

// count counts connections towards the limit of the address that they come from, and all
// together towards the open files of the process. It closes those beyond. A trusted
// proxy has no limit of its own, because it stands for many clients. A connection that a
// WebSocket has taken over counts until that calls uncount.
func (h *HTTP) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !h.admit(c) {
			_ = c.Close() // it has sent nothing yet
		}
	case http.StateClosed:
		h.uncount(c)
	}
}

// admit counts a connection; false means that there is no room for it.
func (h *HTTP) admit(c net.Conn) bool {
	select {
	case h.room <- struct{}{}:
	default:
		return false
	}
	peer, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	if h.gate.TrustedProxy(peer.Addr()) {
		h.conns.Store(c, func() { <-h.room })
		return true
	}
	client := h.limiter.Client(admission.AddressName(peer.Addr()))
	give := func() { client.Release(); <-h.room }
	if client.Take(limits.Connections) != nil {
		give()
		return false
	}
	h.conns.Store(c, func() { client.Give(limits.Connections); give() })
	return true
}

// uncount gives back what a connection counts for.
func (h *HTTP) uncount(c net.Conn) {
	if give, ok := h.conns.LoadAndDelete(c); ok {
		give.(func())()
	}
}

// CheckAddress returns an error if other machines can reach a server at addr, which is
// HOST:PORT. Such a server needs an [auth.Authenticator].
func CheckAddress(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("mcpserver: %q is not an address like 127.0.0.1:8080: %w", addr, err)
	}
	if !admission.LocalName(host) {
		return fmt.Errorf("mcpserver: address %s: it can be reached from other machines without authentication", addr)
	}
	return nil
}
