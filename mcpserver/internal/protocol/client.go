package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent/internal/limits"
)

// begin waits until a heavy call may run. It runs until Done: it can have a large reply, which
// is in memory until it is sent.
func (r *Request) begin(ctx context.Context) error {
	if r.Client == nil {
		return nil
	}
	err := r.Client.Wait(ctx, limits.Heavy)
	r.heavy = err == nil
	return err
}

// Done is called when the reply was sent.
func (r *Request) Done() {
	if r.heavy {
		r.Client.Give(limits.Heavy)
		r.heavy = false
	}
}

// room returns an error if a reply of some bytes or more is too long.
func (r *Request) room(bytes int) error {
	if r.MaxReply <= 0 || bytes <= r.MaxReply {
		return nil
	}
	return &Error{Code: CodeInternal, Message: fmt.Sprintf(
		"the request was carried out, but its reply has %d bytes or more, of at most %d, and cannot be sent: ask for less", bytes, r.MaxReply)}
}

// Refused returns what a client is told of a [limits.Refusal]; nil if err is none.
func Refused(err error) *Error {
	if errors.Is(err, limits.ErrEnding) {
		return ErrEnding
	}
	e, ok := errors.AsType[*limits.Refusal](err)
	if !ok {
		return nil
	}
	fault := &Error{Code: CodeTooMany, Message: e.Error(), RetryAfter: e.RetryAfter, Reason: "too_many_requests"}
	fault.Data, _ = Marshal(struct { // strings and numbers cannot fail
		Limit        string `json:"limit"`
		Held         int    `json:"held,omitempty"` // by this client
		RetryAfterMS int64  `json:"retryAfterMs"`
	}{e.Limit, e.Held, Milliseconds(e.RetryAfter)})
	return fault
}
