package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/mcpserver"
)

// httpFlags are the flags of the HTTP server. In all of them 0 means no limit.
type httpFlags struct {
	addr, auth string
	cert, key  string
	oidc       app.OIDC
	secret     string // file
	insecure   bool
	origins    []string
	sessions   int
	timeout    time.Duration
	rate       float64
	burst      int
	drain      time.Duration
	limits     mcpserver.Limits
	proxies    []string
	names      []string
}

func (h *httpFlags) add(f *pflag.FlagSet) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.StringVar(&h.auth, "auth", "", "token file; only clients with one of its tokens are admitted (HTTP)")
	own.StringVar(&h.cert, "tls-cert", "", "certificate chain in PEM; the server then speaks HTTPS, and reloads the file when it changes (HTTP)")
	own.StringVar(&h.key, "tls-key", "", "key of --tls-cert in PEM (HTTP)")
	own.StringVar(&h.oidc.Issuer, "oidc-issuer", "", "URL of an OpenID Connect provider; clients with its access tokens are admitted (HTTP)")
	addProvider(own, &h.oidc, " (HTTP)")
	own.StringVar(&h.secret, "oidc-client-secret-file", "", "file with the secret of --oidc-client-id, if it has one (HTTP) (default: the value of SEQUENT_OIDC_CLIENT_SECRET)")
	own.BoolVar(&h.insecure, "insecure", false, "admit clients on other machines without authentication (HTTP)")
	own.StringSliceVar(&h.origins, "allow-origin", nil, "origin of web pages that may call, such as https://think.example.com; repeatable (HTTP)")
	own.IntVar(&h.sessions, "mcp-sessions", mcpserver.DefaultMaxSessions, "maximum concurrent MCP sessions, which only older clients have; 0 means no limit (HTTP)")
	h.timeout = mcpserver.DefaultSessionTimeout
	own.Var((*span)(&h.timeout), "mcp-session-timeout", "idle timeout of an MCP session; 0 means none (HTTP)")
	own.Float64Var(&h.rate, "rate", mcpserver.DefaultRate, "maximum requests per second per client; 0 means no limit (HTTP)")
	own.IntVar(&h.burst, "burst", 0, "maximum burst of requests per client (HTTP) (default: twice --rate)")
	h.limits = mcpserver.DefaultLimits()
	h.limits.Heavy = 0 // differs between machines
	for _, n := range h.counts() {
		own.IntVar(n.value, n.name, *n.value, n.usage)
	}
	own.Var((*size)(&h.limits.BytesIn), "max-bytes-in", "maximum bytes of requests in memory, such as 64MiB; 0 means no limit (HTTP)")
	own.Var((*size)(&h.limits.BytesOut), "max-bytes-out", "maximum bytes of replies in memory; 0 means no limit (HTTP)")
	own.StringSliceVar(&h.proxies, "trusted-proxy", nil, "network of proxies, such as 10.0.0.0/8, whose X-Forwarded-For or Forwarded tells clients without tokens apart; repeatable (HTTP)")
	own.Var((*span)(&h.drain), "drain", "time to keep serving after a signal, while /readyz answers 503 (HTTP)")
	own.VisitAll(func(flag *pflag.Flag) { h.names = append(h.names, flag.Name) })
	f.StringVar(&h.addr, "http", "", "HTTP listen address: HOST:PORT, or a port on 127.0.0.1")
	f.AddFlagSet(own)
}

// addProvider adds the flags that say how a provider is used, beside its URL.
func addProvider(f *pflag.FlagSet, o *app.OIDC, where string) {
	f.StringVar(&o.PublicURL, "public-url", "", "URL by which clients reach this server, such as https://think.example.com; required with a provider"+where)
	f.StringSliceVar(&o.Audiences, "oidc-audience", nil, "audience of tokens for this server, for providers that do not issue them for its URL; repeatable"+where)
	f.StringVar(&o.ScopePrefix, "oidc-scope-prefix", "", "what the names of scopes begin with, for providers that require the URL of an API"+where+" (default: sequent:)")
	f.StringVar(&o.OwnerClaim, "oidc-owner-claim", "", "claim of tokens that names the owner of sessions, which people must not be able to choose"+where+" (default: sub)")
	f.StringToStringVar(&o.Parameters, "oidc-param", nil, "parameter of sign-in requests that the provider needs, such as audience=https://think.example.com/mcp; resource= sends no resource; repeatable"+where)
	f.StringVar(&o.ClientID, "oidc-client-id", "", "client id at the provider with which people sign in to the viewer and with sequent login"+where)
	f.StringVar(&o.LoginClientID, "oidc-login-client-id", "", "client id of sequent login, a public client"+where+" (default: that of --oidc-client-id, unless it has a secret)")
}

