package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
)

// What a server over HTTP bounds if nobody says otherwise.
const (
	defaultSessions = 4096
	defaultTimeout  = time.Hour
	defaultRate     = 1000
)

// httpFlags are the flags of a server over HTTP. In all of them 0 means that
// there is no limit.
type httpFlags struct {
	addr, auth string
	insecure   bool
	origins    []string
	sessions   int
	timeout    time.Duration
	rate       float64
	burst      int
	drain      time.Duration
	names      []string
}

func (h *httpFlags) add(f *pflag.FlagSet) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.StringVar(&h.auth, "auth", "", "over HTTP: let in only who has a token of this `FILE`; sequent token new makes one")
	own.BoolVar(&h.insecure, "insecure", false, "over HTTP: serve other machines without asking who they are")
	own.StringSliceVar(&h.origins, "allow-origin", nil, "over HTTP: let web pages of this `ORIGIN` call, as https://think.example.com; may be repeated")
	own.IntVar(&h.sessions, "mcp-sessions", defaultSessions, "over HTTP: at most `N` older clients at a time, which have MCP sessions; 0 for any number")
	own.DurationVar(&h.timeout, "mcp-session-timeout", defaultTimeout, "over HTTP: an older client has to connect again when it was idle for a `DURATION`; 0 for never")
	own.Float64Var(&h.rate, "rate", defaultRate, "over HTTP: take at most `N` requests a second from each client; 0 for any number")
	own.IntVar(&h.burst, "burst", 0, "over HTTP: take `N` requests at once from a client that was quiet (default: twice --rate)")
	own.Var((*span)(&h.drain), "drain", "over HTTP: when told to end, go on for a `DURATION` while /readyz says so, as behind a load balancer; 0 for not at all")
	own.VisitAll(func(flag *pflag.Flag) { h.names = append(h.names, flag.Name) })
	f.StringVar(&h.addr, "http", "", "serve over HTTP at `ADDRESS`, HOST:PORT or a port of 127.0.0.1, and not on standard input and output")
	f.AddFlagSet(own)
}

// config returns what the flags say. Those that the environment sets mean
// nothing without --http; on the command line they are a mistake.
func (h *httpFlags) config(p *program, c *cobra.Command) (app.HTTPConfig, error) {
	if h.addr == "" {
		for _, name := range h.names {
			if c.Flags().Changed(name) && !slices.Contains(p.inherited, name) {
				return app.HTTPConfig{}, &usageError{
					msg: fmt.Sprintf("--%s means nothing on standard input and output", name),
					fix: "say where to serve over HTTP: --http 127.0.0.1:8080",
				}
			}
		}
		return app.HTTPConfig{}, nil
	}
	switch {
	case h.sessions < 0:
		return app.HTTPConfig{}, usagef("--mcp-sessions cannot be %d, only a number from 0 on", h.sessions)
	case h.timeout < 0:
		return app.HTTPConfig{}, usagef("--mcp-session-timeout cannot be %v, only a duration from 0 on", h.timeout)
	case !(h.rate >= 0 && h.rate <= 1e9): // nor NaN
		return app.HTTPConfig{}, usagef("--rate cannot be %v, only a number from 0 on", h.rate)
	case h.drain < 0:
		return app.HTTPConfig{}, usagef("--drain cannot be %v, only a duration from 0 on", h.drain)
	case h.burst < 0:
		return app.HTTPConfig{}, usagef("--burst cannot be %d, only a number from 1 on", h.burst)
	}
	return app.HTTPConfig{
		Addr: h.addr, Tokens: h.auth, Insecure: h.insecure, Origins: h.origins,
		Sessions: cmp.Or(h.sessions, -1), SessionTimeout: cmp.Or(h.timeout, -1),
		Rate: cmp.Or(h.rate, -1), Burst: h.burst, Drain: h.drain,
		Ready: func(url string) { p.tell(c.Context(), url) },
	}, nil
}

// tell says where the server is, in one line: for a person, or in the log.
func (p *program) tell(ctx context.Context, url string) {
	if logger := p.config().Logger; logger.Enabled(ctx, slog.LevelInfo) {
		logger.InfoContext(ctx, "serving MCP", "url", url)
	} else if isTerminal(p.err) {
		fmt.Fprintf(p.err, "sequent serves MCP at %s; Ctrl-C ends it.\n", url)
	}
}
