// Package governor shares the capacity of a server among its clients, so that none
// of them can take it all.
//
// A [Governor] counts how much each [Subject] holds of each [Resource]. One rule
// keeps the shares fair: a subject may hold as much as remains free. One busy subject
// gets at most half of a resource, two get a third each, and n of them leave 1/(n+1)
// for the next one. A subject that asks for more is refused, or waits until it has
// given back enough. It never takes what another subject holds.
package governor

import (
	"cmp"
	"container/list"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Resource is a part of a server's capacity.
type Resource int

// The resources.
const (
	Connections Resource = iota // open network connections
	Calls                       // requests that are being answered
	BytesIn                     // bytes of requests in memory
	BytesOut                    // bytes of replies in memory
	Sessions                    // MCP sessions of older clients
	Streams                     // open event streams
	Watches                     // documents whose changes are reported
	Heavy                       // running calls that compute for long
	Model                       // running calls that wait for a language model
	resources
)

// Limits are the totals of the resources for all subjects together. 0 means the
// default, a negative number no limit.
type Limits [resources]int64

// Defaults returns the limits of a server for one person or a team. A subject gets at
// most half of each. Heavy is the number of processors that Go uses, but at least 2.
func Defaults() Limits {
	return Limits{
		Connections: 8192,
		Calls:       4096,
		BytesIn:     128 << 20,
		BytesOut:    128 << 20,
		Sessions:    8192,
		Streams:     8192,
		Watches:     20_000,
		Heavy:       int64(max(2, runtime.GOMAXPROCS(0))),
		Model:       512,
	}
}

const (
	// defaultWait limits how long a call waits for its turn.
	defaultWait = 10 * time.Second
	// promptRefusals is how many refusals per second, and at once, a client is told of
	// without delay; refusalDelay is the delay of others.
	promptRefusals = 200
	refusalDelay   = time.Second
	// maxIdle limits how many subjects are remembered that hold nothing. The least
	// recently seen is forgotten first; its burst has most likely refilled.
	maxIdle = 10_000
)

// A Config configures a Governor.
type Config struct {
	Limits Limits
	// Rate is how many requests per second a subject may send; 0 means no limit. Burst
	// is how many it may send at once.
	Rate  float64
	Burst int
	// Wait limits how long [Subject.Wait] waits; 0 means 10 s, a negative duration no
	// limit.
	Wait time.Duration
	// Sole means that there is only one subject, which may hold everything.
	Sole   bool
	Logger *slog.Logger // for refusals; nil means discard
}

// A Governor shares the capacity of a server. It is safe for concurrent use.
type Governor struct {
	limits  Limits
	rate    rate.Limit
	burst   int
	maxWait time.Duration
	sole    bool
	log     refusalLog
	ending  chan struct{} // closed by EndWaits
	end     sync.Once

	mu       sync.Mutex // guards what follows and the fields of subjects
	used     Limits
	subjects map[string]*Subject
	idle     list.List             // of *Subject without references, the most recently seen first
	queues   [resources][]*Subject // subjects with waiters
	grants   uint64                // so far, by Subject.Wait
	counts   counts
}

// New returns a Governor.
func New(cfg Config) *Governor {
	g := &Governor{
		rate: rate.Limit(cfg.Rate), burst: cfg.Burst, maxWait: cmp.Or(cfg.Wait, defaultWait), sole: cfg.Sole,
		limits: Defaults(), subjects: make(map[string]*Subject),
		ending: make(chan struct{}),
	}
	for r, limit := range cfg.Limits {
		g.limits[r] = cmp.Or(limit, g.limits[r])
	}
	g.log.logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return g
}

// EndWaits ends all waits, present and future, with [ErrEnding]: what waits for its turn
// need not be begun in a server that ends.
func (g *Governor) EndWaits() { g.end.Do(func() { close(g.ending) }) }

// Subject returns the subject with a name. The caller must call Release.
func (g *Governor) Subject(name string) *Subject {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.subjects[name]
	if s == nil {
		s = &Subject{g: g, name: name}
		g.subjects[name] = s
	}
	s.retain()
	return s
}

// Used returns how much all subjects hold of a resource.
func (g *Governor) Used(r Resource) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used[r]
}
