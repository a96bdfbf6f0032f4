package mcpserver

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/sequent-dev/sequent/tool"
)

// callerIn returns who calls in a session of an older client, which is a scope unless the URL names one.
func (v *visit) callerIn(id string) tool.Caller {
	c := v.caller
	if c.Scope.Name == "" || c.Scope.Name == subjectScope {
		c.Scope.Name = ownScope + "session " + id
	}
	return c
}

// refuse answers with an error that is about the HTTP request.
func (v *visit) refuse(status int, format string, args ...any) {
	v.fail(status, nil, invalidRequest(fmt.Sprintf(format, args...)))
}

func (v *visit) notAllowed(msg string) {
	v.w.Header().Set("Allow", "POST, GET, DELETE")
	v.refuse(http.StatusMethodNotAllowed, "%s", msg)
}

// fail answers with an error. The id is that of the request, if it is known.
func (v *visit) fail(status int, id []byte, fault *rpcError) {
	v.fault = fault
	v.retryAfter(fault.RetryAfter)
	v.send(status, appendError(nil, id, fault))
}

// accept answers with nothing but a status.
func (v *visit) accept(status int) {
	v.limitWrite()
	v.status = status
	v.w.WriteHeader(status)
}

// send answers with a document.
func (v *visit) send(status int, body []byte) {
	v.limitWrite()
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	v.status = status
	v.w.WriteHeader(status)
	_ = v.write(body) // the client may be gone
}

// writeStep is how many bytes of a reply a client has to take within Config.Timeout, and
// within lastWords once the server is about to end.
const writeStep = 256 << 10

// write writes a part of a reply. A client that reads, however slowly, gets all of it;
// one that does not read is given up.
func (v *visit) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writeStep)
		v.limitWrite()
		stop := v.hurry(v.control.SetWriteDeadline)
		_, err := v.w.Write(b[:n])
		stop()
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// limitWrite bounds the time that the next write may take.
func (v *visit) limitWrite() {
	_ = v.control.SetWriteDeadline(v.h.deadline()) // a test's writer may not have one
}

// finish answers a request with its reply, as events if out has begun or if that
// is all the client accepts.
func (v *visit) finish(out *stream, r *request, line []byte, fault *rpcError) {
	v.fault = fault
	if out.begun || !v.accepts(jsonType) {
		_ = out.events(line) // the request is over either way
		return
	}
	if fault != nil {
		v.pause(fault)
		v.retryAfter(fault.RetryAfter)
	}
	v.send(statusOf(r.Modern, fault), line)
}

// statusOf returns the HTTP status for a reply.
func statusOf(modern bool, fault *rpcError) int {
	if fault == nil {
		return http.StatusOK
	}
	switch fault.Code { // in both eras
	case codeTooMany:
		return http.StatusTooManyRequests
	case codeFull:
		return http.StatusServiceUnavailable
	}
	if !modern {
		return http.StatusOK
	}
	switch fault.Code {
	case codeMethodNotFound:
		return http.StatusNotFound
	case codeInvalidParams, codeInvalidRequest, codeParse,
		codeHeaderMismatch, codeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
