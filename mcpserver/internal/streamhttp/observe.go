package streamhttp

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

// observing returns the server whose observer is told of the visit.
func (v *visit) observing() *method.Server {
	if v.server != nil {
		return v.server
	}
	return v.h.first
}

// observed reports whether there is an observer.
func (v *visit) observed() bool { return v.observing().Observed() }

// observe tells the observer of a request of the protocol that begins. The caller calls
// answered.
func (v *visit) observe(m *message.Message) {
	ctx, seen := v.server.Observe(v.r.Context(), m, v.caller, v.via("http"), time.Now())
	v.r, v.seen, v.told = v.r.WithContext(ctx), seen, true
}

// answered tells the observer that the request is answered. Further calls do nothing.
func (v *visit) answered() {
	if v.seen == nil {
		return
	}
	v.seen.Status = v.status
	v.seen.End(v.fault)
	v.seen = nil
}

// other tells the observer of a visit that is no request of the protocol, unless it knows. It
// leaves out visits to paths without an endpoint, such as those of scanners.
func (v *visit) other() {
	if !v.observed() || v.told || v.r.Method == http.MethodOptions || v.server == nil && v.status == http.StatusNotFound {
		return
	}
	v.told = true
	protocol := "http"
	x := &method.Exchange{Caller: v.caller, Received: v.begun, Status: v.status}
	if v.server != nil {
		x.Dialect = v.server.Name()
		if v.isSocket() {
			protocol = "websocket"
		}
	}
	x.Via = v.via(protocol)
	v.observing().Other(x, v.fault)
}

// via returns how the request has come, as a message of a protocol.
func (v *visit) via(protocol string) method.Via {
	if !v.observed() {
		return method.Via{}
	}
	version := "1.1"
	if !v.r.ProtoAtLeast(1, 1) {
		version = "1.0"
	} else if v.r.ProtoMajor > 1 {
		version = strconv.Itoa(v.r.ProtoMajor)
	}
	return method.Via{
		Transport: "tcp", Protocol: protocol, Version: version, Client: v.h.gate.Client(v.r),
		Verb: v.r.Method, Token: v.granted.Token, Agent: v.origin.Agent,
		Link: method.TraceContext{Parent: v.r.Header.Get("Traceparent"), State: v.r.Header.Get("Tracestate")},
	}
}
