package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/streamhttp"
)

// An Authenticator maps bearer tokens to their subjects.
type Authenticator interface {
	// Subject returns the subject of a token, and "" for a token that is not valid.
	// An error means that it cannot tell now.
	Subject(ctx context.Context, token string) (string, error)
}

// Defaults of an [HTTPConfig].
const (
	DefaultMaxSessions    = streamhttp.DefaultMaxSessions
	DefaultSessionTimeout = streamhttp.DefaultSessionTimeout
	DefaultRate           = streamhttp.DefaultRate // requests per second
)

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
	MaxSessions    int           // sessions of clients before 2026-07-28, and as many subscriptions of newer ones; 0 means 4,096
	SessionTimeout time.Duration // without a request or an open stream; 0 means an hour
	Rate           float64       // requests a second for each client; 0 means 1,000
	Burst          int           // requests that it may make at once; 0 means twice Rate
	Timeout        time.Duration // for a client to send a request, or to take a reply; 0 means 30 s
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
// for each reply, as all do that are known. A cancellation of an older client
// holds even if it arrives before its request.
//
// The reply to a request is one JSON document, or a stream of events if there is
// something to say before it.
//
// At /healthz it tells that the process answers, and at /readyz whether it wants
// calls, to everybody and without limits.
type HTTP struct{ handler *streamhttp.Handler }

// NewHTTP makes an HTTP. It panics if there are no servers or two of one dialect;
// it returns an error for an invalid origin.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	var servers []*method.Server
	for _, s := range cfg.Servers {
		servers = append(servers, s.methods)
	}
	h, err := streamhttp.New(streamhttp.Config{
		Servers: servers, Auth: cfg.Auth, Logger: cfg.Logger, Origins: cfg.Origins,
		MaxBody: cfg.MaxBody, MaxSessions: cfg.MaxSessions, SessionTimeout: cfg.SessionTimeout,
		Rate: cfg.Rate, Burst: cfg.Burst, Timeout: cfg.Timeout, Grace: cfg.Grace,
		Ready: cfg.Ready, Drain: cfg.Drain,
	})
	if err != nil {
		return nil, err
	}
	return &HTTP{h}, nil
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Serve accepts connections until ctx is done, and for HTTPConfig.Drain after
// that. Then it answers what it has begun to read, for as long as HTTPConfig.Grace
// allows, ends streams, and returns nil, or an error if there was not time enough.
// It closes l.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error { return h.handler.Serve(ctx, l) }

// Shutdown refuses new requests, ends streams and waits for the calls under way.
// When ctx is done before them it has them cancelled, and returns ctx's error.
// Only the first call of Shutdown does anything.
func (h *HTTP) Shutdown(ctx context.Context) error { return h.handler.Shutdown(ctx) }

// errExposed says why an address is refused.
var errExposed = errors.New("it can be reached from other machines without authentication")

// CheckAddress returns an error if a server at addr, which is HOST:PORT, would let
// people on other machines in without knowing who they are. A program that serves
// with an Authenticator need not ask.
func CheckAddress(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("mcpserver: %q is not an address like 127.0.0.1:8080: %w", addr, err)
	}
	if !streamhttp.LocalName(host) {
		return fmt.Errorf("mcpserver: address %s: %w", addr, errExposed)
	}
	return nil
}
