package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/audit"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/internal/printable"
)

// An exchange is one request and its reply.
type exchange struct {
	h       *Handler
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	engine  *sequent.Engine // of the owner
	granted auth.Identity   // what the token allows; zero without tokens
	token   string          // checked again while a stream lasts
	client  *limits.Client  // whom limits are for; nil before that is known
	held    limits.Resource // of the client by this exchange: a call, or a stream
	holds   bool            // it holds one
	linked  *Link           // that admits the client; nil for none
	linkID  string          // of the link that the request is about; empty for none
	long    bool            // the body was refused for its length

	entry  *audit.Entry // nil without an audit log, and when it has the entry
	status int          // of the reply
	code   string       // of the refusal
}

// A Refusal is an error of the API. It is a JSON object under the name "error".
type Refusal struct {
	Status  int    `json:"-"` // of HTTP
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"` // the parameter at fault
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what to do next

	retryAfter time.Duration
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// statuses has the status of HTTP for codes of the engine. Others are 500.
var statuses = map[sequent.Code]int{
	sequent.CodeInvalidThought: http.StatusBadRequest, sequent.CodeInvalidSession: http.StatusBadRequest,
	sequent.CodeInvalidQuery: http.StatusBadRequest, sequent.CodeSessionNotFound: http.StatusNotFound,
	sequent.CodeSessionExists: http.StatusConflict, sequent.CodeRequestKeyReused: http.StatusConflict,
	sequent.CodeLimitExceeded: http.StatusRequestEntityTooLarge, sequent.CodeQuotaExceeded: http.StatusInsufficientStorage,
	sequent.CodeConflict: http.StatusConflict, sequent.CodeCanceled: http.StatusServiceUnavailable,
	sequent.CodeBusy: http.StatusServiceUnavailable, sequent.CodeUnavailable: http.StatusServiceUnavailable,
	sequent.CodeReadOnly: http.StatusForbidden, sequent.CodeFull: http.StatusInsufficientStorage,
}

// refusalOf returns an error as a client sees it.
func (x *exchange) refusalOf(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	if l, ok := errors.AsType[*limits.Refusal](err); ok {
		return &Refusal{
			Status: http.StatusTooManyRequests, Code: "too_many_requests", Field: l.Limit,
			Message: l.Error(), retryAfter: l.RetryAfter,
		}
	}
	if errors.Is(err, limits.ErrEnding) {
		return errEnding
	}
	e, ok := errors.AsType[*sequent.Error](err)
	status := http.StatusInternalServerError
	if ok && statuses[e.Code] != 0 {
		status = statuses[e.Code]
	} else if ok && e.Code == sequent.CodeCorrupt && e.Field == "sessionId" { // one session, not the store
		status = http.StatusConflict
	}
	if status == http.StatusInternalServerError {
		x.h.config.Logger.Log(x.r.Context(), admission.FailureLevel(x.r), "a request of the viewer failed",
			"path", x.r.URL.Path, "error", err)
		return &Refusal{Status: status, Code: string(sequent.CodeInternal), Message: "the server failed; details are in its log"}
	}
	return &Refusal{Status: status, Code: string(e.Code), Field: e.Field, Message: e.Msg, Fix: e.Fix}
}

var errEnding = &Refusal{
	Status: http.StatusServiceUnavailable, Code: string(sequent.CodeUnavailable),
	Message: "the server is shutting down", Fix: "try again", retryAfter: time.Second,
}

func invalid(field, rule string) *Refusal {
	return &Refusal{
		Status: http.StatusBadRequest, Code: "invalid_parameter", Field: field, Message: "the parameter " + field + " " + rule,
	}
}

// refuse answers with an error.
func (x *exchange) refuse(err error) {
	r := x.refusalOf(err)
	x.code = r.Code
	if r.retryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(int((r.retryAfter+time.Second-1)/time.Second)))
	}
	x.send(r.Status, "application/json", encoded(map[string]*Refusal{"error": r}))
}

// reply answers with a JSON document.
func (x *exchange) reply(document any) error {
	x.send(http.StatusOK, "application/json", encoded(document))
	return nil
}

// encoded returns a line of JSON in which characters that cannot be seen are escaped.
func encoded(document any) []byte {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(document); err != nil { // with less memory than Marshal and the end of a line
		panic("web: " + err.Error()) // documents have no types that fail
	}
	return printable.JSON(body.Bytes())
}

// send writes a reply.
func (x *exchange) send(status int, media string, body []byte) {
	x.w.Header().Set("Content-Type", media)
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.status = status
	x.w.WriteHeader(status)
	_ = x.write(body) // the client may have closed the connection
}

const (
	// timeout is how long a client may take to send a body, or to read writeStep bytes of a reply.
	timeout   = 30 * time.Second
	writeStep = 256 << 10
)

// write writes a part of a reply.
func (x *exchange) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writeStep)
		x.limitWrite()
		if _, err := x.w.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// limitWrite limits the time of the next write.
func (x *exchange) limitWrite() {
	_ = x.control.SetWriteDeadline(time.Now().Add(timeout)) // a test's writer may not have one
}

// with returns a method that decodes the body of the request first.
func with[T any](f func(*exchange, T) error) method {
	return func(x *exchange) error {
		var in T
		if err := x.body(&in); err != nil {
			return err
		}
		return f(x, in)
	}
}

// maxBody limits the body of a request.
const maxBody = 256 << 10

// body decodes the JSON body of a request.
func (x *exchange) body(into any) error {
	if media, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";"); strings.TrimSpace(media) != "application/json" {
		return &Refusal{
			Status: http.StatusUnsupportedMediaType, Code: "invalid_body",
			Message: "the body must have the Content-Type application/json",
		}
	}
	_ = x.control.SetReadDeadline(time.Now().Add(timeout))
	d := json.NewDecoder(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	d.DisallowUnknownFields() // a misspelt option has no effect
	err := d.Decode(into)
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		x.long = true
		return &Refusal{Status: http.StatusRequestEntityTooLarge, Code: "invalid_body", Message: "the body is longer than 256 KiB"}
	}
	if err != nil {
		return &Refusal{
			Status: http.StatusBadRequest, Code: "invalid_body", Message: "the body is not a JSON object of the expected form",
		}
	}
	return nil
}
