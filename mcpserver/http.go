package mcpserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
)

// Defaults of an [HTTPConfig].
const (
	DefaultSessionTimeout = time.Hour
	DefaultRate           = 1000 // requests per second

	defaultMaxBody  = 4 << 20
	defaultMaxReply = 16 << 20
	defaultTimeout  = 30 * time.Second
	defaultGrace    = 10 * time.Second
)

// The paths of the default dialect; below them are all.
const (
	endpoint       = "/mcp"
	socketEndpoint = "/ws"
	endpoints      = "the MCP endpoint is /mcp, and /mcp/NAME that of a dialect"
)

// Limits are what each client may have at a time. 0 means the default, a negative number
// no limit.
//
// A Limits is the subject of a token, or else an address (in IPv6 a /64). One that wants
// more is refused with 429; calls wait for up to 10 s before. A client that wants another
// session loses its own one that was idle for the longest.
type Limits = limits.Caps

// DefaultLimits returns the limits that the zero Limits mean.
func DefaultLimits() Limits { return limits.Defaults() }

// An HTTPConfig configures an HTTP.
type HTTPConfig struct {
	Servers []*Server          // required; each at /mcp/NAME of its dialect, the first at /mcp too; at /ws alike
	Auth    auth.Authenticator // nil means that all clients are the local user
	Logger  *slog.Logger       // internal errors, never a text of a client; nil means discard
	// Resource tells clients where to get tokens for Auth; nil means that they have them. It
	// is published as RFC 9728 says, and named when a token is missing or does not suffice.
	Resource *auth.Resource

	// PublicURL is the URL at which clients reach the server, such as
	// https://think.example.com. Its host is a name of the server, and its pages may call.
	// Other names are those of this machine and addresses. With Auth, any Host is admitted
	// on an address that other machines can reach.
	PublicURL string
	// Origins, like https://chat.example.com, are those of other web pages that may call.
	Origins []string

	MaxBody        int           // bytes of a request's body; 0 means 4 MiB
	MaxReply       int           // bytes of a reply; a longer one is replaced by an error; 0 means 16 MiB
	SessionTimeout time.Duration // idle time until a session ends; 0 means an hour, a negative number no limit
	Rate           float64       // maximum requests per second per client; 0 means 1,000, a negative number no limit
	Burst          int           // maximum burst of requests per client; 0 means twice Rate
	Timeout        time.Duration // time for a client to send a request or to read a reply; 0 means 30 s
	Grace          time.Duration // time for calls in progress when Serve ends; 0 means 10 s
	Limits         Limits        // of each client

	// TrustedProxies are the addresses of proxies in front of the server. In their
	// requests, the address of the client is read from X-Forwarded-For.
	TrustedProxies []netip.Prefix

	// Ready reports whether calls can be answered; /readyz shows the code of its error.
	// It is called at most once a second, and has two seconds. Nil means always ready.
	Ready func(ctx context.Context) error
	// Unlogged returns how many lines the audit log lacks, and whether it cannot be written
	// now. /readyz reports both. Nil means that there is no audit log.
	Unlogged func() (lost uint64, failing bool)
	// Drain is how long Serve continues to accept calls after ctx is done. Meanwhile
	// /readyz reports it, so that a load balancer uses other servers. 0 means no
	// draining.
	Drain time.Duration
	// TLS makes Serve accept HTTPS, and no plain HTTP; nil means plain HTTP.
	TLS *tls.Config
}

// An HTTP serves dialects over streamable HTTP, in both eras of the protocol at the same
// URLs. It is an [http.Handler]; [HTTP.Serve] is a complete server. It is safe for
// concurrent use.
//
// Requests of 2026-07-28 and later are stateless. Older clients make a handshake and get
// a session of the protocol. Thoughts are in the store, and not in that session.
//
// Concurrent requests are handled concurrently, in no order. The engine orders the
// thoughts of one session. A client that needs its own order waits for each reply, as all
// known clients do.
//
// The reply to a request is one JSON document, or a stream of events if messages come
// before it.
//
// At /ws and /ws/NAME it serves the same over WebSockets, with one message in each text
// frame, in both eras. Calls are answered in the order of arrival, as on standard input.
// The same clients are admitted, and the same limits apply.
//
// /healthz reports that the process answers, and /readyz whether it accepts calls, to all
// clients and without limits.
type HTTP struct {
	config   HTTPConfig
	servers  map[string]*Server // by path
	mounts   []mount
	resource *url.URL // that clients get tokens for
	gate     *admission.Gate
	limiter  *limits.Limiter
	sessions *sessionTable

	readiness readiness
	draining  atomic.Bool // about to end: others should get the calls

	ending     context.Context // done when the server is about to end: streams do
	endStreams context.CancelFunc

	aborting context.Context // done when the time for that is up: calls end
	abort    context.CancelFunc

	conns sync.Map      // of [net.Conn]: what gives back the units of one
	room  chan struct{} // filled with the open connections

	mu     sync.Mutex
	active sync.WaitGroup // calls in progress
	down   bool           // Shutdown has begun
}

