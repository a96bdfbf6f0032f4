// Package socket serves a client over a WebSocket (RFC 6455), with one message of JSON-RPC
// in each text frame. It is a custom transport of the protocol. Everything but the frames
// is as on standard input and output: order, cancellation, lanes, both eras.
package socket

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/mcpserver/internal/stdio"
)

const (
	// pingInterval is the time between two pings. A client that is gone is noticed by the
	// answer that does not come.
	pingInterval = 20 * time.Second
	// closeTimeout limits the closing handshake.
	closeTimeout = time.Second
	// step is the part of a frame that Config.Timeout is for, in bytes.
	step = 256 << 10
)

// A Config configures Serve. All fields are required.
type Config struct {
	Conn     stdio.Config // with a Guest
	MaxFrame int          // bytes of a frame; negative means no limit
	// Timeout limits the time for a client to read or to send 256 KiB of a frame, and to
	// answer a ping. Negative means no limit.
	Timeout time.Duration
	// Hold takes memory for a frame that arrives, in bytes, and Give returns it. An error
	// ends the connection.
	Hold func(n int64) error
	Give func(n int64)
	// Valid reports whether the client is still admitted. It is called with each ping.
	Valid func() bool
}

// Serve serves a client until it disconnects or ctx is done, and closes ws. Once ctx is
// done, calls that were read are answered within stdio.EndTimeout.
func Serve(ctx context.Context, cfg Config, ws *websocket.Conn) {
	defer ws.CloseNow() //nolint:errcheck // it is closed, or the client is gone
	ws.SetReadLimit(int64(cfg.MaxFrame))
	conn, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	go ping(conn, cfg, ws)
	in := &reader{ctx: conn, ws: ws, cfg: cfg}
	defer in.end()
	cfg.Conn.MaxLine = cfg.MaxFrame
	if cfg.MaxFrame < 0 {
		cfg.Conn.MaxLine = int(^uint(0) >> 1)
	}
	_ = stdio.Serve(ctx, cfg.Conn, in, &writer{ctx: conn, ws: ws, cfg: cfg}) // its errors are those of the connection
	if ctx.Err() == nil {
		return // the client is gone
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = ws.Close(websocket.StatusGoingAway, "the server is shutting down") // the client may be gone
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}

// ping notices that a client is gone, and ends its connection.
func ping(ctx context.Context, cfg Config, ws *websocket.Conn) {
	t := time.NewTicker(pingInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		if !cfg.Valid() {
			_ = ws.Close(websocket.StatusPolicyViolation, "the token is not valid any more") // the client may be gone
			return
		}
		limited, cancel := cfg.limit(ctx, 0)
		err := ws.Ping(limited)
		cancel()
		if err != nil {
			_ = ws.CloseNow() // it is of no more use
			return
		}
	}
}

// limit returns a context for a client to send or to read a frame of n bytes.
func (c *Config) limit(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	if c.Timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.Timeout*time.Duration(1+n/step))
}

// A reader makes lines of frames.
type reader struct {
	ctx  context.Context
	ws   *websocket.Conn
	cfg  Config
	rest []byte // of the current line

	mu   sync.Mutex // guards the fields below
	held int64      // memory of the current line
	over bool       // nothing more is held
}

// Read reads lines. Its only error is io.EOF: a connection that fails is a client that is
// gone.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		r.give()
		if !r.next() {
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next reads a frame. It returns false if the connection is closed.
func (r *reader) next() bool {
	kind, frame, err := r.ws.Reader(r.ctx)
	if err != nil {
		return false
	}
	if kind != websocket.MessageText {
		_ = r.ws.Close(websocket.StatusUnsupportedData, "a message is a text frame") // the client may be gone
		return false
	}
	line := make([]byte, 0, bytes.MinRead)
	for {
		if len(line) == cap(line) {
			if r.hold(int64(cap(line))) != nil {
				_ = r.ws.Close(websocket.StatusTryAgainLater, "this client holds too much memory, or all clients together do") // the client may be gone
				return false
			}
			line = append(make([]byte, 0, 2*cap(line)), line...)
		}
		late := r.late()
		n, err := frame.Read(line[len(line):cap(line)])
		late()
		line = line[:len(line)+n]
		switch {
		case err == io.EOF: //nolint:errorlint // the error of io.Reader
			// A line end is white space between the parts of a message, and not allowed in
			// a string, as the carriage return is.
			for i := bytes.IndexByte(line, '\n'); i >= 0; i = bytes.IndexByte(line, '\n') {
				line[i] = '\r'
			}
			r.rest = append(line, '\n')
			return true
		case err != nil:
			return false
		}
	}
}

// late ends the connection if the next part of a frame takes too long. The caller calls
// stop when it has come.
func (r *reader) late() (stop func()) {
	if r.cfg.Timeout < 0 {
		return func() {}
	}
	t := time.AfterFunc(r.cfg.Timeout, func() { _ = r.ws.CloseNow() }) // it may be closed already
	return func() { t.Stop() }
}

func (r *reader) hold(n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return io.EOF
	}
	err := r.cfg.Hold(n)
	if err == nil {
		r.held += n
	}
	return err
}

// give returns the memory of the current line.
func (r *reader) give() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held > 0 {
		r.cfg.Give(r.held)
		r.held = 0
	}
}

// end returns all memory. The goroutine that reads may still be at work.
func (r *reader) end() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.give()
}

// A writer makes frames of lines.
type writer struct {
	ctx context.Context
	ws  *websocket.Conn
	cfg Config
}

// Write writes whole lines. A client that does not read ends the connection.
func (w *writer) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		ctx, cancel := w.cfg.limit(w.ctx, len(line))
		err := w.ws.Write(ctx, websocket.MessageText, bytes.TrimSuffix(line, []byte("\n")))
		cancel()
		if err != nil {
			_ = w.ws.CloseNow() // so that reading ends too
			return 0, err
		}
	}
	return len(p), nil
}
