package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/internal/limits"
)

const (
	// headerProtocols lists the subprotocols that a client of a WebSocket offers.
	headerProtocols = "Sec-WebSocket-Protocol"
	// subprotocol is the one that the server speaks.
	subprotocol = "mcp"
	// tokenProtocol begins a subprotocol that stands for a token: scripts of a page cannot
	// set the header Authorization of a WebSocket.
	tokenProtocol = "bearer."
	// pingInterval is the time between two pings. A client that is gone is noticed by the
	// answer that does not come.
	pingInterval = 20 * time.Second
	// closeTimeout limits the closing handshake, and what a client still sends meanwhile.
	closeTimeout = 5 * time.Second
)

// isSocket reports whether the request is for the endpoint of WebSockets.
func (v *visit) isSocket() bool {
	return v.path == socketEndpoint || strings.HasPrefix(v.path, socketEndpoint+"/")
}

// socketToken returns the token that a page offers as a subprotocol, or "".
func (v *visit) socketToken() string {
	if !v.isSocket() {
		return ""
	}
	for _, value := range v.r.Header.Values(headerProtocols) {
		for name := range strings.SplitSeq(value, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(name), tokenProtocol); ok {
				return token
			}
		}
	}
	return ""
}

// socket serves a client over a WebSocket (RFC 6455) until it disconnects or the server
// ends, with one message in each text frame. The connection is one of the client's streams,
// each message one of its requests.
func (v *visit) socket() {
	if !strings.EqualFold(v.r.Header.Get("Upgrade"), "websocket") {
		v.w.Header().Set("Upgrade", "websocket")
		v.refuse(http.StatusUpgradeRequired,
			"this is the endpoint of a WebSocket: connect with ws:// or wss://, or send messages with POST; %s", endpoints)
		return
	}
	if err := v.client.Request(); err != nil {
		v.refuseFor(err, nil)
		return
	}
	if err := v.client.Take(limits.Streams); err != nil {
		v.refuseFor(err, nil)
		return
	}
	defer v.client.Give(limits.Streams)
	if !v.enter(nil) {
		return
	}
	defer v.h.active.Done()
	v.caller = v.callerIn(rand.Text())
	ws, err := websocket.Accept(v.w, v.r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true, // the origin was checked
	})
	if err != nil {
		v.status = http.StatusBadRequest // Accept has answered
		return
	}
	c, _ := v.r.Context().Value(connKey{}).(net.Conn)
	defer v.h.uncount(c)
	defer ws.CloseNow()
	v.status = http.StatusSwitchingProtocols
	v.report()
	ws.SetReadLimit(int64(v.h.config.MaxBody))
	ctx, hangUp := context.WithCancel(context.WithoutCancel(v.r.Context()))
	defer hangUp()
	t := &frames{visit: v, ws: ws, conn: c, ctx: ctx}
	go t.ping()
	_ = serve(v.h.ending, serveConfig{ // its errors are those of the connection
		server: v.server, caller: v.caller, via: v.via, client: v.client, admit: v.admitMessage, maxReply: v.h.config.MaxReply,
	}, t)
	if v.h.ending.Err() != nil {
		t.close(websocket.StatusGoingAway, "the server is shutting down")
	}
}

// admitMessage returns an error if the token does not allow a message, or if messages come
// too fast.
func (v *visit) admitMessage(m *message) *rpcError {
	if err := v.client.Request(); err != nil {
		return refused(err)
	}
	granted, err := v.recheck(v.r.Context())
	if fault := v.tokenFault(err); fault != nil || m.Kind != kindRequest {
		return fault
	}
	fault, _ := v.lacks(m, granted)
	return fault
}

// frames is the transport of a WebSocket.
type frames struct {
	*visit
	ws   *websocket.Conn
	conn net.Conn        // below ws
	ctx  context.Context // done when the connection ends
}

// Ready implements [transport]: reading does not block a thread.
func (f *frames) Ready() bool { return true }

// Read returns the next message, which is one of the client's calls until it is answered. Its
// only error is io.EOF: a connection that fails is a client that is gone.
func (f *frames) Read() ([]byte, error) {
	kind, frame, err := f.ws.Reader(f.ctx)
	if err != nil {
		return nil, io.EOF
	}
	if err := f.client.Wait(f.ctx, limits.Calls); err != nil {
		f.close(websocket.StatusTryAgainLater, err.Error())
		return nil, io.EOF
	}
	defer time.AfterFunc(f.h.config.Timeout, func() { _ = f.ws.CloseNow() }).Stop() // it may be closed already
	text, err := io.ReadAll(frame)
	switch {
	case err != nil: // most likely the frame is too long
		f.close(websocket.StatusMessageTooBig, fmt.Sprintf("the message is longer than %d bytes", f.h.config.MaxBody))
	case kind != websocket.MessageText:
		f.close(websocket.StatusUnsupportedData, "a message is a text frame")
	case !utf8.Valid(text):
		f.close(websocket.StatusInvalidFramePayloadData, "a text frame must be valid UTF-8")
	default:
		return text, nil
	}
	f.client.Give(limits.Calls)
	return nil, io.EOF
}

// Write writes a frame for each line. A client that does not read ends the connection.
func (f *frames) Write(lines []byte) error {
	for line := range bytes.Lines(lines) {
		ctx, cancel := f.limit(len(line))
		err := f.ws.Write(ctx, websocket.MessageText, bytes.TrimSuffix(line, []byte("\n")))
		cancel()
		if err != nil {
			_ = f.ws.CloseNow() // so that reading ends too
			return err
		}
	}
	return nil
}

// limit returns a context for a client to read a frame of n bytes.
func (f *frames) limit(n int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(f.ctx, f.h.config.Timeout*time.Duration(1+n/writeStep))
}

// ping ends the connection of a client that is gone, or whose token is not valid any more.
func (f *frames) ping() {
	t := time.NewTicker(pingInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-f.ctx.Done():
			return
		}
		if f.still(f.ctx) != nil {
			f.close(websocket.StatusPolicyViolation, "the token is not valid any more")
			return
		}
		ctx, cancel := f.limit(0)
		err := f.ws.Ping(ctx)
		cancel()
		if err != nil {
			_ = f.ws.CloseNow() // it is of no more use
			return
		}
	}
}

// close says why the connection ends. The client may be gone, or not send all of a frame that it
// began, for which [websocket.Conn.Close] would wait.
func (f *frames) close(code websocket.StatusCode, reason string) {
	_ = f.conn.SetDeadline(time.Now().Add(closeTimeout))
	_ = f.ws.Close(code, reason)
}
