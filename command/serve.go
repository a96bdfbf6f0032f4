package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/internal/app"
)

func (p *program) serve() *cobra.Command {
	var dialect, sync, storage, vault, audit string
	var ttl, retain time.Duration
	var window int
	var tools []string
	var noContext bool
	var quota sequent.Quota
	var notes, parallel int
	var model modelFlags
	var web httpFlags
	var metrics string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the MCP server, on standard input and output or over HTTP",
		Long: `Run the MCP server with which agents record their thoughts. By default it serves the editor or agent
that started it, on standard input and output. With --http it serves any number of clients.

Every thought is stored before it is acknowledged, and several servers can share a store. The server
ends when its input ends or when it receives SIGINT or SIGTERM; it answers the requests that it has read
first. Standard output carries only MCP messages. Logs go to standard error and contain no thoughts.

HTTP: /mcp serves the dialect of --dialect, and /mcp/NAME serves any dialect, for clients of MCP
2026-07-28 and of older versions; /ws and /ws/NAME do the same over WebSockets. With --auth each token's subject has its own sessions, which other
commands show with --owner. Without --auth all clients share your own sessions. Some dialects accept
calls without a session id; such a call continues the latest session of its scope. The scope is NAME if
the URL ends in ?scope=NAME, otherwise the token's subject, otherwise the connection of an older client.

A session records where it comes from: client, agent, model, project, git branch and commit, as far as
they are known. The project is ?project=NAME of the URL, otherwise the first root of the client, otherwise
the git work tree in which the server was started on standard input: the URL of its origin without
credentials, or its path. The agent is ?agent=NAME of the URL, or AGENT_ID on standard input, otherwise
the name of the client. Calls without a session id continue a session of their own project only, and
sequent list shows those of one project. --no-context records nothing.

/ui/ shows the sessions in a browser, with the same tokens (docs/web.md).

/healthz answers 200 while the server runs. /readyz answers 503 while the store is unreachable or the
server is draining. --drain sets how long the server still serves after a signal, so that a load
balancer can react.

An address that other machines can reach requires --auth, --oidc-issuer or --insecure. To protect tokens
on a network, pass --tls-cert and --tls-key, or put a proxy with TLS in front: --public-url names it, so
that its pages may call and its Host is the server's own, and --trusted-proxy tells its clients apart
(docs/deploy.md). Under systemd with Type=notify the server says when it is ready, keeps the watchdog of
WatchdogSec= from restarting it, and does not end on SIGHUP.

--audit FILE records who has read and changed what: a line of JSON for each request, without thoughts,
titles, queries and tokens (docs/operating.md). With it SIGHUP does not end the server; it opens the file
again, as the server also does when the file was moved away.

--metrics has a page for Prometheus on an address of its own. OTEL_EXPORTER_OTLP_ENDPOINT sends traces and
metrics to a collector over OTLP; the other variables of OpenTelemetry apply, too. Without either, nothing
is collected. Neither has a thought, title, query, owner or token (docs/observability.md).

--quota-bytes, --quota-sessions and --quota-notes limit what each owner stores. Further calls are refused
with QUOTA_EXCEEDED until sessions are deleted. sequent owners shows what each owner has.

Dialect status: a language model writes thoughts on request. The call chooses the model; otherwise
--model, LUX_MODEL_NORMAL or SEQUENT_MODEL decides, in that order, and then the only provider that has a
key. The key comes from the provider's variable, such as OPENAI_API_KEY. Without a key the server starts,
but refuses these calls.

Dialect wiki: sessions are also Markdown notes in the folder of --vault, for Obsidian and similar
editors. The headings of thoughts name the agent. With --auth each subject has its own vault, in the
subfolder .owners. Search by meaning requires SEQUENT_EMBEDDINGS_URL and SEQUENT_EMBEDDINGS_MODEL, and
SEQUENT_EMBEDDINGS_KEY if the service requires a key.

An environment variable can set any flag: SEQUENT_STORE sets --store, SEQUENT_SESSION_TTL sets
--session-ttl. A flag on the command line takes precedence.`,
		Example: "# as an editor starts it\nsequent serve\n\n# sessions expire 30 days after their last thought\nsequent serve --session-ttl 30d\n\n" +
			"# a store for one project\nsequent serve --store ./.sequent/sequent.db\n\n" +
			"# HTTP for the clients on this machine, at http://127.0.0.1:8080/mcp\nsequent serve --http 8080\n\n" +
			"# HTTP for a team, with separate sessions for each member\nsequent token new alice --file tokens\nsequent serve --http 0.0.0.0:8080 --auth tokens\n\n" +
			"# notes with [[WikiLinks]] in your vault\nsequent serve --dialect wiki --vault ~/Notes",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			survivePipes()
			cfg := p.config()
			cfg.Dialect, cfg.Sync, cfg.StoragePath, cfg.HistoryWindow = dialect, sync, storage, window
			cfg.Retain, cfg.Tools = retain, tools
			if cfg.Audit.Path = audit; audit == "-" {
				cfg.Audit = app.AuditConfig{Out: p.err}
			}
			cfg.Quota, cfg.QuotaNotes = quota, notes
			cfg.Vault, cfg.Agent, cfg.NoContext = vault, p.getenv("AGENT_ID"), noContext
			if c.Flags().Changed("session-ttl") {
				cfg.SessionTTL = &ttl
			}
			if cfg.Model, err = model.config(p, c); err != nil {
				return err
			}
			if cfg.Model.Parallel = parallel; parallel < 1 {
				return invalid("model-parallel", parallel, "a number of thoughts, at least 1")
			}
			if cfg.HTTP, err = web.config(p, c); err != nil {
				return err
			}
			cfg.Telemetry = app.TelemetryConfig{Prometheus: metrics, Getenv: p.getenv}
			if cfg.HTTP.Addr == "" { // over HTTP every dialect has an endpoint
				if err := p.checkDialectFlags(c, dialect); err != nil {
					return err
				}
			}
			if cfg.SignKey, err = p.signer("session.json"); err != nil {
				return err
			}
			// Over HTTP the thoughts of several clients would be mixed.
			if cfg.HTTP.Addr == "" {
				if cfg.Drawing, err = p.drawingWhileServing(); err != nil {
					return err
				}
			}
			ctx := c.Context()
			a, err := app.Open(ctx, cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, a.Close()) }()
			if cfg.Audit.Path != "" || cfg.HTTP.Addr != "" && p.managed() {
				defer onHangup(a.ReopenAudit)()
			}
			if cfg.HTTP.Addr != "" {
				defer p.feedWatchdog(ctx)()
				defer p.notifyAtEnd(ctx)()
				return a.ServeHTTP(ctx)
			}
			if isTerminal(p.in) {
				fmt.Fprintln(p.err, "sequent serve reads MCP messages from standard input, one per line; editors start it this way.\nPress Ctrl-D to end it. Run sequent demo for an example session.")
			}
			return a.Serve(ctx, p.in, p.out)
		},
	}
	f, dialects := c.Flags(), app.Config{Dialects: p.dialects}.Names()
	f.StringVar(&dialect, "dialect", dialects[0], "dialect of the tool: "+strings.Join(dialects, ", "))
	f.StringSliceVar(&tools, "tools", nil, "tools of the dialect to offer, separated by commas (default: all)")
	f.StringVar(&sync, "sync", "full", "durability: full survives a power failure, normal survives a crash of the process")
	f.Var((*span)(&ttl), "session-ttl", "lifetime of a session after its last change by this server, such as 30d or 12h; 0 means no limit (default: no limit, or 30m in the dialect history)")
	f.Var((*span)(&retain), "retain", "lifetime of every session in the store after its last change, such as 90d; 0 means no limit")
	f.IntVar(&window, "history-window", 0, "maximum number of thoughts in a reply (dialect history); 0 means all")
	f.Var((*size)(&quota.Bytes), "quota-bytes", "maximum bytes that the sessions of one owner have together, such as 1GiB; 0 means no limit")
	f.IntVar(&quota.Sessions, "quota-sessions", 0, "maximum number of sessions of one owner; 0 means no limit")
	f.IntVar(&notes, "quota-notes", 0, "maximum number of notes of one owner (dialect wiki); 0 means no limit")
	f.StringVar(&audit, "audit", "", "audit log, with a line of JSON for each request: a file, or - for standard error")
	f.BoolVar(&noContext, "no-context", false, "do not record client, agent, project, git branch and commit of sessions")
	f.StringVarP(&storage, "storage-path", "s", "", "folder of session files (dialect classic) (default: Documents/thinking in your home directory)")
	f.StringVar(&p.sign, "sign", "", "private Ed25519 key in PEM that signs session files (dialect classic)")
	f.StringVar(&vault, "vault", "", "folder of notes (dialect wiki) (default: Documents/sequent-vault in your home directory)")
	model.add(f, " (dialect status)")
	f.IntVar(&parallel, "model-parallel", status.DefaultParallel, "maximum number of thoughts of a batch that language models write at a time (dialect status)")
	complete(c, "dialect", dialects...)
	complete(c, "sync", "full", "normal")
	completeDirs(c, "storage-path", "vault")
	f.StringVar(&metrics, "metrics", "", "listen address of the page /metrics for Prometheus, on this machine: HOST:PORT, or a port on 127.0.0.1")
	web.add(f)
	return c
}

