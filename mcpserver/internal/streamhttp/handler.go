// Package streamhttp serves clients over streamable HTTP, in both eras of the
// protocol on the same URLs: who is let in, the sessions of clients of the
// handshake era, and replies that are streams of events.
package streamhttp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

// Defaults of a [Config].
const (
	DefaultMaxBody        = 4 << 20
	DefaultMaxReply       = 16 << 20
	DefaultRate           = 1000
	DefaultBurst          = 2000
	DefaultSessionTimeout = time.Hour
	DefaultTimeout        = 30 * time.Second
	DefaultGrace          = 10 * time.Second
)

// reservedFiles is how many of the files that the process may have open are kept for
// the store and the like.
const reservedFiles = 256

// The paths of the default dialect; below them are all.
const (
	endpoint       = "/mcp"
	socketEndpoint = "/ws"
)

// A Config configures a Handler. What its fields mean is said at
// mcpserver.HTTPConfig.
type Config struct {
	Servers        []*method.Server
	Auth           auth.Authenticator
	Resource       *auth.Resource
	Logger         *slog.Logger
	Origins        []string
	MaxBody        int
	MaxReply       int
	Limits         governor.Limits
	TrustedProxies []netip.Prefix
	SessionTimeout time.Duration
	Rate           float64
	Burst          int
	Timeout        time.Duration
	Grace          time.Duration
	Ready          func(ctx context.Context) error
	Stalled        func() (batches, sessions int)
	Unlogged       func() (lost uint64, failing bool)
	Drain          time.Duration
	TLS            *tls.Config
}

// A Handler serves dialects over HTTP; see mcpserver.HTTP.
type Handler struct {
	servers  map[string]*method.Server // by path
	first    *method.Server            // whose observer is told of requests that reach none
	names    string                    // of the paths, for people
	sites    []site
	auth     auth.Authenticator
	resource *auth.Resource // nil if clients are not told where to get tokens
	logger   *slog.Logger
	gate     *admission.Gate
	maxBody  int
	maxReply int           // bytes; negative means no limit
	timeout  time.Duration // for a client to send a request, or to take a reply
	grace    time.Duration
	governor *governor.Governor
	sessions *sessionTable

	readiness readiness
	stalled   func() (batches, sessions int)     // for /readyz; nil if the server does not know
	unlogged  func() (lost uint64, failing bool) // for /readyz; nil without an audit log
	tls       *tls.Config                        // nil for plain HTTP
	drain     time.Duration
	draining  atomic.Bool // about to end: others should get the calls

	ending     context.Context // done when the server is about to end: streams do
	endStreams context.CancelFunc

	aborting context.Context // done when the time for that is up: calls end
	abort    context.CancelFunc

	mu     sync.Mutex
	active int           // requests under way
	down   bool          // Shutdown has begun
	quiet  chan struct{} // closed when down and active is 0
}

// New makes a Handler. It panics if there are no servers or two of one dialect;
// it returns an error for an invalid origin.
func New(cfg Config) (*Handler, error) {
	if len(cfg.Servers) == 0 {
		panic("mcpserver: HTTPConfig needs Servers")
	}
	h := &Handler{
		servers: map[string]*method.Server{endpoint: cfg.Servers[0], socketEndpoint: cfg.Servers[0]},
		first:   cfg.Servers[0],
		auth:    cfg.Auth, resource: cfg.Resource,
		logger:  cfg.Logger,
		maxBody: cmp.Or(cfg.MaxBody, DefaultMaxBody), maxReply: cmp.Or(cfg.MaxReply, DefaultMaxReply),
		timeout: cmp.Or(cfg.Timeout, DefaultTimeout),
		grace:   cmp.Or(cfg.Grace, DefaultGrace),
		quiet:   make(chan struct{}),
		drain:   cfg.Drain, tls: cfg.TLS,
	}
	h.readiness.check = cfg.Ready
	h.stalled, h.unlogged = cfg.Stalled, cfg.Unlogged
	h.ending, h.endStreams = context.WithCancel(context.Background())
	h.aborting, h.abort = context.WithCancel(context.Background())
	if h.logger == nil {
		h.logger = slog.New(slog.DiscardHandler)
	}
	names := []string{endpoint + " (" + cfg.Servers[0].Name() + ")"}
	for _, s := range cfg.Servers {
		path := endpoint + "/" + s.Name()
		if h.servers[path] != nil {
			panic("mcpserver: two servers of dialect " + s.Name())
		}
		h.servers[path], h.servers[socketEndpoint+"/"+s.Name()] = s, s
		names = append(names, path)
	}
	h.names = strings.Join(names, ", ")
	var err error
	if h.gate, err = admission.New(cfg.Origins, cfg.TrustedProxies); err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	h.governor = newGovernor(cfg)
	context.AfterFunc(h.ending, h.governor.EndWaits)
	h.sessions = newSessionTable(cmp.Or(cfg.SessionTimeout, DefaultSessionTimeout))
	return h, nil
}

