package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
)

// A command is a row of the command line. Its help is the section of help.md with its name.
type command struct {
	name  string // after "sequent", such as "store backup"
	args  string // as usage shows them: "[ID]", "FILE...", "OLD NEW"; empty takes none
	flags string // names in the table of flags; see [program.addFlags]
	needs need
	run   func(p *program, ctx context.Context) (result, error) // nil for a group of commands

	pages bool     // the result is shown in a pager on a terminal
	every bool     // without --owner it is about the sessions of all owners
	edits bool     // it changes sessions that exist, which may be those of a server
	words []string // completions of the argument
}

// A need is what is open while a command runs, in [program.app].
type need int

const (
	nothing       need = iota
	storeOnly          // a store that exists
	storeOrServer      // a store that exists, or the server of --server
	storeToCome        // storeOrServer; a default store that does not exist is created, for a server that may use it later
	newStore           // a store, which is created if it does not exist
	serverOnly         // the server of --server
)

// A result is what a command prints: its fields with --json, otherwise what text writes.
type result interface{ text(pg *page) }

// add adds the commands of a section of the help, each to the one above it. Programs call those without a
// title; help does not list them.
func (p *program) add(root *cobra.Command, title string, rows []command) {
	for i := range rows {
		row := &rows[i]
		c, above := row.cobra(p), root
		if i := strings.LastIndexByte(row.name, ' '); i > 0 {
			above, _, _ = root.Find(strings.Fields(row.name[:i]))
		} else {
			c.GroupID, c.Hidden = title, title == ""
		}
		above.AddCommand(c)
	}
}

// cobra returns the row as a command of cobra.
func (row *command) cobra(p *program) *cobra.Command {
	h := helpOf(row.name)
	name := row.name[strings.LastIndexByte(row.name, ' ')+1:]
	c := &cobra.Command{
		Use: strings.TrimSpace(name + " " + row.args), Short: h.short, Long: h.long, Example: h.example,
		Args: row.check, ValidArgs: row.words,
	}
	c.RunE = func(c *cobra.Command, args []string) error { return p.execute(c, row, args) }
	if row.run == nil {
		c.Use += " COMMAND"
		c.Args = onlySubcommands
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	p.addFlags(c, row)
	if h.details != "" {
		c.Annotations = map[string]string{helpAll: h.details}
		c.Flags().Bool(helpAll, false, "help for "+name+" with all flags")
	}
	return c
}

// check checks the number of arguments.
func (row *command) check(c *cobra.Command, args []string) error {
	words := strings.Fields(row.args)
	required := slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") // which [ID#]N does not
	})
	switch {
	case c.Flags().Changed(helpAll):
	case len(args) < len(required):
		return misuse(c, "%s requires %s", c.CommandPath(), strings.Join(required[len(args):], " "))
	case len(args) > len(words) && !strings.Contains(row.args, "..."):
		return misuse(c, "unexpected argument %q: %s takes %s", args[len(words)], c.CommandPath(), cmp.Or(row.args, "no arguments"))
	}
	return nil
}

// execute opens what a command needs, runs it and prints the result.
func (p *program) execute(c *cobra.Command, row *command, args []string) error {
	if c.Flags().Changed(helpAll) {
		return p.help(c)
	}
	p.cmd, p.args, p.pages = c, args, row.pages
	p.allOwners = p.allOwners || row.every && p.owner == ""
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	p.cancel = cancel
	run := func() error {
		r, err := row.run(p, ctx)
		if _, ends := errors.AsType[exit](err); r != nil && (err == nil || ends) {
			p.printResult(r)
		}
		return cmp.Or(p.writing, err)
	}
	switch {
	case row.needs == nothing:
		return run()
	case row.needs == serverOnly && p.server == "":
		return misuse(c, "%s requires --server URL", c.CommandPath())
	case row.edits && p.store == "" && p.getenv(variable("server")) != "": // whose sessions may be meant
		return needsStore(c, "and "+variable("server")+" names a server")
	}
	return p.with(ctx, row.needs, run)
}

// needsStore refuses a server for a command that does not read sessions only.
func needsStore(c *cobra.Command, why string) error {
	return sequent.Errorf(sequent.CodeReadOnly, "", "run "+c.CommandPath()+" on the server's machine, with --store STORE",
		"%s works on a store, %s", c.CommandPath(), why)
}

// misuse returns a usage error that refers to the help of a command.
func misuse(c *cobra.Command, format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...), fix: "run " + c.CommandPath() + " --help for usage"}
}

// A section is a part of the list of commands in the help.
type section struct {
	title string
	rows  []command
}

// titleOfServer is the title of the section that has the command help, too.
const titleOfServer = "Server and installation"