// NewHTTP returns an HTTP. It panics if there are no servers or two with the same dialect;
// it returns an error for an invalid URL or origin.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	if len(cfg.Servers) == 0 {
		panic("mcpserver: HTTPConfig needs Servers")
	}
	gate, err := admission.New(admission.Config{
		PublicURL: cfg.PublicURL, Origins: cfg.Origins, Proxies: cfg.TrustedProxies, Tokens: cfg.Auth != nil,
	})
	cfg.Resource = cmp.Or(cfg.Resource, new(auth.Resource))
	resource, wrong := url.Parse(cfg.Resource.URL)
	if err := errors.Join(err, wrong); err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	cfg.MaxBody, cfg.MaxReply = cmp.Or(cfg.MaxBody, defaultMaxBody), cmp.Or(cfg.MaxReply, defaultMaxReply)
	cfg.Timeout, cfg.Grace = cmp.Or(cfg.Timeout, defaultTimeout), cmp.Or(cfg.Grace, defaultGrace)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	first := cfg.Servers[0]
	h := &HTTP{
		config: cfg, servers: map[string]*Server{endpoint: first, socketEndpoint: first}, resource: resource, gate: gate,
		sessions:  newSessionTable(cmp.Or(cfg.SessionTimeout, DefaultSessionTimeout)),
		readiness: readiness{check: cfg.Ready}, room: make(chan struct{}, openFiles()-min(reservedFiles, openFiles()/2)),
	}
	h.ending, h.endStreams = context.WithCancel(context.Background())
	h.aborting, h.abort = context.WithCancel(context.Background())
	h.limiter = newLimiter(cfg, h.ending)
	for _, s := range cfg.Servers {
		path := endpoint + "/" + s.name()
		if h.servers[path] != nil {
			panic("mcpserver: two servers of dialect " + s.name())
		}
		h.servers[path], h.servers[socketEndpoint+"/"+s.name()] = s, s
	}
	return h, nil
}

// newLimiter returns the limiter of the configured limits.
func newLimiter(cfg HTTPConfig, ending context.Context) *limits.Limiter {
	l := limits.Config{Logger: cfg.Logger, Caps: cfg.Limits, Ending: ending}
	if cfg.Rate >= 0 {
		l.Rate = cmp.Or(cfg.Rate, DefaultRate)
		l.Burst = cmp.Or(cfg.Burst, max(1, int(2*l.Rate)))
	}
	return limits.New(l)
}

// A mount answers requests that are not of MCP.
type mount struct {
	prefix  string // of their paths
	handler http.Handler
}

// Mount has requests whose path begins with prefix answered by another handler, such as
// /ui/. That handler must admit them itself: it sees requests of all clients, from pages of
// any origin. Serve and Shutdown wait for it as they wait for calls. Call Mount before the
// first request.
func (h *HTTP) Mount(prefix string, handler http.Handler) {
	h.mounts = append(h.mounts, mount{prefix, handler})
}

// Gate returns what decides which requests the server looks at, for handlers of this module
// that are mounted.
func (h *HTTP) Gate() *admission.Gate { return h.gate }

// Limiter returns what limits the server's clients, for handlers of this module that are
// mounted.
func (h *HTTP) Limiter() *limits.Limiter { return h.limiter }

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := &visit{h: h, w: w, r: r, begun: time.Now(), control: http.NewResponseController(w), path: r.URL.EscapedPath()}
	defer v.end()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if h.draining.Load() {
		w.Header().Set("Connection", "close") // the next call had better go elsewhere
	}
	if v.probe() || v.metadata() {
		v.told = true
		return
	}
	for _, s := range h.mounts {
		if strings.HasPrefix(v.path, s.prefix) {
			v.told = true // the site has an observer of its own
			if v.enter(nil) {
				defer h.active.Done()
				s.handler.ServeHTTP(w, r)
			}
			return
		}
	}
	v.via = v.way()
	switch {
	case !v.admit():
	case v.isSocket():
		v.socket()
	case r.Method == http.MethodPost:
		v.post()
	case r.Method == http.MethodGet:
		v.follow()
	case r.Method == http.MethodDelete:
		v.delete()
	default:
		v.notAllowed(r.Method + " means nothing here: send messages with POST")
	}
}
