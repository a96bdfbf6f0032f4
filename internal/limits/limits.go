// Package limits caps what one client of a server may use at a time, so that no client
// takes the server from the others.
package limits

import (
	"container/list"
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A Resource is something of which each client has a number of units at most.
type Resource int

// The resources.
const (
	Calls       Resource = iota // messages that are read, answered or sent
	Heavy                       // running calls that compute for long
	Streams                     // open event streams and WebSockets
	Sessions                    // MCP sessions of older clients
	Connections                 // open network connections
	resources
)

// Caps are the units of each resource that one client may hold. 0 means the default, a
// negative number no limit.
type Caps struct {
	Calls       int // messages that are read, answered or sent; 0 means 32
	Heavy       int // of these, searches and reads of sessions; 0 means half the number of processors, at least 1
	Streams     int // open event streams and WebSockets; 0 means 500
	Sessions    int // MCP sessions of clients before 2026-07-28; 0 means 500
	Connections int // from one address; 0 means 1,000. All together never exceed the files of the process.
}

func (c Caps) each() [resources]int {
	return [resources]int{Calls: c.Calls, Heavy: c.Heavy, Streams: c.Streams, Sessions: c.Sessions, Connections: c.Connections}
}

// Defaults returns the default caps.
func Defaults() Caps {
	return Caps{Calls: 32, Heavy: max(1, runtime.GOMAXPROCS(0)/2), Streams: 500, Sessions: 500, Connections: 1000}
}

const (
	// maxWait limits how long [Client.Wait] waits.
	maxWait = 10 * time.Second
	// promptRefusals is how many refusals per second, and at once, a client is told of
	// without delay; refusalDelay is the delay of others.
	promptRefusals = 200
	refusalDelay   = time.Second
	// maxIdle limits how many clients are remembered that hold nothing. The least
	// recently seen is forgotten first; its burst has most likely refilled.
	maxIdle = 10_000
	// unlimited is the cap of a resource without limit.
	unlimited = 1 << 30
)

// A Config configures a Limiter.
type Config struct {
	Caps Caps
	// Rate is how many requests per second a client may send; 0 means no limit. Burst is
	// how many it may send at once.
	Rate   float64
	Burst  int
	Logger *slog.Logger // for refusals; nil means discard
	// Ending is done when all waits end with [ErrEnding]; nil means never.
	Ending context.Context
}

// A Limiter has the clients of a server. It is safe for concurrent use.
type Limiter struct {
	caps   [resources]int
	rate   rate.Limit
	burst  int
	logger *slog.Logger
	ending <-chan struct{}

	requests, throttled atomic.Int64
	counts              [resources]counts

	mu    sync.Mutex // guards what follows, and Client.refs and Client.place
	known map[string]*Client
	idle  list.List // of *Client without references, the most recently seen first
}

// counts are numbers for monitoring.
type counts struct {
	used, refused atomic.Int64
	logged        rate.Sometimes
}

// New returns a Limiter.
func New(cfg Config) *Limiter {
	l := &Limiter{
		caps: Defaults().each(), rate: rate.Limit(cfg.Rate), burst: cfg.Burst, logger: cfg.Logger,
		known: make(map[string]*Client),
	}
	for r, most := range cfg.Caps.each() {
		switch {
		case most > 0:
			l.caps[r] = most
		case most < 0:
			l.caps[r] = unlimited
		}
		l.counts[r].logged.Interval = logInterval
	}
	if cfg.Ending != nil {
		l.ending = cfg.Ending.Done()
	}
	if l.rate == 0 {
		l.rate = rate.Inf
	}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	return l
}

// Client returns the client with a name. The caller must call Release once it holds
// nothing of it.
func (l *Limiter) Client(name string) *Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.known[name]
	if c == nil {
		c = &Client{l: l, name: name, rate: rate.NewLimiter(l.rate, l.burst), refusals: rate.NewLimiter(promptRefusals, promptRefusals)}
		for r, most := range l.caps {
			c.units[r] = make(chan struct{}, most) // empty values take no memory
		}
		l.known[name] = c
	}
	c.refs++
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
	return c
}

// Stats are numbers of a limiter, over all clients.
type Stats struct {
	Requests  int64 // that were counted by Request, throttled ones included
	Throttled int64 // that came too fast
	Used      [resources]int64
	Refused   [resources]int64
}

// Stats returns numbers for monitoring. They name no client.
func (l *Limiter) Stats() (s Stats) {
	s.Requests, s.Throttled = l.requests.Load(), l.throttled.Load()
	for r := range l.counts {
		s.Used[r], s.Refused[r] = l.counts[r].used.Load(), l.counts[r].refused.Load()
	}
	return s
}