// sections returns the commands by title, in the order of their use.
func sections() []section {
	return []section{
		{"Think and read", []command{
			{
				name: "setup", run: runSetup,
				flags: "client/setup all/setup project/setup team token-env dry-run yes json | print/setup with-skill dialect",
			},
			{
				name: "show", args: "[ID]", needs: storeOrServer, pages: true, run: runShow,
				flags: "full view branch compare json owner all-owners project all-projects | from/show to/show",
			},
			{name: "watch", args: "[ID]", needs: storeToCome, run: runWatch, flags: "until-complete json owner all-owners project all-projects"},
			{name: "view", args: "[ID]", needs: storeToCome, run: runView, flags: "print owner"},
			{
				name: "search", args: "QUERY...", needs: storeOrServer, pages: true, run: runSearch,
				flags: "limit=20 session vault json owner all-owners project all-projects",
			},
			{name: "note", args: "[ID#]N [TEXT...]", needs: storeOrServer, run: runNote, flags: "wrong approve from json owner all-owners"},
		}},
		{"Sessions", []command{
			{
				name: "list", needs: storeOrServer, pages: true, run: runList,
				flags: "limit/all=20 since json owner all-owners project all-projects",
			},
			{name: "brief", args: "[ID]", needs: storeOrServer, pages: true, run: runBrief, flags: "tokens=1000 json owner"},
			{
				name: "export", args: "[ID]", needs: storeOrServer, run: runExport,
				flags: "format output redact redact-secrets sign json owner project all-projects",
			},
			{name: "import", args: "FILE...", needs: newStore, edits: true, run: runImport, flags: "json owner"},
			{
				name: "delete", args: "[ID...]", needs: storeOnly, edits: true, run: runDelete,
				flags: "all/delete everywhere storage-path vault yes json owner",
			},
			{
				name: "analyze", args: "[QUERY...]", needs: storeOrServer, pages: true, run: runAnalyze,
				flags: "counts limit=10 since json owner all-owners project all-projects",
			},
		}},
		{"With a language model", []command{
			{name: "think", args: "PROBLEM [-]", run: runThink, flags: modelFlags + " steps=20"},
			{name: "think resume", args: "[ID]", needs: storeOnly, run: runResume, flags: modelFlags + " steps=20"},
			{name: "plan", args: "[PROBLEM] [-]", run: runPlan, flags: modelFlags + " mermaid"},
			{name: "plan resume", args: "[ID]", needs: storeOnly, run: runResume, flags: modelFlags},
		}},
		{titleOfServer, []command{
			{
				name: "serve", run: runServe,
				flags: "http auth tls-cert tls-key public-url oidc-issuer dialect/serve vault/serve session-ttl audit |" + serveFlags,
			},
			{name: "demo", needs: newStore, run: runDemo, flags: "fast"},
			{name: "doctor", run: runDoctor, flags: "auth/doctor oidc try json"},
			{name: "remove", run: runRemove, flags: "client/setup project/setup all/setup dry-run yes json"},
		}},
		{"For operators", []command{
			{name: "store"},
			{name: "store backup", args: "FILE", run: runBackup, flags: "force/backup sign json"},
			{name: "store restore", args: "FILE", run: runRestore, flags: "force/restore json"},
			{name: "store verify", args: "[ID|FILE]", run: runVerify, flags: "all/verify key head json project all-projects owner server"},
			{name: "store copy", run: runCopy, flags: "to/copy json"},
			{name: "store compact", run: runCompact, flags: "json"},
			{name: "server"},
			{name: "server token"},
			{name: "server token new", args: "SUBJECT", run: runTokenNew, flags: "file scope/token=write expires/token note url json"},
			{name: "server token list", run: runTokenList, flags: "file json"},
			{name: "server token revoke", args: "ID...", run: runTokenRevoke, flags: "file json"},
			{name: "server login", run: runLogin, flags: "server scope/login=write"},
			{name: "server logout", run: runLogout, flags: "server"},
			{name: "server owners", needs: storeOrServer, every: true, run: runOwners, flags: "json owner"},
			{
				name: "server owners rename", args: "OLD NEW", needs: storeOnly, edits: true, run: runRename,
				flags: "dry-run vault storage-path json",
			},
			{name: "server link", args: "ID", needs: serverOnly, run: runLink, flags: "expires/link=7d json"},
			{name: "server link list", needs: serverOnly, run: runLinks, flags: "all-owners json"},
			{name: "server link revoke", args: "LINK-ID...", needs: serverOnly, run: runUnlink, flags: "json"},
			{name: "server health", args: "[URL]", run: runHealth, flags: "http/health=8080"},
			{name: "vault"},
			{name: "vault sync", needs: newStore, run: runVaultSync, flags: "vault json owner"},
			{name: "vault rebuild", needs: newStore, run: runVaultRebuild, flags: "vault json owner"},
		}},
		{"", []command{{name: "hook", args: "NAME", words: hooks, run: runHook}, {name: "version", run: runVersion, flags: "json"}}},
	}
}

// modelFlags are the flags of commands that ask a language model.
const modelFlags = "model model-timeout=1m model-tries=3 mcp max-tokens json"

// serveFlags are the flags of sequent serve that only its whole help describes.
const serveFlags = `tools sync=full retain history-window quota-bytes quota-sessions quota-notes no-earlier no-origin storage-path/serve
	sign/serve model/serve model-timeout/serve=1m model-tries/serve=3 metrics
	oidc-audience oidc-scope-prefix oidc-owner-claim oidc-param oidc-client-id oidc-login-client-id oidc-client-secret-file
	insecure allow-origin mcp-session-timeout rate burst drain
	max-connections max-calls max-heavy-calls max-streams mcp-sessions trusted-proxy`
