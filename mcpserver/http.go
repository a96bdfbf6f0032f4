package mcpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/streamhttp"
)

// Defaults of an [HTTPConfig].
const (
	DefaultMaxSessions    = 8192
	DefaultSessionTimeout = streamhttp.DefaultSessionTimeout
	DefaultRate           = streamhttp.DefaultRate // requests per second
)

// Limits are how much all clients of a server together may hold. Where a number is 0
// there is a default; a negative number means no limit.
//
// A client is the subject of a token, or else an address (in IPv6 a /64). Each may hold
// as much as remains free: one client at most half of a limit, two a third each. One
// that wants more is refused with 429, or with 503 if other clients hold everything;
// heavy calls, calls of models and calls with large replies wait for up to 10 s before.
// A client that wants another session or connection loses its own one that was idle for
// the longest, and never one of another client.
type Limits struct {
	Connections int   // of Serve; 0 means 8,192, and never more than the process may have files
	Calls       int   // requests that are being answered; 0 means 4,096
	BytesIn     int64 // bytes of requests in memory; 0 means 128 MiB
	BytesOut    int64 // bytes of replies in memory; 0 means 128 MiB
	Streams     int   // open event streams; 0 means 8,192
	Watches     int   // documents whose changes are reported; 0 means 20,000
	Heavy       int   // running searches and reads of sessions; 0 means the number of processors, at least 2
	Models      int   // running calls that wait for a language model; 0 means 512
}

// governed returns the limits as the governor has them.
func (l Limits) governed(sessions int) governor.Limits {
	return governor.Limits{
		governor.Connections: int64(l.Connections), governor.Calls: int64(l.Calls),
		governor.BytesIn: l.BytesIn, governor.BytesOut: l.BytesOut, governor.Sessions: int64(sessions),
		governor.Streams: int64(l.Streams), governor.Watches: int64(l.Watches),
		governor.Heavy: int64(l.Heavy), governor.Model: int64(l.Models),
	}
}

// DefaultLimits returns the limits that the zero Limits mean.
func DefaultLimits() Limits {
	d := governor.Defaults()
	return Limits{
		Connections: int(d[governor.Connections]), Calls: int(d[governor.Calls]),
		BytesIn: d[governor.BytesIn], BytesOut: d[governor.BytesOut],
		Streams: int(d[governor.Streams]), Watches: int(d[governor.Watches]),
		Heavy: int(d[governor.Heavy]), Models: int(d[governor.Model]),
	}
}

// An HTTPConfig configures an HTTP. Where a number is 0 there is a default, and
// where there is a limit, a negative number means none.
type HTTPConfig struct {
	Servers []*Server          // required; each at /mcp/NAME of its dialect, the first at /mcp too; at /ws alike
	Auth    auth.Authenticator // nil means that all clients are the local user
	Logger  *slog.Logger       // internal errors, never a text of a client; nil means discard
	// Resource tells clients where to get tokens for Auth; nil means that they have them. It
	// is published as RFC 9728 says, and named when a token is missing or does not suffice.
	Resource *auth.Resource

	// Origins, like https://think.example.com, are those of web pages that may
	// call, besides the server's own. Their host names are also names of this
	// server, as behind a proxy that passes them on; on a loopback address it
	// otherwise answers to local names only.
	Origins []string

	MaxBody        int           // bytes of a request's body; 0 means 4 MiB
	MaxReply       int           // bytes of a reply; a longer one is replaced by an error; 0 means 16 MiB
	MaxSessions    int           // sessions of clients before 2026-07-28; 0 means 8,192
	SessionTimeout time.Duration // idle time until a session ends; 0 means an hour
	Rate           float64       // maximum requests per second per client; 0 means 1,000
	Burst          int           // maximum burst of requests per client; 0 means twice Rate
	Timeout        time.Duration // time for a client to send a request or to read a reply; 0 means 30 s
	Grace          time.Duration // time for calls in progress when Serve ends; 0 means 10 s
	Limits         Limits        // of resources

	// TrustedProxies are the addresses of proxies in front of the server. In their
	// requests, the address of the client is read from X-Forwarded-For or Forwarded.
	TrustedProxies []netip.Prefix

	// Ready reports whether calls can be answered; /readyz shows the code of its error.
	// It is called at most once a second, and has two seconds. Nil means always ready.
	Ready func(ctx context.Context) error
	// Stalled returns how many commits of batches and of single sessions the store
	// has not answered for long. /readyz reports these numbers. Nil means that there
	// are none.
	Stalled func() (batches, sessions int)
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
// known clients do. A cancellation of an older client takes effect even if it arrives
// before its request.
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
type HTTP struct{ handler *streamhttp.Handler }

// NewHTTP returns an HTTP. It panics if there are no servers or two with the same dialect;
// it returns an error for an invalid origin.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	var servers []*method.Server
	for _, s := range cfg.Servers {
		servers = append(servers, s.methods)
	}
	h, err := streamhttp.New(streamhttp.Config{
		Servers: servers, Auth: cfg.Auth, Resource: cfg.Resource, Logger: cfg.Logger, Origins: cfg.Origins,
		MaxBody: cfg.MaxBody, MaxReply: cfg.MaxReply, SessionTimeout: cfg.SessionTimeout,
		Limits: cfg.Limits.governed(cfg.MaxSessions), TrustedProxies: cfg.TrustedProxies,
		Rate: cfg.Rate, Burst: cfg.Burst, Timeout: cfg.Timeout, Grace: cfg.Grace,
		Ready: cfg.Ready, Stalled: cfg.Stalled, Unlogged: cfg.Unlogged, Drain: cfg.Drain, TLS: cfg.TLS,
	})
	if err != nil {
		return nil, err
	}
	return &HTTP{h}, nil
}

// Mount has requests whose path begins with prefix answered by another handler, such as
// /ui/. That handler must admit them itself: it sees requests of all clients, from pages of
// any origin. Serve and Shutdown wait for it as they wait for calls. Call Mount before the
// first request.
func (h *HTTP) Mount(prefix string, handler http.Handler) { h.handler.Mount(prefix, handler) }

// Gate returns what decides which requests the server looks at, for handlers of this module
// that are mounted.
func (h *HTTP) Gate() *admission.Gate { return h.handler.Gate() }

// Governor returns what shares the server's capacity among its clients, for handlers of this
// module that are mounted.
func (h *HTTP) Governor() *governor.Governor { return h.handler.Governor() }

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Serve accepts connections until ctx is done, and for HTTPConfig.Drain after that. Then
// it answers the requests that it has begun to read, for at most HTTPConfig.Grace, ends
// streams, and returns nil, or an error if Grace was too short. It closes l.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error { return h.handler.Serve(ctx, l) }

// Shutdown refuses new requests, ends streams and waits for the calls in progress.
// If ctx is done first, it cancels them and returns ctx's error. Further calls of
// Shutdown do nothing.
func (h *HTTP) Shutdown(ctx context.Context) error { return h.handler.Shutdown(ctx) }

// errExposed is the reason for refusing an address.
var errExposed = errors.New("it can be reached from other machines without authentication")

// CheckAddress returns an error if other machines can reach a server at addr, which is
// HOST:PORT. Such a server needs an [auth.Authenticator].
func CheckAddress(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("mcpserver: %q is not an address like 127.0.0.1:8080: %w", addr, err)
	}
	if !admission.LocalName(host) {
		return fmt.Errorf("mcpserver: address %s: %w", addr, errExposed)
	}
	return nil
}
