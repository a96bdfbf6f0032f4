package mcpserver

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/tool"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

const (
	// maxScope is how many characters the name of a scope may have.
	maxScope = 128
	// ownScope begins the names of scopes that no URL can name.
	ownScope = "~"
	// subjectScope is that of each subject that has no other: scopes are kept by owner.
	subjectScope = ownScope + "subject"
	// writeStep is how many bytes of a reply a client has to take within Config.Timeout.
	writeStep = 256 << 10
)

// A visit is one HTTP request.
type visit struct {
	h       *HTTP
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	path    string      // as it was sent: an encoded slash separates nothing
	server  *Server     // of the endpoint
	caller  tool.Caller // as the request alone says; see callerIn
	granted auth.Scope  // what the token allows; none without tokens
	via     Via
	client  *limits.Client // whom limits are for; nil before that is known
	calling bool           // the visit holds a call of the client
	turn    *limits.Turn   // of the client, that the message or its call may hold
	seen    *Exchange      // the request of the protocol, for an observer; nil without one
	fault   *rpcError      // in its reply; nil for a result
	begun   time.Time      // of the request
	status  int            // of the reply
	told    bool           // the observer knows of the request, or need not
}

// admit finds out what is asked for and by whom. If it reports false it has
// answered.
func (v *visit) admit() bool {
	v.server = v.h.servers[strings.TrimSuffix(v.path, "/")]
	if !v.ownName() {
		return false
	}
	origin := v.r.Header.Get("Origin")
	if !v.h.gate.OwnPage(v.r) {
		v.fail(http.StatusForbidden, nil, because("foreign_origin",
			fmt.Sprintf("web pages of the origin %.100q may not call this server; %s", origin, admission.OriginFix)))
		return false
	}
	if v.h.gate.Trusts(origin) {
		v.allowOrigin(origin)
		if v.r.Method == http.MethodOptions {
			v.told = true
			v.accept(http.StatusNoContent)
			return false
		}
	}
	if v.server == nil {
		v.told = true // paths without an endpoint are those of scanners
		v.refuse(http.StatusNotFound, "there is nothing at %.100q; %s", v.path, endpoints)
		return false
	}
	return v.authenticate() && v.limit() && v.scope()
}

// ownName refuses a request for another server: a page of another site has made
// its name point here.
func (v *visit) ownName() bool {
	if v.h.gate.OwnName(v.r) {
		return true
	}
	v.fail(http.StatusForbidden, nil, because("foreign_host",
		fmt.Sprintf("the Host %.100q is no name of this server; %s", v.r.Host, admission.HostFix)))
	return false
}

// allowOrigin lets scripts of a trusted origin read the reply.
func (v *visit) allowOrigin(origin string) {
	header := v.w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, "+
		strings.Join([]string{headerVersion, headerSession, headerMethod, headerName}, ", "))
	header.Set("Access-Control-Expose-Headers", headerSession+", Retry-After, WWW-Authenticate")
	header.Set("Access-Control-Max-Age", "600")
}

// identify makes the client with a name the one whom the limits are for.
func (v *visit) identify(name string) { v.client = v.h.limiter.Client(name) }

// limit refuses a client that sends requests too fast or has too many under way.
func (v *visit) limit() bool {
	if v.r.Method != http.MethodPost {
		return true
	}
	err := v.client.Request()
	if err == nil {
		err = v.client.Wait(v.r.Context(), limits.Calls)
	}
	if err != nil {
		v.w.Header().Set("Connection", "close") // the message is not read
		v.refuseFor(err, nil)
		admission.ReadOn(v.h.ending, v.w, v.r)
		return false
	}
	v.calling, v.turn = true, v.client.Turn()
	return true
}

// giveCall gives back the call of the visit and its turn, if it holds them.
func (v *visit) giveCall() {
	v.turn.Give()
	if v.calling {
		v.calling = false
		v.client.Give(limits.Calls)
	}
}

// end tells the observer of the visit and gives back what it holds.
func (v *visit) end() {
	v.report()
	if v.client != nil {
		v.giveCall()
		v.client.Release()
	}
}

// scope reads what the URL says about the conversation that calls belong to.
func (v *visit) scope() bool {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil {
		v.refuse(http.StatusBadRequest, "the query of the URL cannot be read: write a space as %%20 and a per cent sign as %%25")
		return false
	}
	v.via.Agent, v.via.Project = query.Get("agent"), query.Get("project")
	names, ok := query["scope"]
	if !ok {
		if v.caller.Owner != "" {
			v.caller.Scope.Name = subjectScope
		}
		return true
	}
	name := names[0]
	if len(names) > 1 || name == "" || strings.HasPrefix(name, ownScope) || utf8.RuneCountInString(name) > maxScope ||
		!utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		v.refuse(http.StatusBadRequest,
			"?scope=NAME in the URL is given once, with 1 to %d printable characters that do not begin with %s", maxScope, ownScope)
		return false
	}
	v.caller.Scope.Name = name
	return true
}

