package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/telemetry"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/web"
)

// An HTTPConfig configures the HTTP server. Unless stated otherwise, 0 means
// mcpserver's default and a negative number means no limit.
type HTTPConfig struct {
	Addr     string   // HOST:PORT, or a port on 127.0.0.1; required
	Tokens   string   // token file; empty means that all clients are the local user
	OIDC     OIDC     // provider of tokens, besides those of the file
	TLSCert  string   // file of a certificate chain in PEM; empty means plain HTTP
	TLSKey   string   // file of its key
	Insecure bool     // admit clients on other machines without tokens
	Origins  []string // origins of web pages that may call

	SessionTimeout time.Duration // idle timeout of an MCP session
	Rate           float64       // maximum requests per second per client
	Burst          int           // maximum burst of requests per client
	Limits         mcpserver.Limits
	TrustedProxies []string      // networks such as 10.0.0.0/8, or addresses
	Drain          time.Duration // time to keep serving after ctx is done; 0 means none

	Ready func(url string) // called with the server's URL when it listens; nil for none
}

// An edge is what an HTTPConfig describes, ready to be served.
type edge struct {
	addr    string         // listen address; empty for no server
	admits  auth.Guarantor // nil admits every client as the local user
	signIn  web.SignIn     // nil for none
	proxies []netip.Prefix
	tls     *tls.Config // nil for plain HTTP
}

// open validates the configuration and reads its files. Nothing is listened to, and no provider is
// asked. The zero HTTPConfig is valid.
func (c HTTPConfig) open(logger *slog.Logger) (e edge, err error) {
	if c.Addr == "" {
		return e, nil
	}
	if e.addr, err = listenAddress("http", c.Addr, "8080"); err != nil {
		return e, err
	}
	switch {
	case c.Insecure && c.authenticates():
		return e, usage("--insecure and tokens (--auth, --oidc-issuer) are mutually exclusive", "omit one of them")
	case !c.Insecure && !c.authenticates() && mcpserver.CheckAddress(e.addr) != nil:
		return e, usage("--http "+c.Addr+" accepts connections from other machines without authentication",
			"use 127.0.0.1, require tokens with --auth FILE (run sequent server token new to create one) or --oidc-issuer URL, or pass --insecure")
	}
	known := http.NewCrossOriginProtection()
	for _, origin := range c.Origins {
		if known.AddTrustedOrigin(origin) != nil {
			return e, badFlag("allow-origin", origin, "use an origin without a path, such as https://think.example.com")
		}
	}
	if e.proxies, err = c.trustedProxies(); err != nil {
		return e, err
	}
	if e.tls, err = c.certificates(logger); err != nil {
		return e, err
	}
	var admits []auth.Guarantor
	if c.Tokens != "" {
		path, err := expand(c.Tokens)
		if err != nil {
			return e, err
		}
		file, err := token.Open(token.Config{Path: path, Logger: logger})
		if err != nil {
			return e, err
		}
		admits = append(admits, file)
	}
	provider, err := c.OIDC.open(c.Insecure, logger)
	if err != nil {
		return e, err
	}
	if provider != nil {
		admits = append(admits, provider)
		if c.OIDC.ClientID != "" {
			e.signIn = provider
		}
	}
	if len(admits) > 0 {
		e.admits = auth.First(admits...)
	}
	return e, nil
}

// listenAddress returns the value of a flag as HOST:PORT. A port alone is one on 127.0.0.1.
func listenAddress(flag, value, port string) (string, error) {
	addr := value
	if _, err := strconv.ParseUint(value, 10, 16); err == nil {
		addr = net.JoinHostPort("127.0.0.1", value)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return "", badFlag(flag, value, "use HOST:PORT, such as 127.0.0.1:"+port+", or a port")
	}
	return addr, nil
}

// trustedProxies returns the networks of trusted proxies.
func (c HTTPConfig) trustedProxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range c.TrustedProxies {
		p, err := netip.ParsePrefix(text)
		if addr, e := netip.ParseAddr(text); e == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, badFlag("trusted-proxy", text, "use a network such as 10.0.0.0/8, or an address")
		}
		networks = append(networks, p.Masked())
	}
	return networks, nil
}

// authenticates reports whether clients need tokens.
func (c HTTPConfig) authenticates() bool { return c.Tokens != "" || c.OIDC.Issuer != "" }

// ServeHTTP serves all dialects over HTTP until ctx is done: the configured one at
// /mcp, and each at /mcp/NAME. Then it drains accepted calls.
func (a *App) ServeHTTP(ctx context.Context) error {
	cfg, edge := a.config.HTTP, a.edge
	a.drafts = web.NewDrafts()
	dialects, err := a.allDialects()
	if err != nil {
		return err
	}
	if err := a.writable(ctx); err != nil {
		return err
	}
	// Clients that are the local user can name directories of this machine; others
	// must not learn anything about them.
	var place mcpserver.Place
	if edge.admits == nil && !cfg.Insecure {
		place = a.projects.of
	}
	var servers []*mcpserver.Server
	for _, d := range dialects {
		servers = append(servers, mcpserver.New(mcpserver.Config{
			Dialect: d, Version: a.config.Version, Logger: a.logger,
			Place: place, NoOrigin: a.config.NoOrigin, Observer: a.observer(),
		}))
	}
	handler, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{
		Servers: servers, Auth: edge.admits, Resource: cfg.OIDC.resource(), Logger: a.logger,
		PublicURL: cfg.OIDC.public(), Origins: cfg.Origins,
		SessionTimeout: cfg.SessionTimeout, Rate: cfg.Rate, Burst: cfg.Burst,
		Limits: cfg.Limits, TrustedProxies: edge.proxies,
		Ready: a.ready, Unlogged: a.unlogged, Drain: max(0, cfg.Drain), TLS: edge.tls,
	})
	if err != nil {
		return err
	}
	limiter := handler.Limiter()
	pages := web.Config{
		Engine: a.Engine, Store: a.store, Gate: handler.Gate(), Limiter: limiter,
		Auth: edge.admits, SignIn: edge.signIn, PublicURL: cfg.OIDC.public(),
		Version: a.config.Version, Logger: a.logger, Ending: ctx, Drafts: a.drafts, Audit: a.audit,
	}
	site := web.New(pages)
	handler.Mount(web.PagesPrefix, site)
	handler.Mount(web.APIPrefix, site)
	stop, err := a.servePrometheus(ctx)
	if err != nil {
		return err
	}
	defer stop()
	a.telemetry.Watch(telemetry.Sources{Limits: limiter.Stats})
	listener, err := listen(ctx, edge.addr)
	if err != nil {
		return err
	}
	if cfg.Insecure && mcpserver.CheckAddress(edge.addr) != nil {
		a.logger.WarnContext(ctx, "every client that can connect to this address can read and change all sessions", "address", listener.Addr().String())
	}
	defer a.startSweeps(ctx)()
	if cfg.Ready != nil {
		cfg.Ready(urlOf(listener.Addr(), edge.tls != nil))
	}
	err = handler.Serve(ctx, listener)
	if err != nil && ctx.Err() != nil {
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "calls were canceled because they did not finish in time",
			Fix: "repeat them", Err: err,
		}
	}
	return err
}

// urlOf returns the URL of a server that listens on addr. The host of an
// unspecified address is 127.0.0.1.
func urlOf(addr net.Addr, secure bool) string {
	host := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	if secure {
		return "https://" + host + "/mcp"
	}
	return "http://" + host + "/mcp"
}
