package protocol

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/internal/limits"
)

// LongMessage is the length in bytes from which on a message takes long to read.
const LongMessage = 16 << 10

// ParseIn is [Parse] for a client with limits: a long message takes the turn before it is read.
// If it gets none, it is refused.
func ParseIn(ctx context.Context, line []byte, turn *limits.Turn) Message {
	if len(line) < LongMessage {
		return Parse(line)
	}
	err := turn.Take(ctx)
	if err == nil {
		return Parse(line)
	}
	p := partsOf(bytes.Trim(line, jsonscan.Space)) // as far as it can be told without reading all of it
	if p.method == nil || !IsID(p.id) || !utf8.Valid(p.id) {
		return Message{} // no reply is expected
	}
	return Message{Kind: KindRefused, ID: p.id, Fault: cmp.Or(Refused(err), ErrCancelled)}
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
