package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What an HTTP does where its configuration says nothing.
const (
	defaultMaxBody     = 4 << 20
	defaultRate        = 1000
	defaultBurst       = 2000
	defaultMaxSessions = 4096
	defaultIdle        = time.Hour
	defaultPatience    = 30 * time.Second
	defaultGrace       = 10 * time.Second
)

// endpoint is the path of the default dialect; below it are all.
const endpoint = "/mcp"

// An Authenticator knows whose a bearer token is.
type Authenticator interface {
	// Subject returns whose token it is, "" for nobody's. An error means that it
	// cannot tell now.
	Subject(ctx context.Context, token string) (string, error)
}

// An HTTPConfig configures an HTTP. Where a number is 0 there is a default, and
// where there is a limit, a negative number means none.
type HTTPConfig struct {
	Servers []*Server     // required; each at /mcp/NAME of its dialect, the first at /mcp too
	Auth    Authenticator // nil means that everybody is the local user
	Logger  *slog.Logger  // faults, never what a client sent; nil means discard

	// Origins, like https://think.example.com, are those of web pages that may
	// call, besides the server's own. Their host names are also names of this
	// server, as behind a proxy that passes them on; on a loopback address it
	// otherwise answers to local names only.
	Origins []string

	MaxBody        int           // bytes of a request's body; 0 means 4 MiB
	MaxSessions    int           // sessions of clients before 2026-07-28; 0 means 4,096
	SessionTimeout time.Duration // without a request or an open stream; 0 means an hour
	Rate           float64       // requests a second for each client; 0 means 1,000
	Burst          int           // requests that it may make at once; 0 means twice Rate
	Patience       time.Duration // for a client to send a request, or to take a reply; 0 means 30 s
	Grace          time.Duration // for calls under way when Serve ends; 0 means 10 s

	// Ready tells whether calls can be answered, for those who ask at /readyz,
	// which get to see the code of its error. It is called at most once a second,
	// and has two. Nil means that they always can.
	Ready func(ctx context.Context) error
	// Drain is how long Serve goes on to accept calls when it is to end, while
	// /readyz says that it does, so that a load balancer turns to other servers
	// first. 0 means not at all.
	Drain time.Duration
}

// An HTTP serves dialects over streamable HTTP, in both eras of the protocol on
// the same URLs. It is an [http.Handler]; [HTTP.Serve] is a whole server around
// it. It is safe for concurrent use.
//
// Requests of 2026-07-28 and later stand for themselves. Older clients shake
// hands and get a session, which is a session of the protocol and nothing else:
// what is recorded lives in the store.
//
// Each POST stands for itself in another way too: those that a client makes at
// the same time are handled at the same time, in no order. Within one session of
// thoughts the engine puts them in one. A client that wants its own order waits
// for each reply, as all do that are known.
//
// The reply to a request is one JSON document, or a stream of events if there is
// something to say before it.
//
// At /healthz it tells that the process answers, and at /readyz whether it wants
// calls, to everybody and without limits.
type HTTP struct {
	servers  map[string]*Server // by path
	names    string             // of the paths, for people
	auth     Authenticator
	logger   *slog.Logger
	cors     *http.CrossOriginProtection
	origins  map[string]bool
	hosts    map[string]bool // of origins, without port
	maxBody  int
	patience time.Duration
	grace    time.Duration
	limiter  *limiter // nil for none
	sessions *sessionTable

	readiness readiness
	drain     time.Duration
	draining  atomic.Bool // about to end: others should get the calls

	closing chan struct{} // closed when the server is about to end: streams do

	aborting context.Context // done when the time for that is up: calls end
	abort    context.CancelFunc

	closeOnce sync.Once

	mu     sync.Mutex
	active int           // requests under way
	down   bool          // Shutdown has begun
	quiet  chan struct{} // closed when down and active is 0
}

// NewHTTP makes an HTTP. It panics if there are no servers or two of one dialect;
// the error is for an origin that is none.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	if len(cfg.Servers) == 0 {
		panic("mcpserver: HTTPConfig needs Servers")
	}
	h := &HTTP{
		servers:  map[string]*Server{endpoint: cfg.Servers[0]},
		auth:     cfg.Auth,
		logger:   cfg.Logger,
		cors:     http.NewCrossOriginProtection(),
		origins:  make(map[string]bool),
		hosts:    make(map[string]bool),
		maxBody:  cmp.Or(cfg.MaxBody, defaultMaxBody),
		patience: cmp.Or(cfg.Patience, defaultPatience),
		grace:    cmp.Or(cfg.Grace, defaultGrace),
		closing:  make(chan struct{}),
		quiet:    make(chan struct{}),
		drain:    cfg.Drain,
	}
	h.readiness.check = cfg.Ready
	h.aborting, h.abort = context.WithCancel(context.Background())
	if h.logger == nil {
		h.logger = slog.New(slog.DiscardHandler)
	}
	names := []string{endpoint + " (" + cfg.Servers[0].dialect.Name + ")"}
	for _, s := range cfg.Servers {
		path := endpoint + "/" + s.dialect.Name
		if h.servers[path] != nil {
			panic("mcpserver: two servers of dialect " + s.dialect.Name)
		}
		h.servers[path] = s
		names = append(names, path)
	}
	h.names = strings.Join(names, ", ")
	for _, origin := range cfg.Origins {
		u, err := url.Parse(origin)
		if err == nil {
			err = h.cors.AddTrustedOrigin(origin)
		}
		if err != nil {
			return nil, fmt.Errorf("mcpserver: %q is not an origin like https://example.com: %w", origin, err)
		}
		h.origins[origin] = true
		h.hosts[strings.ToLower(u.Hostname())] = true
	}
	if cfg.Rate >= 0 {
		perSecond := cmp.Or(cfg.Rate, defaultRate)
		h.limiter = newLimiter(perSecond, cmp.Or(cfg.Burst, max(1, int(perSecond*defaultBurst/defaultRate))))
	}
	h.sessions = newSessionTable(cmp.Or(cfg.MaxSessions, defaultMaxSessions), cmp.Or(cfg.SessionTimeout, defaultIdle))
	return h, nil
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := &visit{h: h, w: w, r: r, control: http.NewResponseController(w)}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if h.draining.Load() {
		w.Header().Set("Connection", "close") // the next call had better go elsewhere
	}
	if v.probe() {
		return
	}
	if !h.enter() {
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "1")
		v.fail(http.StatusServiceUnavailable, nil, invalidRequest("the server is shutting down; try again"))
		return
	}
	defer h.leave()
	if !v.admit() {
		return
	}
	switch r.Method {
	case http.MethodPost:
		v.post()
	case http.MethodGet:
		v.listen()
	case http.MethodDelete:
		v.delete()
	default:
		v.notAllowed(r.Method + " means nothing here: send messages with POST")
	}
}

// deadline returns until when a client has time.
func (h *HTTP) deadline() time.Time {
	if h.patience < 0 {
		return time.Time{}
	}
	return time.Now().Add(h.patience)
}

func (h *HTTP) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		return false
	}
	h.active++
	return true
}

func (h *HTTP) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active--
	if h.down && h.active == 0 {
		close(h.quiet)
	}
}

// endStreams ends what would go on for ever.
func (h *HTTP) endStreams() { h.closeOnce.Do(func() { close(h.closing) }) }

// Shutdown refuses new requests, ends streams and waits for the calls under way.
// When ctx is done before them it has them cancelled, and returns ctx's error.
// Only the first call of Shutdown does anything.
func (h *HTTP) Shutdown(ctx context.Context) error {
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
