package governor

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// A Throttled is the error for a request that comes too soon.
type Throttled struct {
	Rate       float64 // requests per second that the subject may send
	RetryAfter time.Duration
}

// Error says what the limit is.
func (e *Throttled) Error() string {
	unit := time.Second
	if e.RetryAfter < unit {
		unit = time.Millisecond
	}
	return fmt.Sprintf("too many requests: this client may send %g a second; retry in %s",
		e.Rate, (e.RetryAfter + unit - 1).Truncate(unit))
}

// A Refusal is the error for a resource that a subject may not have now.
type Refusal struct {
	Resource   Resource
	Wanted     int64
	Held       int64 // by the subject
	Share      int64 // that the subject may hold at present
	Used       int64 // by all subjects
	Limit      int64 // of all subjects
	RetryAfter time.Duration

	subject string
}

// refusal returns the error for n units. The caller holds g.mu.
func (s *Subject) refusal(r Resource, n int64) *Refusal {
	return &Refusal{
		Resource: r, Wanted: n, Held: s.held[r], Share: s.share(r), Used: s.g.used[r], Limit: s.g.limits[r],
		RetryAfter: kinds[r].retry, subject: s.name,
	}
}

// Own reports whether the subject itself uses so much that it was refused. Otherwise
// others use everything.
func (e *Refusal) Own() bool { return e.Used+e.Wanted <= e.Limit || e.Held > e.Share }

// Error says what the limit is and what the client can do.
func (e *Refusal) Error() string {
	k := &kinds[e.Resource]
	if !e.Own() {
		return fmt.Sprintf("the clients of this server together have %s of %s %s: %s",
			k.amount(e.Used), k.amount(e.Limit), k.noun, k.wait)
	}
	wanted := ""
	if k.bytes {
		wanted = ", wants " + k.amount(e.Wanted) + " more"
	}
	return fmt.Sprintf("this client has %s %s%s and may have %s now, of %s for all clients: %s",
		k.amount(e.Held), k.noun, wanted, k.amount(e.Share), k.amount(e.Limit), k.fix)
}

// A kind describes a resource in messages.
type kind struct {
	name  string // of the limit, in logs and for programs
	noun  string // after an amount
	bytes bool
	fix   string        // what a client can do that has its share
	wait  string        // what a client can do while others have everything
	retry time.Duration // after which there may be room
}

const (
	retryNow    = "try again"
	retryMinute = "try again in a minute"
	noSession   = "use protocol version 2026-07-28, which needs none"
)

var kinds = [resources]kind{
	Connections: {name: "connections", noun: "connections", fix: "reuse connections", wait: retryNow, retry: time.Second},
	Calls:       {name: "calls", noun: "calls under way", fix: "wait for replies", wait: retryNow, retry: time.Second},
	BytesIn: {
		name: "bytes-in", noun: "of requests in flight", bytes: true,
		fix: "send fewer large requests at a time", wait: retryNow, retry: time.Second,
	},
	BytesOut: {
		name: "bytes-out", noun: "of replies in flight", bytes: true,
		fix: "read replies, ask for less, or make fewer calls at a time", wait: retryNow, retry: time.Second,
	},
	Sessions: {
		name: "mcp-sessions", noun: "MCP sessions in use",
		fix: "end some with DELETE, or " + noSession, wait: retryMinute + ", or " + noSession, retry: time.Minute,
	},
	Streams: {
		name: "streams", noun: "open streams",
		fix: "close some, or subscribe to several documents with one request", wait: retryMinute, retry: time.Minute,
	},
	Watches: {
		name: "watches", noun: "subscribed documents",
		fix: "unsubscribe from some", wait: retryMinute, retry: time.Minute,
	},
	Heavy: {
		name: "heavy-calls", noun: "running searches or reads of sessions",
		fix: "wait for replies", wait: retryNow, retry: time.Second,
	},
	Model: {
		name: "model-calls", noun: "running calls of language models",
		fix: "wait for replies", wait: retryNow, retry: 5 * time.Second,
	},
}

// String returns the name of the limit, which is that of its flag without "max-".
func (r Resource) String() string { return kinds[r].name }

// amount formats a number of units.
func (k *kind) amount(n int64) string {
	switch {
	case !k.bytes:
		return strconv.FormatInt(n, 10)
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
}

// logEvery is how often refusals of a resource are logged.
const logEvery = 10 * time.Second

// A refusalLog logs refusals: the first at once, and then how many there were.
type refusalLog struct {
	logger *slog.Logger

	mu    sync.Mutex
	at    [resources]time.Time // of the last line
	count [resources]int       // since then
}

func (l *refusalLog) add(e *Refusal) {
	l.mu.Lock()
	r := e.Resource
	l.count[r]++
	n, now := l.count[r], time.Now()
	due := now.Sub(l.at[r]) >= logEvery
	if due {
		l.at[r], l.count[r] = now, 0
	}
	l.mu.Unlock()
	if due {
		l.logger.Warn("a client was refused", "limit", r.String(), "client", e.subject,
			"held", e.Held, "share", e.Share, "used", e.Used, "total", e.Limit, "refusals", n)
	}
}
