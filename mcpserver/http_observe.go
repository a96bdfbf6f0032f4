package mcpserver

import (
	"net/http"
	"strconv"
	"time"
)

// observing returns the server whose observer is told of the visit.
func (v *visit) observing() *Server {
	if v.server != nil {
		return v.server
	}
	return v.h.first
}

// observe tells the observer of a request of the protocol that begins. The caller calls
// answered.
func (v *visit) observe(m *message) {
	ctx, seen := v.server.observe(v.r.Context(), m, v.caller, v.via, time.Now())
	v.seen, v.told = seen, true
	if seen != nil { // or the context is that of the request, which need not be copied
		v.r = v.r.WithContext(ctx)
	}
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
	if v.told || v.r.Method == http.MethodOptions || v.server == nil && v.status == http.StatusNotFound {
		return
	}
	v.told = true
	x := &Exchange{Caller: v.caller, Via: v.via, Received: v.begun, Status: v.status}
	if v.server != nil {
		x.Dialect = v.server.name()
	}
	v.observing().other(x, v.fault)
}

// way returns how the request has come, without what is known once it is admitted.
func (v *visit) way() Via {
	over, version := "http", "1.1"
	if v.isSocket() {
		over = "websocket"
	}
	if !v.r.ProtoAtLeast(1, 1) {
		version = "1.0"
	} else if v.r.ProtoMajor > 1 {
		version = strconv.Itoa(v.r.ProtoMajor)
	}
	return Via{
		Transport: "tcp", Protocol: over, Version: version, Client: v.h.gate.Client(v.r),
		Verb: v.r.Method,
		Link: TraceContext{Parent: v.r.Header.Get("Traceparent"), State: v.r.Header.Get("Tracestate")},
	}
}
