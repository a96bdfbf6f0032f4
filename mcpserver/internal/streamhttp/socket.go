package streamhttp

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/socket"
	"github.com/sequent-dev/sequent/mcpserver/internal/stdio"
)

const (
	// headerProtocols lists the subprotocols that a client of a WebSocket offers.
	headerProtocols = "Sec-WebSocket-Protocol"
	// socketProtocol is the subprotocol that the server speaks.
	socketProtocol = "mcp"
	// tokenProtocol begins a subprotocol that stands for a token: scripts of a page cannot
	// set the header Authorization of a WebSocket.
	tokenProtocol = "bearer."
)

// isSocket reports whether the request is for the endpoint of WebSockets.
func (v *visit) isSocket() bool {
	return v.r.URL.Path == socketEndpoint || strings.HasPrefix(v.r.URL.Path, socketEndpoint+"/")
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

// socket serves a client over a WebSocket until it disconnects or the server ends. The
// connection is one of the client's streams, each message one of its requests.
func (v *visit) socket() {
	if !strings.EqualFold(v.r.Header.Get("Upgrade"), "websocket") {
		v.w.Header().Set("Upgrade", "websocket")
		v.refuse(http.StatusUpgradeRequired, "this is the endpoint of a WebSocket: connect with ws:// or wss://, or send messages to one of %s with POST", v.h.names)
		return
	}
	if err := v.client.Request(); err != nil {
		v.refuseFor(err, nil)
		return
	}
	if !v.take(governor.Streams, 1, nil) {
		return
	}
	if v.caller.Scope.Name == "" {
		v.caller.Scope.Name = ownScope + "session " + rand.Text()
	}
	ws, err := websocket.Accept(v.w, v.r, &websocket.AcceptOptions{
		Subprotocols:       []string{socketProtocol},
		InsecureSkipVerify: true, // the gate has checked the origin
	})
	if err != nil {
		v.status = http.StatusBadRequest // Accept has answered
		return
	}
	v.status = http.StatusSwitchingProtocols
	v.other()
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.ending, cancel)()
	client := v.client
	socket.Serve(ctx, socket.Config{
		MaxFrame: v.h.maxBody, Timeout: v.h.timeout,
		Hold:  func(n int64) error { return client.Take(governor.BytesIn, n) },
		Give:  func(n int64) { client.Give(governor.BytesIn, n) },
		Valid: func() bool { return v.still(ctx) == nil },
		Conn: stdio.Config{
			Server: v.server, Caller: v.caller, Origin: v.origin, Via: v.via("websocket"),
			Guest: &stdio.Guest{
				Client: client,
				Admit: func(m *message.Message, size int) *message.Error {
					return v.admitMessage(ctx, m, size)
				},
				Leave: func(size int) {
					client.Give(governor.BytesIn, int64(size))
					client.Give(governor.Calls, 1)
				},
				Weigh: func(f stdio.Answer) (stdio.Answer, func()) {
					var reply *governor.Reply
					return stdio.Answer(v.weigh(answer(f), &reply)), func() {
						if reply != nil {
							reply.Sent()
						}
					}
				},
			},
		},
	}, ws)
}

// admitMessage takes what a request of some bytes needs until it is answered, if the token
// allows the request.
func (v *visit) admitMessage(ctx context.Context, m *message.Message, size int) *message.Error {
	if err := v.client.Request(); err != nil {
		return method.Refused(err)
	}
	granted, err := v.recheck(ctx)
	if invalid, ok := errors.AsType[*auth.InvalidError](err); ok {
		return message.Because("invalid_token", invalid.Reason)
	}
	if err != nil {
		v.h.logger.Error("who a client is cannot be told", "error", err)
		return message.Because("token_unknown", "whose token this is cannot be told now; try again")
	}
	if m.Kind == message.Request {
		if msg, _ := v.lacks(m, granted); msg != "" {
			return message.Because(insufficientScope, msg)
		}
	}
	if err := v.client.Take(governor.Calls, 1); err != nil {
		return method.Refused(err)
	}
	if err := v.client.Take(governor.BytesIn, int64(size)); err != nil {
		v.client.Give(governor.Calls, 1)
		return method.Refused(err)
	}
	return nil
}
