package method

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// A Client limits what the requests of one client use. A [governor.Subject] is one.
type Client interface {
	// Take takes n units of a resource, or returns an error.
	Take(r governor.Resource, n int64) error
	// Wait waits for n units.
	Wait(ctx context.Context, r governor.Resource, n int64) error
	// Give returns n units.
	Give(r governor.Resource, n int64)
}

// resources are what calls of a weight use.
var resources = map[tool.Weight]governor.Resource{tool.Heavy: governor.Heavy, tool.Model: governor.Model}

// begin waits until a call of some weight may run. The caller must call end.
func (r *Request) begin(ctx context.Context, w tool.Weight) error {
	if r.Client == nil || w == tool.Light {
		return nil
	}
	return r.Client.Wait(ctx, resources[w], 1)
}

// end ends a call for which begin has returned nil.
func (r *Request) end(w tool.Weight) {
	if r.Client != nil && w != tool.Light {
		r.Client.Give(resources[w], 1)
	}
}

// room returns an error if the reply, which has some bytes or more, cannot be sent.
func (r *Request) room(bytes int) error {
	if r.Room != nil {
		if fault := r.Room(bytes); fault != nil {
			return fault
		}
	}
	return nil
}

// Refused returns what a client is told of a [governor.Refusal] or
// [governor.Throttled]; nil if err is neither.
func Refused(err error) *message.Error {
	type about struct {
		Limit        string `json:"limit,omitempty"`
		Held         int64  `json:"held,omitempty"`  // by this client
		Share        int64  `json:"share,omitempty"` // that it may hold now
		Total        int64  `json:"total,omitempty"` // of all clients
		RetryAfterMS int64  `json:"retryAfterMs"`
	}
	if errors.Is(err, governor.ErrEnding) {
		return message.ErrEnding
	}
	var fault message.Error
	var data about
	if e, ok := errors.AsType[*governor.Throttled](err); ok {
		fault.Code, fault.RetryAfter = message.CodeTooMany, e.RetryAfter
	} else if e, ok := errors.AsType[*governor.Refusal](err); ok {
		fault.Code, fault.RetryAfter = message.CodeFull, e.RetryAfter
		if e.Own() {
			fault.Code = message.CodeTooMany
		}
		data = about{Limit: e.Resource.String(), Held: e.Held, Share: e.Share, Total: e.Limit}
	} else {
		return nil
	}
	fault.Message, fault.Reason = err.Error(), "too_many_requests"
	if fault.Code == message.CodeFull {
		fault.Reason = "server_full"
	}
	data.RetryAfterMS = message.Milliseconds(fault.RetryAfter)
	fault.Data, _ = message.Marshal(data) // strings and numbers cannot fail
	return &fault
}
