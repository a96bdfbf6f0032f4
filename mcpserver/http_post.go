package mcpserver

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/admission"
)

// The media types of replies.
const (
	jsonType    = "application/json"
	eventStream = "text/event-stream"
)

// post answers a message.
func (v *visit) post() {
	if media, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err != nil || media != jsonType {
		v.refuse(http.StatusUnsupportedMediaType, "a message has the Content-Type application/json")
		return
	}
	if !v.accepts(jsonType) && !v.accepts(eventStream) {
		v.refuse(http.StatusNotAcceptable, "replies are application/json or text/event-stream: Accept both")
		return
	}
	body, err := v.body()
	if err != nil {
		v.unread(err)
		return
	}
	m := parseIn(v.r.Context(), body, v.turn)
	if m.Kind == kindRequest {
		ctx, seen := v.server.observe(v.r.Context(), &m, v.caller, v.via, time.Now())
		if v.seen = seen; seen != nil { // or the context is that of the request, which need not be copied
			v.r = v.r.WithContext(ctx)
		} else {
			v.told = true
		}
	}
	version := v.r.Header.Get(headerVersion)
	switch {
	case m.Kind == kindRefused:
		v.fail(statusOf(true, m.Fault), m.ID, m.Fault)
	case m.Kind == kindIgnored:
		v.refuse(http.StatusBadRequest, "this is no message of JSON-RPC 2.0")
	case m.Modern() || version >= firstModern:
		v.modern(&m, version)
	case version != "" && !slices.Contains(versions(), version):
		v.fail(http.StatusBadRequest, m.ID, unsupportedVersion(version))
	default:
		v.handshake(&m)
	}
}

// accepts reports whether the client reads a media type.
func (v *visit) accepts(media string) bool {
	family, _, _ := strings.Cut(media, "/")
	accept := strings.ToLower(strings.Join(v.r.Header.Values("Accept"), ","))
	return accept == "" || strings.Contains(accept, media) ||
		strings.Contains(accept, family+"/*") || strings.Contains(accept, "*/*")
}

// body reads the body of a message, within limits of size and time. A length that is too
// long is refused before anything is read.
func (v *visit) body() ([]byte, error) {
	limit := int64(v.h.config.MaxBody)
	if v.r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	// net/http lifts the deadline at the end of the body.
	_ = v.control.SetReadDeadline(time.Now().Add(v.h.config.Timeout)) // a test's writer may not have one
	return io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, limit))
}

// unread answers that the body could not be read.
func (v *visit) unread(err error) {
	v.w.Header().Set("Connection", "close") // the rest of it is not wanted
	long, ok := errors.AsType[*http.MaxBytesError](err)
	switch {
	case ok:
		v.refuse(http.StatusRequestEntityTooLarge, "the message is longer than %d bytes", long.Limit)
		admission.ReadOn(v.h.ending, v.w, v.r)
	case errors.Is(err, os.ErrDeadlineExceeded):
		v.refuse(http.StatusRequestTimeout, "the message did not arrive in time")
	default:
		v.refuse(http.StatusBadRequest, "the message did not arrive whole")
	}
}

// modern answers a message of 2026-07-28 or later. A client that goes away cancels
// its request.
func (v *visit) modern(m *message, version string) {
	switch m.Kind {
	case kindNotification: // closing the connection is what cancels
		v.told = true
		v.accept(http.StatusAccepted)
		return
	case kindResponse:
		v.refuse(http.StatusBadRequest, "the server has asked nothing")
		return
	}
	if fault := v.checkHeaders(m, version); fault != nil {
		v.fail(http.StatusBadRequest, m.ID, fault)
		return
	}
	if !v.allowed(m) {
		return
	}
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	r := &request{message: *m, Modern: true, Caller: v.caller, Via: v.via, Turn: v.turn, Seen: v.seen}
	if m.Method == methodListen {
		v.listen(ctx, r)
		return
	}
	v.relay(ctx, r, v.server.answer)
}

