package mcpserver

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// idleConn is how long a connection may be open between two requests.
	idleConn = 2 * time.Minute
	// lastWords is how long a connection on which no call is under way may hold up
	// the end of the server.
	lastWords = time.Second
	// maxHeader bounds the header of a request.
	maxHeader = 64 << 10
)

// Serve accepts connections until ctx is done, and for Config.Drain after that.
// Then it answers what it has begun to read, for as long as Config.Grace allows, refuses
// calls that wait for their turn, ends streams, and returns nil, or an error if there was not time enough. It
// closes l.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: max(0, h.config.Timeout),
		IdleTimeout:       idleConn,
		MaxHeaderBytes:    maxHeader,
		// What it would log are connections that fail, at anybody's wish.
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig: h.config.TLS,
		Protocols: http1(), // connections are counted, and one of HTTP/2 has many requests
		// What takes longer than a header has a deadline of its own; a stream is
		// for as long as its client reads it.
	}
	served := make(chan error, 1)
	go func() {
		if h.config.TLS != nil {
			served <- srv.ServeTLS(newListener(l, h), "", "")
			return
		}
		served <- srv.Serve(newListener(l, h))
	}()
	select {
	case err := <-served:
		_ = h.Shutdown(context.WithoutCancel(ctx))
		return fmt.Errorf("mcpserver: %w", err)
	case <-ctx.Done():
	}
	h.draining.Store(true)
	if h.config.Drain > 0 {
		select {
		case err := <-served:
			served <- err
		case <-time.After(h.config.Drain):
		}
	}
	grace := context.WithoutCancel(ctx)
	if h.config.Grace >= 0 {
		var cancel context.CancelFunc
		grace, cancel = context.WithTimeout(grace, h.config.Grace)
		defer cancel()
	}
	h.endStreams()
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Shutdown(grace) }() // closes l before anything else
	<-served
	defer srv.Close()
	// A connection on which a request is being read or a reply written gets its
	// time, but not all of it: it may be one on which nothing happens any more.
	done := within(stopped, lastWords)
	if err := h.Shutdown(grace); err != nil {
		return fmt.Errorf("mcpserver: calls were still under way: %w", err)
	}
	if !done {
		within(stopped, lastWords)
	}
	return nil
}

func http1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
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
