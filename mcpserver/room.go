package mcpserver

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
const longMessage = 16 << 10

// parseIn is [Parse] for a client with limits: a long message takes the turn before it is read.
// If it gets none, it is refused.
func parseIn(ctx context.Context, line []byte, turn *limits.Turn) message {
	if len(line) < longMessage {
		return parseMessage(line)
	}
	err := turn.Take(ctx)
	if err == nil {
		return parseMessage(line)
	}
	p := partsOf(bytes.Trim(line, jsonscan.Space)) // as far as it can be told without reading all of it
	if p.method == nil || !isID(p.id) || !utf8.Valid(p.id) {
		return message{} // no reply is expected
	}
	return message{Kind: kindRefused, ID: p.id, Fault: cmp.Or(refused(err), errCancelled)}
}

// room returns an error if a reply of some bytes or more is too long.
func (r *request) room(bytes int) error {
	if r.MaxReply <= 0 || bytes <= r.MaxReply {
		return nil
	}
	return &rpcError{Code: codeInternal, Message: fmt.Sprintf(
		"the request was carried out, but its reply has %d bytes or more, of at most %d, and cannot be sent: ask for less", bytes, r.MaxReply)}
}

// refused returns what a client is told of a [limits.Refusal]; nil if err is none.
func refused(err error) *rpcError {
	if errors.Is(err, limits.ErrEnding) {
		return errEnding
	}
	e, ok := errors.AsType[*limits.Refusal](err)
	if !ok {
		return nil
	}
	fault := &rpcError{Code: codeTooMany, Message: e.Error(), RetryAfter: e.RetryAfter, Reason: "too_many_requests"}
	fault.Data, _ = marshal(struct { // strings and numbers cannot fail
		Limit        string `json:"limit"`
		Held         int    `json:"held,omitempty"` // by this client
		RetryAfterMS int64  `json:"retryAfterMs"`
	}{e.Limit, e.Held, milliseconds(e.RetryAfter)})
	return fault
}