// callerIn returns who calls in a session of an older client, which is a scope unless the URL names one.
func (v *visit) callerIn(id string) tool.Caller {
	c := v.caller
	if c.Scope.Name == "" || c.Scope.Name == subjectScope {
		c.Scope.Name = ownScope + "session " + id
	}
	return c
}

// way returns how the request has come, without what is known once it is admitted.
func (v *visit) way() Via {
	over := "http"
	if v.isSocket() {
		over = "websocket"
	}
	return Via{
		Transport: "tcp", Protocol: over, Version: strings.TrimPrefix(v.r.Proto, "HTTP/"), Client: v.h.gate.Client(v.r),
		Verb: v.r.Method,
		Link: TraceContext{Parent: v.r.Header.Get("Traceparent"), State: v.r.Header.Get("Tracestate")},
	}
}

// report tells the observer of the visit, once: at its end, or when a stream begins.
func (v *visit) report() {
	switch {
	case v.told:
	case v.seen != nil:
		v.seen.Status = v.status
		v.seen.finish(v.fault)
	default:
		server, dialect := v.h.servers[endpoint], ""
		if v.server != nil {
			server, dialect = v.server, v.server.name()
		}
		server.other(&Exchange{Caller: v.caller, Via: v.via, Received: v.begun, Status: v.status, Dialect: dialect}, v.fault)
	}
	v.told = true
}

// refuse answers with an error that is about the HTTP request.
func (v *visit) refuse(status int, format string, args ...any) {
	v.fail(status, nil, invalidRequest(fmt.Sprintf(format, args...)))
}

func (v *visit) notAllowed(msg string) {
	v.w.Header().Set("Allow", "POST, GET, DELETE")
	v.refuse(http.StatusMethodNotAllowed, "%s", msg)
}

// refuseFor answers that a limit is reached, or that the server ends.
func (v *visit) refuseFor(err error, id []byte) {
	fault := cmp.Or(refused(err), errCancelled)
	v.fail(statusOf(true, fault), id, fault)
}

// fail answers with an error. The id is that of the request, if it is known.
func (v *visit) fail(status int, id []byte, fault *rpcError) {
	v.send(status, appendError(nil, id, fault), fault)
}

// accept answers with nothing but a status.
func (v *visit) accept(status int) {
	v.limitWrite()
	v.status = status
	v.w.WriteHeader(status)
}

// send answers with a document, which has a fault or, if it is nil, a result. A client that is refused again
// and again waits for it, and holds nothing meanwhile that others of the client wait for.
func (v *visit) send(status int, body []byte, fault *rpcError) {
	if v.fault = fault; fault != nil && fault.Code == codeTooMany {
		if delay := v.client.Delay(); delay > 0 {
			v.giveCall()
			t := time.NewTimer(delay)
			defer t.Stop()
			select {
			case <-t.C:
			case <-v.r.Context().Done():
			case <-v.h.ending.Done():
			}
		}
	}
	if fault != nil && fault.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(fault.RetryAfter.Seconds()))))
	}
	v.w.Header().Set("Content-Type", jsonType)
	v.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	v.accept(status)
	_ = v.write(body) // the client may be gone
}

// write writes a part of a reply. A client that reads, however slowly, gets all of it;
// one that does not read is given up.
func (v *visit) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writeStep)
		v.limitWrite()
		if _, err := v.w.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// limitWrite bounds the time that the next write may take.
func (v *visit) limitWrite() {
	_ = v.control.SetWriteDeadline(time.Now().Add(v.h.config.Timeout)) // a test's writer may not have one
}

// statusOf returns the HTTP status for a reply.
func statusOf(modern bool, fault *rpcError) int {
	switch {
	case fault == nil:
		return http.StatusOK
	case fault.Code == codeTooMany:
		return http.StatusTooManyRequests
	case fault.Code == codeFull:
		return http.StatusServiceUnavailable
	case modern && fault.Code == codeMethodNotFound:
		return http.StatusNotFound
	case !modern:
		return http.StatusOK
	}
	switch fault.Code {
	case codeInvalidParams, codeInvalidRequest, codeParse, codeHeaderMismatch, codeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
