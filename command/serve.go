package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

func runServe(p *program, ctx context.Context) (result, error) {
	survivePipes()
	cfg, err := p.serveConfig(ctx)
	if err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	serve := func() error { return a.Serve(ctx, p.in, p.out) }
	if overHTTP := cfg.HTTP.Addr != ""; overHTTP {
		defer p.feedWatchdog(ctx)()
		defer p.notifyAtEnd(ctx)()
		serve = func() error { return a.ServeHTTP(ctx) }
	}
	if cfg.Audit.Path != "" || cfg.HTTP.Addr != "" && p.managed() {
		ignoreHangup()
	}
	if cfg.HTTP.Addr == "" && isTerminal(p.in) {
		p.tell("sequent serve reads MCP messages from standard input, one per line; editors start it this way.\nPress Ctrl-D to end it. Run sequent demo for an example session.")
	}
	return nil, errors.Join(serve(), a.Close())
}

// serveConfig returns the configuration of a server.
func (p *program) serveConfig(ctx context.Context) (cfg app.Config, err error) {
	cfg = p.config()
	if cfg.Audit.Path == "-" {
		cfg.Audit = app.AuditConfig{Out: p.err}
	}
	if p.cmd.Flags().Changed("session-ttl") {
		cfg.SessionTTL = &p.ttl
	}
	if p.sync == "normal" {
		cfg.Sync = sqlite.Normal
	}
	cfg.Telemetry.Getenv = p.getenv
	cfg.Model = p.modelConfig()
	if err := p.checkServeFlags(); err != nil {
		return cfg, err
	}
	if cfg.SignKey, err = p.signer("session.json"); err != nil {
		return cfg, err
	}
	if cfg.HTTP.Addr == "" { // over HTTP the thoughts of several clients would be mixed
		cfg.Drawing = p.drawingWhileServing()
		return cfg, nil
	}
	h := &cfg.HTTP
	// Of a flag, 0 means no limit; of the configuration, the default.
	h.Rate, h.SessionTimeout = cmp.Or(h.Rate, -1), cmp.Or(h.SessionTimeout, -1)
	for _, n := range []*int{&h.Limits.Connections, &h.Limits.Calls, &h.Limits.Streams, &h.Limits.Sessions} {
		*n = cmp.Or(*n, -1)
	}
	h.Ready = func(url string) {
		p.announce(ctx, url)
		p.notify(ctx, "READY=1\nSTATUS=serving "+url)
	}
	return cfg, p.readSecret(&h.OIDC)
}

// ofDialect finds the dialect to which the help of a flag limits its effect.
var ofDialect = regexp.MustCompile(`\(dialect (\w+)\)`)

// checkServeFlags refuses flags on the command line that have no effect: those of HTTP without
// --http, and those of a dialect that is not served. Over HTTP every dialect has an endpoint. Flags
// from the environment are ignored there: they may be meant for another server.
func (p *program) checkServeFlags() (err error) {
	dialect := p.serving.Dialect
	known := slices.Contains(p.config().Names(), dialect) // otherwise refused with the names of all
	foreign := !slices.Contains(app.Config{}.Names(), dialect)
	p.cmd.Flags().Visit(func(f *pflag.Flag) {
		only := ofDialect.FindStringSubmatch(f.Usage)
		switch {
		case p.serving.HTTP.Addr != "" || !p.given(f.Name) || err != nil:
		case strings.Contains(f.Usage, "(HTTP)"):
			err = &usageError{
				msg: fmt.Sprintf("--%s requires --http", f.Name),
				fix: "add a listen address, such as --http 127.0.0.1:8080",
			}
		case only == nil || only[1] == dialect || !known:
		case foreign && f.Name == "storage-path": // every dialect of another module gets this folder
		default:
			err = &usageError{
				msg: fmt.Sprintf("--%s has no effect in the dialect %s", f.Name, dialect),
				fix: fmt.Sprintf("remove it, or use --dialect %s, the dialect that it is for", only[1]),
			}
		}
	})
	return err
}

// drawingWhileServing returns how dialects draw thoughts on standard error. Like
// the reference server, it draws nothing if DISABLE_THOUGHT_LOGGING is true.
func (p *program) drawingWhileServing() app.Drawing {
	if quiet, _ := strconv.ParseBool(strings.ToLower(p.getenv("DISABLE_THOUGHT_LOGGING"))); quiet {
		return app.Drawing{}
	}
	return app.Drawing{Out: p.err, Colour: p.colored(p.err), Width: func() int {
		columns, _ := sizeOf(p.err)
		return columns
	}}
}

// secretVariable is the environment variable with the secret of a client id.
const secretVariable = "SEQUENT_OIDC_CLIENT_SECRET"

// readSecret reads the secret of the client id. It is no flag: other users of the machine see
// command lines.
func (p *program) readSecret(o *app.OIDC) error {
	o.ClientSecret = p.getenv(secretVariable)
	if p.secretFile == "" {
		return nil
	}
	text, err := os.ReadFile(p.secretFile)
	if o.ClientSecret = strings.TrimSpace(string(text)); err == nil && o.ClientSecret == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return invalid("--oidc-client-secret-file", p.secretFile, "a file with the secret: "+err.Error())
	}
	return nil
}

// announce logs the URL of the server, and prints it on a terminal unless the log is there.
func (p *program) announce(ctx context.Context, url string) {
	if p.config().Logger.InfoContext(ctx, "serving MCP", "url", url); p.level() > slog.LevelInfo && isTerminal(p.err) {
		p.tell("Serving MCP at %s. Press Ctrl-C to end.", url)
	}
}

// notifyTimeout limits how long the service manager holds up the server.
const notifyTimeout = time.Second

// notifyAtEnd tells the service manager when ctx ends. The caller must call the returned
// function before it exits.
func (p *program) notifyAtEnd(ctx context.Context) func() {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		p.notify(ctx, "STOPPING=1\nSTATUS=answering the calls that have begun")
	})
	return func() {
		if !stop() {
			<-told
		}
	}
}

// managed reports whether a service manager runs the program and is to be notified.
func (p *program) managed() bool { return p.getenv("NOTIFY_SOCKET") != "" }

// feedWatchdog tells the service manager that the program runs, twice in each period in which
// the manager waits for that (sd_watchdog_enabled(3)), until the returned function is called.
// A manager that waits for longer kills the program.
func (p *program) feedWatchdog(ctx context.Context) func() {
	period, err := strconv.ParseInt(p.getenv("WATCHDOG_USEC"), 10, 64)
	if pid := p.getenv("WATCHDOG_PID"); err != nil || period < 2 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // also while the program drains
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Duration(period) * time.Microsecond / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.notify(ctx, "WATCHDOG=1")
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// notify tells the service manager about the state of the server, such as READY=1, as
// sd_notify(3) does. Without a service manager that asked for it nothing happens.
func (p *program) notify(ctx context.Context, state string) {
	socket := p.getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(ctx), "unixgram", socket)
	if err == nil {
		if err = conn.SetWriteDeadline(time.Now().Add(notifyTimeout)); err == nil {
			_, err = conn.Write([]byte(state))
		}
		_ = conn.Close()
	}
	if err != nil {
		p.config().Logger.WarnContext(ctx, "the service manager was not told about the server", "state", state, "error", err)
	}
}