// newGovernor returns the governor of the configured limits.
func newGovernor(cfg Config) *governor.Governor {
	g := governor.Config{Limits: cfg.Limits, Logger: cfg.Logger}
	if cfg.Rate >= 0 {
		g.Rate = cmp.Or(cfg.Rate, DefaultRate)
		g.Burst = cmp.Or(cfg.Burst, max(1, int(g.Rate*DefaultBurst/DefaultRate)))
	}
	connections := &g.Limits[governor.Connections]
	if *connections >= 0 { // beyond what the system allows nobody could connect
		files := openFiles()
		*connections = min(cmp.Or(*connections, governor.Defaults()[governor.Connections]), files-min(reservedFiles, files/2))
	}
	return governor.New(g)
}

// A site answers requests that are not of MCP.
type site struct {
	prefix  string // of their paths
	handler http.Handler
}

// Mount has requests whose path begins with prefix answered by another handler, which
// admits them itself. It must not be called after the first request.
func (h *Handler) Mount(prefix string, handler http.Handler) {
	h.sites = append(h.sites, site{prefix, handler})
}

// Gate returns the gate of the server.
func (h *Handler) Gate() *admission.Gate { return h.gate }

// Governor returns the governor of the server.
func (h *Handler) Governor() *governor.Governor { return h.governor }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := &visit{h: h, w: w, r: r, begun: time.Now(), control: http.NewResponseController(w)}
	defer v.end()
	if c := connOf(r); c != nil {
		c.busy()
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if h.draining.Load() {
		w.Header().Set("Connection", "close") // the next call had better go elsewhere
	}
	if v.probe() || v.metadata() {
		return
	}
	defer v.other()
	if !h.enter() {
		v.shuttingDown(nil)
		return
	}
	defer h.leave()
	for _, s := range h.sites {
		if strings.HasPrefix(r.URL.Path, s.prefix) {
			v.told = true // the site has an observer of its own
			s.handler.ServeHTTP(w, r)
			return
		}
	}
	if !v.admit() {
		return
	}
	if v.isSocket() {
		v.socket()
		return
	}
	switch r.Method {
	case http.MethodPost:
		v.post()
	case http.MethodGet:
		v.follow()
	case http.MethodDelete:
		v.delete()
	default:
		v.notAllowed(r.Method + " means nothing here: send messages with POST")
	}
}

// shuttingDown answers that the server ends.
func (v *visit) shuttingDown(id []byte) {
	v.w.Header().Set("Connection", "close")
	v.fail(http.StatusServiceUnavailable, id, message.ErrEnding)
}

// deadline returns until when a client has time.
func (h *Handler) deadline() time.Time {
	if h.timeout < 0 {
		return time.Time{}
	}
	return time.Now().Add(h.timeout)
}

func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		return false
	}
	h.active++
	return true
}

func (h *Handler) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active--
	if h.down && h.active == 0 {
		close(h.quiet)
	}
}

// Shutdown refuses new requests, ends streams and waits for the calls under way.
// When ctx is done before them it has them cancelled, and returns ctx's error.
// Only the first call of Shutdown does anything.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.draining.Store(true)
	h.mu.Lock()
	first := !h.down
	h.down = true
	if first && h.active == 0 {
		close(h.quiet)
	}
	h.mu.Unlock()
	if !first {
		return errors.New("mcpserver: Shutdown was called before")
	}
	h.endStreams()
	var err error
	select {
	case <-h.quiet:
	case <-ctx.Done():
		err = ctx.Err()
		h.abort()
		select {
		case <-h.quiet:
		case <-time.After(time.Second): // for calls that heed it
			return err
		}
	}
	h.sessions.shut()
	return err
}
