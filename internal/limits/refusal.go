package limits

import (
	"errors"
	"fmt"
	"time"
)

// ErrEnding is the error of waits when the server ends.
var ErrEnding = errors.New("the server is shutting down; try again")

// A Refusal is the error for a client that wants more than it may have.
type Refusal struct {
	Limit      string // name of the limit: of its flag without "max-", or "rate"
	Held       int    // units that the client holds; 0 for the rate
	RetryAfter time.Duration

	client string
	kind   *kind   // nil for the rate
	rate   float64 // requests per second
}

// Error says what the limit is and what the client can do.
func (e *Refusal) Error() string {
	if e.kind != nil {
		return fmt.Sprintf("this client has %d %s, as many as it may have: %s", e.Held, e.kind.noun, e.kind.fix)
	}
	unit := time.Second
	if e.RetryAfter < unit {
		unit = time.Millisecond
	}
	return fmt.Sprintf("too many requests: this client may send %g a second; retry in %s",
		e.rate, (e.RetryAfter + unit - 1).Truncate(unit))
}

// A kind describes a resource in messages.
type kind struct {
	name  string        // of the limit, in logs and for programs
	noun  string        // after a number
	fix   string        // what the client can do
	retry time.Duration // after which there may be room
}

var kinds = [resources]kind{
	Calls:       {"calls", "requests in progress", "wait for replies, and read them", time.Second},
	Heavy:       {"heavy-calls", "searches, reads of sessions or long messages in progress", "wait for replies, and read them", time.Second},
	Streams:     {"streams", "open streams", "close some, or subscribe to several documents with one request", time.Minute},
	Sessions:    {"mcp-sessions", "MCP sessions in use", "end some with DELETE, or use protocol version 2026-07-28, which needs none", time.Minute},
	Connections: {"connections", "connections", "reuse connections", time.Second},
}

// String returns the name of the limit.
func (r Resource) String() string { return kinds[r].name }

// logInterval is how often refusals for one limit are logged at most.
const logInterval = 10 * time.Second

// refuse counts a refusal, logs it now and then, and returns it.
func (l *Limiter) refuse(r Resource, e *Refusal) error {
	n := &l.counts[r]
	n.refused.Add(1)
	n.logged.Do(func() {
		l.logger.Warn("a client was refused", "limit", e.Limit, "client", e.client, "held", e.Held, "refusals", n.refused.Load())
	})
	return e
}