// dialectOf returns the dialect in which a flag of sequent serve has an effect, or ""
// if it has one in all.
func dialectOf(flag string) string {
	switch flag {
	case "history-window":
		return "history"
	case "storage-path", "sign":
		return "classic"
	case "vault", "quota-notes":
		return "wiki"
	case "model", "model-timeout", "model-tries", "model-parallel":
		return "status"
	}
	return ""
}

// checkDialectFlags refuses flags on the command line that have no effect in a dialect.
// Those from the environment are ignored there: they may be meant for another server.
func (p *program) checkDialectFlags(c *cobra.Command, dialect string) error {
	if !slices.Contains(app.Config{Dialects: p.dialects}.Names(), dialect) {
		return nil // refused with the names of all dialects
	}
	foreign := !slices.Contains(app.Config{}.Names(), dialect)
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		only := dialectOf(f.Name)
		if only == "" || only == dialect || err != nil || slices.Contains(p.inherited, f.Name) {
			return
		}
		if foreign && f.Name == "storage-path" { // every dialect of another module gets this folder
			return
		}
		err = &usageError{
			msg: fmt.Sprintf("--%s has no effect in the dialect %s", f.Name, dialect),
			fix: fmt.Sprintf("remove it, or use --dialect %s, the dialect that it is for", only),
		}
	})
	return err
}

// completeDirs registers directories as completions of flags.
func completeDirs(c *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := c.MarkFlagDirname(flag); err != nil {
			panic(err) // no such flag
		}
	}
}

// drawingWhileServing returns how dialects draw thoughts on standard error. Like
// the reference server, it draws nothing if DISABLE_THOUGHT_LOGGING is true.
func (p *program) drawingWhileServing() (app.Drawing, error) {
	const name = "DISABLE_THOUGHT_LOGGING"
	if value := p.getenv(name); value != "" {
		quiet, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return app.Drawing{}, &usageError{msg: fmt.Sprintf("invalid value %q for %s", value, name), fix: "set it to true or false"}
		}
		if quiet {
			return app.Drawing{}, nil
		}
	}
	return app.Drawing{Out: p.err, Colour: p.colored(p.err), Width: func() int { return columnsOf(p.err) }}, nil
}
