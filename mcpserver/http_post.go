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
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/admission"
)

// post answers a message.
func (v *visit) post() {
	if !v.acceptable() {
		return
	}
	body, err := v.body()
	if err != nil {
		v.unread(err)
		return
	}
	m := parseIn(v.r.Context(), body, v.turn)
	if m.Kind == kindRequest {
		v.observe(&m)
		defer v.answered()
	}
	version := v.r.Header.Get(headerVersion)
	switch {
	case m.Kind == kindRefused:
		v.refuseMessage(m.ID, m.Fault)
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

// acceptable checks that both sides can read what the other writes.
func (v *visit) acceptable() bool {
	media, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		v.refuse(http.StatusUnsupportedMediaType, "a message has the Content-Type application/json")
		return false
	}
	if enc := v.r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		v.w.Header().Set("Accept-Encoding", "identity")
		v.refuse(http.StatusUnsupportedMediaType, "a message is sent as it is, without Content-Encoding")
		return false
	}
	if !v.accepts(jsonType) && !v.accepts(eventStream) {
		v.refuse(http.StatusNotAcceptable, "replies are application/json or text/event-stream: Accept both")
		return false
	}
	return true
}

// accepts reports whether the client reads a media type.
func (v *visit) accepts(media string) bool {
	values := v.r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	family, _, _ := strings.Cut(media, "/")
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case media, family + "/*", "*/*":
				return true
			}
		}
	}
	return false
}

// body reads the body of a message, within limits of size and time. A length that is too
// long is refused before anything is read.
func (v *visit) body() ([]byte, error) {
	r := v.r.Body
	if limit := int64(v.h.config.MaxBody); limit >= 0 {
		if v.r.ContentLength > limit {
			return nil, &http.MaxBytesError{Limit: limit}
		}
		r = http.MaxBytesReader(v.w, r, limit)
	}
	if v.h.config.Timeout >= 0 {
		_ = v.control.SetReadDeadline(v.h.deadline()) // a test's writer may not have one
	}
	stop := v.hurry(v.control.SetReadDeadline)
	body, err := io.ReadAll(r)
	stop()
	if err == nil {
		_ = v.control.SetReadDeadline(time.Time{}) // or a long call would end with it
	}
	return body, err
}

// unread answers that the body could not be read.
func (v *visit) unread(err error) {
	v.w.Header().Set("Connection", "close") // the rest of it is not wanted
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		v.refuse(http.StatusRequestEntityTooLarge, "the message is longer than %d bytes", long.Limit)
		admission.ReadOn(v.h.ending, v.w, v.r)
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		v.refuse(http.StatusRequestTimeout, "the message did not arrive in time")
		return
	}
	v.refuse(http.StatusBadRequest, "the message did not arrive whole")
}

// hurry leaves a client lastWords, from the moment at which the server is about to end,
// for what it is sending or being sent. set sets the deadline for that. The caller must
// call stop when it has arrived.
func (v *visit) hurry(set func(time.Time) error) (stop func()) {
	var mu sync.Mutex
	arrived := false
	forget := context.AfterFunc(v.h.ending, func() {
		mu.Lock()
		defer mu.Unlock()
		if !arrived {
			_ = set(time.Now().Add(lastWords)) // a test's writer may not have one
		}
	})
	return func() {
		if !forget() { // it runs or has run
			mu.Lock()
			defer mu.Unlock()
			arrived = true
		}
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
	r := &request{message: *m, Modern: true, Caller: v.caller, Via: v.via, Turn: v.turn, Seen: v.seen}
	if m.Method == methodListen {
		v.listen(r)
		return
	}
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	v.relay(ctx, r, v.server.answer)
}

// checkHeaders compares what intermediaries see of a request with what it says.
func (v *visit) checkHeaders(m *message, version string) *rpcError {
	mismatch := func(header, want string) *rpcError {
		msg := "header mismatch: " + header + " must be " + strconv.Quote(want) + ", as in the message"
		return &rpcError{Code: codeHeaderMismatch, Message: msg}
	}
	switch {
	case m.Meta.Version == "":
		return invalidParams("_meta must name the version of the protocol as %q", metaVersion)
	case version != m.Meta.Version:
		return mismatch(headerVersion, m.Meta.Version)
	case v.r.Header.Get(headerMethod) != m.Method:
		return mismatch(headerMethod, m.Method)
	}
	if name, ok := subjectOf(m); ok && decodeHeader(v.r.Header.Get(headerName)) != name {
		return mismatch(headerName, name)
	}
	return nil
}

// decodeHeader returns what a header says that may be written in base64, as what
// is not plain ASCII is.
func decodeHeader(s string) string {
	inner, ok := strings.CutPrefix(s, "=?base64?")
	if !ok {
		return s
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return s
	}
	out, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return s
	}
	return string(out)
}
