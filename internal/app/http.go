package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/mcpserver"
)

// An HTTPConfig is what a server over HTTP can be told. Where it says nothing
// else, 0 means mcpserver's default and a negative number no limit.
type HTTPConfig struct {
	Addr     string   // HOST:PORT, or a PORT of 127.0.0.1; required
	Tokens   string   // the file of tokens; empty means that everybody is the local user
	Insecure bool     // serve other machines without tokens
	Origins  []string // web pages that may call

	Sessions       int           // MCP sessions of older clients
	SessionTimeout time.Duration // of those that are idle
	Rate           float64       // requests a second for each client
	Burst          int           // requests that it may make at once
	Drain          time.Duration // how long to go on when it is told to end; 0 means not at all

	Ready func(url string) // told where the server is, once it listens; nil for nobody
}

// address returns what to listen on.
func (c HTTPConfig) address() string {
	if _, err := strconv.ParseUint(c.Addr, 10, 16); err == nil {
		return net.JoinHostPort("127.0.0.1", c.Addr)
	}
	return c.Addr
}

// check finds what is wrong without a look at anything but files of tokens. The
// zero HTTPConfig is right.
func (c HTTPConfig) check() error {
	if c.Addr == "" {
		return nil
	}
	addr := c.address()
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return &ConfigError{
			Msg: fmt.Sprintf("--http cannot be %q", c.Addr),
			Fix: "use HOST:PORT, as in 127.0.0.1:8080, or a port alone",
		}
	}
	switch {
	case c.Insecure && c.Tokens != "":
		return &ConfigError{
			Msg: "--auth asks everybody for a token and --insecure asks nobody",
			Fix: "leave one of them out",
		}
	case !c.Insecure && c.Tokens == "" && mcpserver.CheckAddress(addr) != nil:
		return &ConfigError{
			Msg: fmt.Sprintf("--http %s can be reached from other machines, and nobody would be asked who they are", c.Addr),
			Fix: "use 127.0.0.1, or ask for tokens with --auth FILE (sequent token new makes one), or say --insecure",
		}
	}
	known := http.NewCrossOriginProtection()
	for _, origin := range c.Origins {
		if known.AddTrustedOrigin(origin) != nil {
			return &ConfigError{
				Msg: fmt.Sprintf("--allow-origin cannot be %q", origin),
				Fix: "use what a browser calls the origin of a page: https://think.example.com, without a path",
			}
		}
	}
	_, err := c.authenticator(nil)
	return err
}

// authenticator returns who knows the clients; nil if nobody is asked.
func (c HTTPConfig) authenticator(a *App) (mcpserver.Authenticator, error) {
	if c.Tokens == "" {
		return nil, nil
	}
	path, err := expand(c.Tokens)
	if err != nil {
		return nil, err
	}
	cfg := token.Config{Path: path}
	if a != nil {
		cfg.Logger = a.logger
	}
	file, err := token.Open(cfg)
	if err != nil {
		return nil, badTokens(err)
	}
	return file, nil
}

// ServeHTTP serves all dialects over HTTP until ctx is done: the configured one
// at /mcp, each at /mcp/NAME. What was accepted is finished then.
func (a *App) ServeHTTP(ctx context.Context) error {
	cfg := a.config.HTTP
	auth, err := cfg.authenticator(a)
	if err != nil {
		return err
	}
	dialects, err := a.allDialects()
	if err != nil {
		return err
	}
	if err := a.writable(ctx); err != nil {
		return err
	}
	var servers []*mcpserver.Server
	for _, d := range dialects {
		servers = append(servers, mcpserver.New(mcpserver.Config{
			Dialect: d, Version: a.config.Version, Logger: a.logger,
		}))
	}
	handler, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{
		Servers: servers, Auth: auth, Logger: a.logger, Origins: cfg.Origins,
		MaxSessions: cfg.Sessions, SessionTimeout: cfg.SessionTimeout, Rate: cfg.Rate, Burst: cfg.Burst,
		Ready: a.ready, Drain: max(0, cfg.Drain),
	})
	if err != nil {
		return err
	}
	addr := cfg.address()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "the server cannot listen on " + addr,
			Fix:  "stop what uses that address, or choose another; sequent serve --http 127.0.0.1:0 takes a free port",
			Err:  err,
		}
	}
	if cfg.Insecure && mcpserver.CheckAddress(addr) != nil {
		a.logger.WarnContext(ctx, "whoever reaches this address can read, change and add to all sessions", "address", listener.Addr().String())
	}
	defer a.sweeping(ctx)()
	if cfg.Ready != nil {
		cfg.Ready(urlOf(listener.Addr()))
	}
	err = handler.Serve(ctx, listener)
	if err != nil && ctx.Err() != nil {
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "calls were still under way when the time for them was up, and were cancelled",
			Fix: "clients can repeat them", Err: err,
		}
	}
	return err
}

// urlOf returns where a server that listens on addr can be reached: from this
// machine if it listens on all its addresses, which is none to connect to.
func urlOf(addr net.Addr) string {
	host := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return "http://" + host + "/mcp"
}