// checkHeaders compares what intermediaries see of a request with what it says.
func (v *visit) checkHeaders(m *message, version string) *rpcError {
	mismatch := func(header, want string) *rpcError {
		why := "header mismatch: " + header + " must be " + strconv.Quote(want) + ", as in the message"
		return &rpcError{Code: codeHeaderMismatch, Message: why}
	}
	name, named := subjectOf(m)
	switch {
	case m.Meta.Version == "":
		return invalidParams("_meta must name the version of the protocol as %q", metaVersion)
	case version != m.Meta.Version:
		return mismatch(headerVersion, m.Meta.Version)
	case v.r.Header.Get(headerMethod) != m.Method:
		return mismatch(headerMethod, m.Method)
	case named && decodeHeader(v.r.Header.Get(headerName)) != name:
		return mismatch(headerName, name)
	}
	return nil
}

// decodeHeader returns what a header says that may be written in base64, as what
// is not plain ASCII is.
func decodeHeader(s string) string {
	inner, begins := strings.CutPrefix(s, "=?base64?")
	inner, ends := strings.CutSuffix(inner, "?=")
	if out, err := base64.StdEncoding.DecodeString(inner); begins && ends && err == nil {
		return string(out)
	}
	return s
}

// handshake answers a message of a version before 2026-07-28.
func (v *visit) handshake(m *message) {
	id := v.r.Header.Get(headerSession)
	initializes := m.Kind == kindRequest && m.Method == methodInitialize
	if m.Kind == kindRequest && !v.allowed(m) {
		return
	}
	if id == "" {
		if !initializes {
			v.fail(http.StatusBadRequest, m.ID, errUninitialized)
			return
		}
		s, err := v.h.sessions.begin(v.server, v.caller.Owner, v.client)
		if err != nil {
			v.refuseFor(err, m.ID)
			return
		}
		defer v.h.sessions.leave(s)
		v.w.Header().Set(headerSession, s.id)
		if fault := v.call(s, m); fault != nil {
			v.h.sessions.end(s)
		}
		return
	}
	s := v.h.sessions.enter(id, v.server, v.caller.Owner)
	if s == nil {
		v.noSession(m.ID)
		return
	}
	defer v.h.sessions.leave(s)
	switch {
	case initializes:
		v.fail(http.StatusBadRequest, m.ID, errInitialized)
	case m.Kind == kindRequest:
		v.call(s, m)
	default:
		s.hear(m)
		v.told = true // nothing is read or changed
		v.accept(http.StatusAccepted)
	}
}

// call answers a request in a session. A lost connection is no cancellation in
// these versions: a client that goes away says so by a notification.
func (v *visit) call(s *clientSession, m *message) *rpcError {
	ctx, cancel := context.WithCancel(context.WithoutCancel(v.r.Context()))
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	c := s.connection.begin(ctx, *m)
	defer s.connection.end(c)
	if v.seen != nil {
		v.seen.Via.Session = s.id
	}
	c.Caller, c.Via, c.Turn, c.Seen = v.callerIn(s.id), v.via, v.turn, v.seen
	return v.relay(c.ctx, &c.request, s.answer)
}

// delete ends a session, as its client wants. Calls under way are finished.
func (v *visit) delete() {
	if s := v.session("DELETE ends a session: send messages with POST"); s != nil {
		defer v.h.sessions.leave(s)
		v.h.sessions.end(s)
		v.accept(http.StatusNoContent)
	}
}

// session enters the session that a request without a message is about. If there
// is none it answers and returns nil.
func (v *visit) session(usage string) *clientSession {
	id, version := v.r.Header.Get(headerSession), v.r.Header.Get(headerVersion)
	switch {
	case version >= firstModern:
		v.w.Header().Set("Allow", http.MethodPost)
		v.refuse(http.StatusMethodNotAllowed,
			"from version %s on there are no sessions and no streams but replies: use POST", firstModern)
		return nil
	case id == "":
		v.notAllowed(usage)
		return nil
	}
	s := v.h.sessions.enter(id, v.server, v.caller.Owner)
	if s == nil {
		v.noSession(nil)
	}
	return s
}

func (v *visit) noSession(id []byte) {
	v.fail(http.StatusNotFound, id, invalidRequest(
		"there is no such MCP session, or it was idle for too long: send initialize again, without "+headerSession))
}
