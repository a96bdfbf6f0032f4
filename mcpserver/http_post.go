package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errLong is the error for a body over the limit.
var errLong = errors.New("the body is too long")

// post answers a message.
func (v *visit) post() {
	if !v.acceptable() {
		return
	}
	body, err := v.read(v.h.maxBody)
	switch {
	case errors.Is(err, errLong):
		v.w.Header().Set("Connection", "close") // the rest of it is not wanted
		var f idFinder
		f.feed(body)
		v.fail(http.StatusRequestEntityTooLarge, f.found(), invalidRequest(
			"the message is longer than "+strconv.Itoa(v.h.maxBody)+" bytes"))
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		v.w.Header().Set("Connection", "close")
		v.refuse(http.StatusRequestTimeout, "the message did not arrive in time")
		return
	case err != nil:
		v.refuse(http.StatusBadRequest, "the message did not arrive whole")
		return
	}
	var e envelope
	var p plainCall
	if v.server.sdkOnly || !glance(body, &e, &p) {
		e = parse(body)
	}
	version := v.r.Header.Get(headerVersion)
	switch {
	case e.kind == refused:
		v.fail(http.StatusBadRequest, e.id, e.fault)
	case e.kind == ignored:
		v.refuse(http.StatusBadRequest, "this is no message of JSON-RPC 2.0")
	case e.modern || version >= firstModern:
		e.modern = true
		v.modern(&e, &p, version)
	case version != "" && !slices.Contains(mcp.SupportedProtocolVersions(), version):
		v.fail(http.StatusBadRequest, e.id, unsupported(version))
	default:
		v.legacy(&e, body)
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
	if !v.accepts("application/json") && !v.accepts("text/event-stream") {
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

// read reads the body, within bounds of size and time. What it returns of a body
// that is too long is its beginning.
func (v *visit) read(limit int) ([]byte, error) {
	_ = v.control.SetReadDeadline(v.h.deadline()) // a test's writer may not have one
	// A length is no more than a promise: there is memory for what has come.
	body := bytes.NewBuffer(make([]byte, 0, max(bytes.MinRead, min(v.r.ContentLength+bytes.MinRead, maxPeek))))
	var in io.Reader = v.r.Body
	if limit >= 0 {
		in = io.LimitReader(in, int64(limit)+1)
	}
	if _, err := body.ReadFrom(in); err != nil {
		return nil, err
	}
	if limit >= 0 && body.Len() > limit {
		return body.Bytes(), errLong
	}
	_ = v.control.SetReadDeadline(time.Time{}) // or a long call would end with it
	return body.Bytes(), nil
}

func unsupported(version string) *jsonrpc.Error {
	data, _ := marshal(mcp.UnsupportedProtocolVersionData{Supported: mcp.SupportedProtocolVersions(), Requested: version}) // strings cannot fail
	return &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data}
}

// modern answers a message of 2026-07-28 or later.
func (v *visit) modern(e *envelope, p *plainCall, version string) {
	switch e.kind {
	case notification: // closing the connection is what cancels
		v.accept(http.StatusAccepted)
		return
	case response:
		v.refuse(http.StatusBadRequest, "the server has asked nothing")
		return
	}
	if err := v.checkHeaders(e, version); err != nil {
		v.fail(http.StatusBadRequest, e.id, err)
		return
	}
	if t := v.tool(p); t != nil {
		v.call(t, e, p)
		return
	}
	x := v.exchange(e, v.caller)
	b, err := connect(context.WithoutCancel(v.r.Context()), v.server, func(_ context.Context, m *jsonrpc.Request) error {
		return deliver(m, x)
	})
	if err != nil {
		v.fail(http.StatusInternalServerError, e.id, v.server.internal(e.method, "", err))
		return
	}
	defer b.shut()
	if v.relay(b, e, x, nil) && p.ok {
		v.server.clients.accept(p)
	}
}

// checkHeaders compares what intermediaries see of a request with what it says.
func (v *visit) checkHeaders(e *envelope, version string) *jsonrpc.Error {
	mismatch := func(header, want string) *jsonrpc.Error {
		msg := "header mismatch: " + header + " must be " + strconv.Quote(want) + ", as in the message"
		return &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: msg}
	}
	switch {
	case e.says == "":
		return invalidParams("_meta must name the version of the protocol as %q", metaProtocol)
	case version != e.says:
		return mismatch(headerVersion, e.says)
	case v.r.Header.Get(headerMethod) != e.method:
		return mismatch(headerMethod, e.method)
	}
	if name, ok := subjectOf(e); ok && decodeHeader(v.r.Header.Get(headerName)) != name {
		return mismatch(headerName, name)
	}
	return nil
}

// subjectOf returns what the header Mcp-Name has for a request, if it must be
// there.
func subjectOf(e *envelope) (name string, ok bool) {
	var member string
	switch e.method {
	case methodCallTool, "prompts/get":
		member = "name"
	case "resources/read":
		member = "uri"
	default:
		return "", false
	}
	for key, value := range members(e.params) {
		if key == member {
			name, _ = text(value)
		}
	}
	return name, true
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

// deliver sends what the server says unasked on the first stream that takes it. A
// notification that nobody hears is lost; of a request the server is told.
func deliver(m *jsonrpc.Request, streams ...*exchange) error {
	line, err := messageLine(m)
	if err != nil {
		return err
	}
	for _, x := range streams {
		if x != nil && x.put(line) {
			return nil
		}
	}
	if m.IsCall() {
		return errUndelivered
	}
	return nil
}

// errUndelivered has the code by which the SDK knows that only one message failed.
var errUndelivered = &jsonrpc.Error{Code: -32005, Message: "the client has no stream open"}

// statusOf returns the HTTP status for a reply.
func statusOf(modern bool, e *jsonrpc.Error) int {
	if e == nil || !modern {
		return http.StatusOK
	}
	switch e.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError, mcp.CodeHeaderMismatch,
		mcp.CodeUnsupportedProtocolVersion, mcp.CodeMissingRequiredClientCapabilities:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// legacy answers a message of a version before 2026-07-28.
func (v *visit) legacy(e *envelope, body json.RawMessage) {
	id := v.r.Header.Get(headerSession)
	if id == "" && e.kind == request && e.method == methodInitialize {
		v.begin(e)
		return
	}
	if id == "" {
		v.fail(http.StatusBadRequest, e.id, errUninitialized)
		return
	}
	s := v.h.sessions.enter(id, v.server, v.caller.Owner)
	if s == nil {
		v.noSession(e.id)
		return
	}
	defer v.h.sessions.leave(s)
	switch e.kind {
	case response:
		m, err := jsonrpc.DecodeMessage(body)
		if err != nil {
			v.refuse(http.StatusBadRequest, "this is no reply of JSON-RPC 2.0")
			return
		}
		s.bridge.send(m)
		v.accept(http.StatusAccepted)
	case notification:
		switch e.method {
		case noteInitialized:
			s.bridge.tell(e)
		case noteCancelled:
			s.cancel(e.cancels())
		}
		v.accept(http.StatusAccepted)
	case request:
		if e.method == methodInitialize {
			v.fail(http.StatusBadRequest, e.id, errInitialized)
			return
		}
		v.relay(s.bridge, e, v.exchange(e, v.callerIn(s)), s)
	}
}

func (v *visit) noSession(id []byte) {
	v.fail(http.StatusNotFound, id, invalidRequest(
		"there is no such MCP session, or it was idle for too long: send initialize again, without "+headerSession))
}