// A count is a flag for a number.
type count struct {
	name, usage string
	value       *int
}

// counts are the limits of what clients may hold together.
func (h *httpFlags) counts() []count {
	return []count{
		{"max-connections", "maximum open connections; 0 means no limit (HTTP)", &h.limits.Connections},
		{"max-calls", "maximum concurrent requests; 0 means no limit (HTTP)", &h.limits.Calls},
		{"max-streams", "maximum open event streams; 0 means no limit (HTTP)", &h.limits.Streams},
		{"max-watches", "maximum subscribed documents; 0 means no limit (HTTP)", &h.limits.Watches},
		{"max-heavy-calls", "maximum concurrent searches and reads of sessions (HTTP) (default: one per processor, at least 2)", &h.limits.Heavy},
		{"max-model-calls", "maximum concurrent calls of language models; 0 means no limit (HTTP)", &h.limits.Models},
	}
}

// config returns the configuration. Without --http, HTTP flags on the command line
// are an error and those from the environment are ignored.
func (h *httpFlags) config(p *program, c *cobra.Command) (app.HTTPConfig, error) {
	if h.addr == "" {
		for _, name := range h.names {
			if c.Flags().Changed(name) && !slices.Contains(p.inherited, name) {
				return app.HTTPConfig{}, &usageError{
					msg: fmt.Sprintf("--%s requires --http", name),
					fix: "add a listen address, such as --http 127.0.0.1:8080",
				}
			}
		}
		return app.HTTPConfig{}, nil
	}
	switch {
	case h.sessions < 0:
		return app.HTTPConfig{}, invalid("mcp-sessions", h.sessions, "a number of sessions, or 0 for no limit")
	case !(h.rate >= 0 && h.rate <= 1e9): // also excludes NaN
		return app.HTTPConfig{}, invalid("rate", h.rate, "a number of requests per second, or 0 for no limit")
	case h.burst < 0:
		return app.HTTPConfig{}, invalid("burst", h.burst, "a number of requests")
	}
	for _, n := range h.counts() {
		if *n.value < 0 {
			return app.HTTPConfig{}, invalid(n.name, *n.value, "a number")
		}
		if n.value != &h.limits.Heavy {
			*n.value = cmp.Or(*n.value, -1)
		}
	}
	if err := h.readSecret(p); err != nil {
		return app.HTTPConfig{}, err
	}
	h.limits.BytesIn, h.limits.BytesOut = cmp.Or(h.limits.BytesIn, -1), cmp.Or(h.limits.BytesOut, -1)
	return app.HTTPConfig{
		Addr: h.addr, Tokens: h.auth, OIDC: h.oidc, TLSCert: h.cert, TLSKey: h.key, Insecure: h.insecure, Origins: h.origins,
		Sessions: cmp.Or(h.sessions, -1), SessionTimeout: cmp.Or(h.timeout, -1),
		Rate: cmp.Or(h.rate, -1), Burst: h.burst, Drain: h.drain,
		Limits: h.limits, TrustedProxies: h.proxies,
		Ready: func(url string) {
			ctx := c.Context()
			p.announce(ctx, url)
			p.notify(ctx, "READY=1\nSTATUS=serving "+url)
		},
	}, nil
}

// secretVariable is the environment variable with the secret of a client id.
const secretVariable = "SEQUENT_OIDC_CLIENT_SECRET"

// readSecret reads the secret of the client id. It is no flag: other users of the machine see
// command lines.
func (h *httpFlags) readSecret(p *program) error {
	h.oidc.ClientSecret = p.getenv(secretVariable)
	if h.secret == "" {
		return nil
	}
	text, err := os.ReadFile(h.secret)
	if h.oidc.ClientSecret = strings.TrimSpace(string(text)); err == nil && h.oidc.ClientSecret == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return invalid("oidc-client-secret-file", h.secret, "a file with the secret: "+err.Error())
	}
	return nil
}

// announce logs the URL of the server or, if that is not logged, prints it on a
// terminal.
func (p *program) announce(ctx context.Context, url string) {
	if logger := p.config().Logger; logger.Enabled(ctx, slog.LevelInfo) {
		logger.InfoContext(ctx, "serving MCP", "url", url)
	} else if isTerminal(p.err) {
		fmt.Fprintf(p.err, "Serving MCP at %s. Press Ctrl-C to end.\n", url)
	}
}
