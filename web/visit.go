package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/internal/redact"
)

// A visit is one request.
type visit struct {
	h       *Handler
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	engine  *sequent.Engine   // of the owner
	granted auth.Identity     // what the token allows; zero without tokens
	token   string            // checked again while a stream lasts
	client  *governor.Subject // whom limits are for; nil before that is known
	held    governor.Limits   // of the client, by this visit
	room    *governor.Reply   // memory of the reply; nil for a small one
	shared  *sequent.Share    // that admits the visitor; nil for none
	masks   []redact.Pattern  // of texts that the share does not show; nil for none
	shareID string            // of the share that the request is about; empty for none

	seen     *Access // nil without an observer, and when it is told
	observed func()  // tells the observer of the outcome
	status   int     // of the reply
	code     string  // of the refusal
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
func (v *visit) refusalOf(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	if t, ok := errors.AsType[*governor.Throttled](err); ok {
		return &Refusal{Status: http.StatusTooManyRequests, Code: "too_many_requests", Message: t.Error(), retryAfter: t.RetryAfter}
	}
	if g, ok := errors.AsType[*governor.Refusal](err); ok {
		status := http.StatusServiceUnavailable
		if g.Own() {
			status = http.StatusTooManyRequests
		}
		return &Refusal{Status: status, Code: "too_many_requests", Field: g.Resource.String(), Message: g.Error(), retryAfter: g.RetryAfter}
	}
	if errors.Is(err, governor.ErrEnding) {
		return &Refusal{Status: http.StatusServiceUnavailable, Code: string(sequent.CodeUnavailable), Message: err.Error(), retryAfter: time.Second}
	}
	e, ok := errors.AsType[*sequent.Error](err)
	status := http.StatusInternalServerError
	if ok && statuses[e.Code] != 0 {
		status = statuses[e.Code]
	}
	if status == http.StatusInternalServerError {
		v.h.config.Logger.ErrorContext(v.r.Context(), "a request of the viewer failed", "path", v.r.URL.Path, "error", err)
		return &Refusal{Status: status, Code: string(sequent.CodeInternal), Message: "the server failed; details are in its log"}
	}
	return &Refusal{Status: status, Code: string(e.Code), Field: e.Field, Message: e.Msg, Fix: e.Fix}
}

// refuse answers with an error.
func (v *visit) refuse(err error) {
	r := v.refusalOf(err)
	v.code = r.Code
	if r.retryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int((r.retryAfter+time.Second-1)/time.Second)))
	}
	v.send(r.Status, struct {
		Error *Refusal `json:"error"`
	}{r})
}

// reply answers with a JSON document.
func (v *visit) reply(document any) error {
	v.send(http.StatusOK, document)
	return nil
}

// send writes a JSON document.
func (v *visit) send(status int, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		panic("web: " + err.Error()) // documents have no types that fail
	}
	v.sendBytes(status, "application/json", append(body, '\n'))
}

// sendBytes writes a reply. One that does not fit into the client's share of memory is
// replaced by a refusal.
func (v *visit) sendBytes(status int, media string, body []byte) {
	if room := v.room; room != nil {
		v.room = nil
		if err := room.Made(int64(len(body)), int64(len(body))); err != nil {
			v.refuse(err)
			return
		}
	}
	v.w.Header().Set("Content-Type", media)
	v.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	v.status = status
	v.w.WriteHeader(status)
	_ = v.write(body) // the client may have closed the connection
}

// writeStep is how many bytes a client has to read within Config.Timeout.
const writeStep = 256 << 10

// write writes a part of a reply.
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

// limitWrite limits the time of the next write.
func (v *visit) limitWrite() {
	_ = v.control.SetWriteDeadline(time.Now().Add(v.h.config.Timeout)) // a test's writer may not have one
}

func invalid(field, rule string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: "invalid_parameter", Field: field, Message: "the parameter " + field + " " + rule}
}

// maxBody limits the body of a request.
const maxBody = 256 << 10

// body decodes the JSON body of a request.
func (v *visit) body(into any) error {
	if media, _, _ := strings.Cut(v.r.Header.Get("Content-Type"), ";"); strings.TrimSpace(media) != "application/json" {
		return &Refusal{Status: http.StatusUnsupportedMediaType, Code: "invalid_body", Message: "the body must have the Content-Type application/json"}
	}
	_ = v.control.SetReadDeadline(time.Now().Add(v.h.config.Timeout))
	d := json.NewDecoder(http.MaxBytesReader(v.w, v.r.Body, maxBody))
	if err := d.Decode(into); err != nil {
		return &Refusal{Status: http.StatusBadRequest, Code: "invalid_body", Message: "the body is not a JSON object of the expected form, or longer than 256 KiB"}
	}
	return nil
}
