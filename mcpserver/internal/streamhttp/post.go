package streamhttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

// errLong is the error for a body over the limit.
var errLong = errors.New("the body is too long")

// post answers a message.
func (v *visit) post() {
	if !v.acceptable() {
		return
	}
	body, err := v.body()
	switch {
	case errors.Is(err, errLong):
		v.w.Header().Set("Connection", "close") // the rest of it is not wanted
		var f message.IDFinder
		f.Feed(body)
		v.fail(http.StatusRequestEntityTooLarge, f.Found(), message.InvalidRequest(
			"the message is longer than "+strconv.Itoa(v.h.maxBody)+" bytes"))
		return
	case method.Refused(err) != nil:
		v.w.Header().Set("Connection", "close")
		v.refuseFor(err, nil)
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		v.w.Header().Set("Connection", "close")
		v.refuse(http.StatusRequestTimeout, "the message did not arrive in time")
		return
	case err != nil:
		v.refuse(http.StatusBadRequest, "the message did not arrive whole")
		return
	}
	m := message.Parse(body)
	if m.Kind == message.Request && v.observed() {
		v.observe(&m)
		defer v.answered()
	}
	version := v.r.Header.Get(headerVersion)
	switch {
	case m.Kind == message.Refused:
		v.fail(http.StatusBadRequest, m.ID, m.Fault)
	case m.Kind == message.Ignored:
		v.refuse(http.StatusBadRequest, "this is no message of JSON-RPC 2.0")
	case m.Modern() || version >= message.FirstModern:
		v.modern(&m, version)
	case version != "" && !slices.Contains(message.Versions(), version):
		v.fail(http.StatusBadRequest, m.ID, message.UnsupportedVersion(version))
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
	if !v.accepts(document) && !v.accepts(eventStream) {
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

// body reads the body of a message. With errLong it returns the beginning of it. A
// length that is too long is enough to refuse it.
func (v *visit) body() ([]byte, error) {
	limit := v.h.maxBody
	if limit < 0 || v.r.ContentLength <= int64(limit) {
		return v.read(limit, v.h.timeout)
	}
	body, err := v.read(min(limit, maxPeek), peekTimeout)
	if refused := method.Refused(err); refused != nil {
		return nil, err
	}
	return body, errLong
}

// read reads the body, within bounds of size and time. Its memory is the client's
// BytesIn: for the announced length before anything is read, or else as it grows. What
// it returns with an error is the beginning.
func (v *visit) read(limit int, timeout time.Duration) ([]byte, error) {
	if timeout >= 0 {
		_ = v.control.SetReadDeadline(time.Now().Add(timeout)) // a test's writer may not have one
	}
	body, err := v.readBody(limit)
	if err == nil {
		_ = v.control.SetReadDeadline(time.Time{}) // or a long call would end with it
	}
	return body, err
}

func (v *visit) readBody(limit int) ([]byte, error) {
	most := int64(math.MaxInt) // bytes of the buffer; one more than the body has, to see its end
	if limit >= 0 {
		most = int64(limit) + 1
	}
	held := min(most, bytes.MinRead)
	if v.r.ContentLength >= 0 {
		most = min(most, v.r.ContentLength+1)
		held = most
	}
	if err := v.hold(governor.BytesIn, held); err != nil {
		return nil, err
	}
	// A length is no more than a promise: there is memory for what has come.
	body := make([]byte, 0, min(held, maxPeek))
	for first := true; ; first = false {
		n, err := v.r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case limit >= 0 && len(body) > limit:
			return body, errLong
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, err
		}
		if first { // most bodies come with the header
			defer v.hurry(v.control.SetReadDeadline)()
		}
		if len(body) < cap(body) {
			continue
		}
		grown := min(most, 2*int64(cap(body)))
		if grown > held {
			if err := v.hold(governor.BytesIn, grown-held); err != nil {
				return body, err
			}
			held = grown
		}
		body = append(make([]byte, 0, grown), body...)
	}
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
func (v *visit) modern(m *message.Message, version string) {
	switch m.Kind {
	case message.Notification: // closing the connection is what cancels
		v.told = true
		v.accept(http.StatusAccepted)
		return
	case message.Response:
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
	r := &method.Request{Message: m, Modern: true, Caller: v.caller, Origin: v.origin, Client: v.client, Seen: v.seen}
	if m.Method == method.Listen {
		v.listen(r)
		return
	}
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	v.relay(ctx, r, v.server.Answer)
}

// checkHeaders compares what intermediaries see of a request with what it says.
func (v *visit) checkHeaders(m *message.Message, version string) *message.Error {
	mismatch := func(header, want string) *message.Error {
		msg := "header mismatch: " + header + " must be " + strconv.Quote(want) + ", as in the message"
		return &message.Error{Code: message.CodeHeaderMismatch, Message: msg}
	}
	switch {
	case m.Meta.Version == "":
		return message.InvalidParams("_meta must name the version of the protocol as %q", message.MetaVersion)
	case version != m.Meta.Version:
		return mismatch(headerVersion, m.Meta.Version)
	case v.r.Header.Get(headerMethod) != m.Method:
		return mismatch(headerMethod, m.Method)
	}
	if name, ok := method.Subject(m); ok && decodeHeader(v.r.Header.Get(headerName)) != name {
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
