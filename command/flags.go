package command

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/setup"
)

// options has the values of the flags.
type options struct {
	store    string
	server   string // URL of a server whose sessions are read instead
	color    string
	logLevel string
	json     bool
	width    int

	owner       string // of the sessions; empty means self
	allOwners   bool
	project     string // of the sessions; empty means that of the working directory
	allProjects bool
	since       time.Duration
	limit       int
	all         bool
	yes         bool

	view       view
	everywhere bool
	vault      string
	storage    string
	inSession  string
	dryRun     bool
	tokens     int
	sign       string
	format     string
	output     string
	redact     []string
	secrets    bool
	from       string
	wrong      bool
	approve    bool
	counts     bool
	printURL   bool
	fast       bool

	untilComplete bool

	dialect  string
	clients  []string // of setup, as are the following
	inFiles  bool     // of the project
	entries  bool
	skill    bool
	team     string
	tokenEnv string

	serving    app.Config // the flags of sequent serve
	ttl        time.Duration
	secretFile string
	sync       string
	force      bool // of operators, as are the following
	to         string
	key        string
	head       string
	file       string
	about      string
	url        string
	scope      string
	expires    string
	lifetime   time.Duration
	try        bool
	address    string

	model      string
	timeout    time.Duration
	tries      int
	mcp        []string
	maxTokens  int
	steps      int
	mermaid    bool
	allVisible bool // a server decides allOwners: all, if the token sees those
}

// A flagRow defines a flag, once for all commands.
type flagRow struct {
	name  string // perhaps with what tells it from flags of the same name: "limit/all"
	value string // name of the value in the help, perhaps with all that it can be: "WHEN=auto|always|never"
	help  string
	to    any
}

// flagTable returns the table of flags.
func (p *program) flagTable() []flagRow {
	o, dialects := &p.options, p.config().Names()
	c, h := &o.serving, &o.serving.HTTP
	return []flagRow{
		{"all-owners", "", "sessions of all owners", &o.allOwners},
		{"all-projects", "", "sessions of all projects", &o.allProjects},
		{"all/delete", "", "delete all sessions of the owner", &o.all},
		{"all/setup", "", "use all clients that are found", &o.all},
		{"all/verify", "", "check every session", &o.all},
		{"allow-origin", "ORIGIN",
			"origin of web pages that may call, such as https://think.example.com; repeatable (HTTP)", (*list)(&h.Origins)},
		{"approve", "", "the thought holds", &o.approve},
		{"audit", "FILE", "audit log in JSON: a file, or - for standard error", &c.Audit.Path},
		{"auth", "FILE", "token file; only its tokens are admitted (HTTP)", &h.Tokens},
		{"auth/doctor", "FILE", "token file of a server (default: tokens in your data directory, if it exists)", &h.Tokens},
		{"branch", "NAME", "branch to show, with the thoughts before it, or main", &o.view.branch},
		{"burst", "N", "maximum burst of requests per client (HTTP) (default: twice --rate)", atLeast(&h.Burst, 0)},
		{"client/setup", "NAME=" + strings.Join(setup.IDs(),
			"|"), "client, may be repeated: " + strings.Join(setup.IDs(), ", ") + " (default: those that are found)", &o.clients},
		{"color", "WHEN=auto|always|never", "auto, always or never", &o.color},
		{"compare", "LINES", "two lines to compare, such as main,pool", (*list)(&o.view.compared)},
		{"counts", "", "print the counts that need no thoughts to be read, in a second for a million of them", &o.counts},
		{"dialect", "NAME=" + strings.Join(dialects, "|"), "dialect of the tool: " + strings.Join(dialects, ", "), &o.dialect},
		{"dialect/serve", "NAME=*|" + strings.Join(dialects, "|"), "dialect of the tool: " + strings.Join(dialects, ", "), &c.Dialect},
		{"drain", "DURATION", "time to keep serving after a signal, while /readyz answers 503 (HTTP)", span(&h.Drain)},
		{"dry-run", "", "show what would change, and change nothing", &o.dryRun},
		{"everywhere", "", "delete the notes and session files too", &o.everywhere},
		{"expires/link", "DURATION", "lifetime of the link, such as 1h or 30d; at most 365d", span(&o.lifetime)},
		{"expires/token", "WHEN",
			"when the token ceases to be valid: a date such as 2027-06-30, or a duration such as 90d (default: never)", &o.expires},
		{"fast", "", "do not pause between thoughts", &o.fast},
		{"file", "FILE", "token file (default: the value of SEQUENT_AUTH, otherwise tokens in your data directory)", &o.file},
		{"force/backup", "", "replace the file if it exists", &o.force},
		{"force/restore", "", "replace a store that has sessions", &o.force},
		{"format", "FORMAT=md|html|json|mermaid",
			"output format: md, html, json or mermaid (default: by the extension of the file, otherwise md)", &o.format},
		{"from", "NAME", "name of the person (default: user.name of git, else USER or USERNAME)", &o.from},
		{"from/show", "THOUGHT", "first thought: number, name#number or @position", &o.view.from},
		{"full", "", "do not fold long sessions", &o.view.full},
		{"head", "HASH", "head that was noted elsewhere, to be found on the log", &o.head},
		{"history-window", "N", "maximum number of thoughts in a reply (dialect history); 0 means all", atLeast(&c.HistoryWindow, 0)},
		{"http", "ADDRESS", "HTTP listen address: HOST:PORT, or a port on 127.0.0.1", &h.Addr},
		{"http/health", "ADDRESS", "listen address of a server on this machine: HOST:PORT, or a port", &o.address},
		{"insecure", "", "admit clients on other machines without authentication (HTTP)", &h.Insecure},
		{"json", "", "print JSON", &o.json},
		{"key", "FILE", "public Ed25519 key in PEM that must have signed FILE", &o.key},
		{"limit", "N", "maximum number of results", atLeast(&o.limit, 1)},
		{"limit/all", "N", "maximum number of sessions; 0 means all", atLeast(&o.limit, 0)},
		{"log-level", "LEVEL=debug|info|warn|error", "debug, info, warn or error", &o.logLevel},
		{"max-calls", "N", "maximum concurrent requests per client; 0 means no limit (HTTP)", atLeast(&h.Limits.Calls, 0)},
		{"max-connections", "N", "maximum open connections per address; 0 means no limit (HTTP)", atLeast(&h.Limits.Connections, 0)},
		{"max-heavy-calls", "N",
			"maximum concurrent searches and reads per client (HTTP) (default: half as many as processors)", atLeast(&h.Limits.Heavy, 0)},
		{"max-streams", "N",
			"maximum open event streams and WebSockets per client; 0 means no limit (HTTP)", atLeast(&h.Limits.Streams, 0)},
		{"max-tokens", "N", "maximum number of tokens, sent and received; 0 means no limit", atLeast(&o.maxTokens, 0)},
		{"mcp", "COMMAND", "command of an MCP server whose tools the model may call; repeatable", &o.mcp},
		{"mcp-session-timeout", "DURATION", "idle timeout of an MCP session; 0 means none (HTTP)", span(&h.SessionTimeout)},
		{"mcp-sessions", "N",
			"maximum concurrent MCP sessions per client, which only older clients have; 0 means no limit (HTTP)", atLeast(&h.Limits.Sessions, 0)},
		{"mermaid", "", "print the phases as a Mermaid diagram and exit", &o.mermaid},
		{"metrics", "ADDRESS",
			"listen address of the page /metrics for Prometheus, on this machine: HOST:PORT, or a port on 127.0.0.1", &c.Telemetry.Prometheus},
		{"model", "NAME", "language model, such as gpt-4o, glm-4.7, vendor/model or ollama:qwen3", &o.model},
		{"model-timeout", "DURATION", "timeout of each attempt to get a model's answer", span(&o.timeout)},
		{"model-timeout/serve", "DURATION", "timeout of each attempt to get a model's answer (dialect status)", span(&o.timeout)},
		{"model-tries", "N", "maximum attempts to get a model's answer", atLeast(&o.tries, 1)},
		{"model-tries/serve", "N", "maximum attempts to get a model's answer (dialect status)", atLeast(&o.tries, 1)},
		{"model/serve", "NAME", "language model, such as gpt-4o, glm-4.7, vendor/model or ollama:qwen3 (dialect status)", &o.model},
		{"no-earlier", "", "name no earlier session on the problem that a session begins with (dialect standard)", &c.NoEarlier},
		{"no-origin", "", "do not record client, agent, project, git branch and commit of sessions", &c.NoOrigin},
		{"note", "TEXT", "what the token is for, such as the machine that has it", &o.about},
		{"oidc", "URL", "URL of an OpenID Connect provider; checks that it can be asked", &h.OIDC.Issuer},
		{"oidc-audience", "AUDIENCE",
			"audience of tokens for this server, for providers that do not issue them for its URL; repeatable (HTTP)", (*list)(&h.OIDC.Audiences)},
		{"oidc-client-id", "ID",
			"client id at the provider with which people sign in to the viewer and with sequent server login (HTTP)", &h.OIDC.ClientID},
		{"oidc-client-secret-file", "FILE",
			"file with the secret of --oidc-client-id (HTTP) (default: the value of SEQUENT_OIDC_CLIENT_SECRET)", &o.secretFile},
		{"oidc-issuer", "URL", "OpenID Connect provider whose tokens are admitted (HTTP)", &h.OIDC.Issuer},
		{"oidc-login-client-id", "ID",
			"client id of sequent server login, a public client (HTTP) (default: that of --oidc-client-id, unless it has a secret)", &h.OIDC.LoginClientID},
		{"oidc-owner-claim", "CLAIM",
			"claim of tokens that names the owner of sessions, which people must not be able to choose (HTTP) (default: sub)", &h.OIDC.OwnerClaim},
		{"oidc-param", "PARAMETER",
			"parameter of sign-in requests that the provider needs, such as audience=URL; resource= sends no resource; repeatable (HTTP)", &h.OIDC.Parameters},
		{"oidc-scope-prefix", "PREFIX",
			"what the names of scopes begin with, for providers that require the URL of an API (HTTP) (default: sequent:)", (*string)(&h.OIDC.Scopes)},
		{"output", "FILE", "output file (default: standard output)", &o.output},
		{"owner", "SUBJECT", "owner of the sessions: a token's subject (default: you)", &o.owner},
		{"print", "", "print the URL and open no browser", &o.printURL},
		{"print/setup", "", "print the entries and change no file of a client", &o.entries},
		{"project", "PROJECT", "URL of a project, or a directory in it (default: that of the working directory)", &o.project},
		{"project/setup", "", "use the files of the project in the working directory", &o.inFiles},
		{"public-url", "URL", "URL by which clients reach this server; required with a provider (HTTP)", &h.OIDC.PublicURL},
		{"quota-bytes", "BYTES", "maximum bytes that the sessions of one owner have together; 0 means no limit", atLeast(&c.Quota.Bytes, 0)},
		{"quota-notes", "N", "maximum number of notes of one owner (dialect wiki); 0 means no limit", atLeast(&c.QuotaNotes, 0)},
		{"quota-sessions", "N", "maximum number of sessions of one owner; 0 means no limit", atLeast(&c.Quota.Sessions, 0)},
		{"rate", "N", "maximum requests per second per client; 0 means no limit (HTTP)", rate(&h.Rate)},
		{"redact", "REGEXP", "regular expression of texts to mask; can be repeated", &o.redact},
		{"redact-secrets", "", "mask keys, tokens and passwords of known forms", &o.secrets},
		{"retain", "DURATION",
			"lifetime of every session in the store after its last change, such as 90d; 0 means no limit", span(&c.Retain)},
		{"scope/login", "SCOPE=read|write|admin", "what to ask for: read, write or admin", &o.scope},
		{"scope/token", "SCOPE=read|write|admin", "what the token allows: read, write or admin", &o.scope},
		{"server", "URL", "server instead of a store, with the token of SEQUENT_TOKEN or sequent server login", &o.server},
		{"session", "ID", "id of the session to which the search is limited", &o.inSession},
		{"session-ttl", "DURATION",
			"lifetime of a session after its last change, such as 30d; 0 means no limit (default: 30m in history, no limit in others)", span(&o.ttl)},
		{"sign", "FILE", "private Ed25519 key in PEM; writes the signature to the file's name with .sig", &o.sign},
		{"sign/serve", "FILE", "private Ed25519 key in PEM that signs session files (dialect classic)", &o.sign},
		{"since", "DURATION", "maximum time since the last change, such as 7d or 90m", span(&o.since)},
		{"steps", "N", "maximum number of answers of the model", atLeast(&o.steps, 1)},
		{"storage-path", "DIR", "folder of classic's session files (default: Documents/thinking in your home directory)", &o.storage},
		{"storage-path/serve", "DIR",
			"folder of session files (dialect classic) (default: Documents/thinking in your home directory)", &o.storage},
		{"store", "STORE", "a file, sqlite:PATH, a postgres:// URL, or memory", &o.store},
		{"sync", "MODE=full|normal", "durability: full survives a power failure, normal survives a crash of the process", &o.sync},
		{"team", "URL", "URL of a server over HTTP, instead of this program", &o.team},
		{"tls-cert", "FILE", "certificate chain in PEM, reloaded when it changes (HTTP)", &h.TLSCert},
		{"tls-key", "FILE", "key of --tls-cert in PEM (HTTP)", &h.TLSKey},
		{"to/copy", "STORE", "target store, in the form of --store; created if it does not exist", &o.to},
		{"to/show", "THOUGHT", "last thought", &o.view.to},
		{"token-env", "NAME", "environment variable with the bearer token for --team", &o.tokenEnv},
		{"tokens", "TOKENS", "how long it may be, in tokens of four bytes", atLeast(&o.tokens, 100)},
		{"tools", "NAMES", "tools of the dialect to offer, separated by commas (default: all)", (*list)(&c.Tools)},
		{"trusted-proxy", "CIDR",
			"network of proxies whose X-Forwarded-For tells clients apart, such as 10.0.0.0/8; repeatable (HTTP)", (*list)(&h.TrustedProxies)},
		{"try", "", "ask about each entry that is otherwise only shown, and start its program or connect to its server", &o.try},
		{"until-complete", "", "exit when the session is complete", &o.untilComplete},
		{"url", "URL", "URL of the server, for the text that the subject pastes", &o.url},
		{"vault", "DIR", "folder of notes (default: Documents/sequent-vault in your home directory)", &o.vault},
		{"vault/serve", "DIR", "folder of notes (dialect wiki) (default: Documents/sequent-vault in your home directory)", &o.vault},
		{"view", "VIEW=tree|log|effective|outline",
			"tree, log, effective or outline (default: tree, or log for a selection)", &o.view.kind},
		{"width", "COLUMNS", "output width (default: the terminal's, at most 120)", atLeast(&o.width, 0)},
		{"with-skill", "", "also install the skill, which says when to think and how", &o.skill},
		{"wrong", "", "the thought does not hold", &o.wrong},
		{"yes", "", "do not ask for confirmation", &o.yes},
	}
}

// globalFlags are the flags of every command.
const globalFlags = "store color=auto width log-level=warn"

// shorthands are the flags with a letter.
var shorthands = map[string]string{"yes": "y", "output": "o", "dry-run": "n", "force": "f", "storage-path": "s"}

// addFlags adds the flags of a row to its command: their names in the table, with =VALUE for a
// default, and after a | those that only --help-all describes. A command that can read from a
// server has --server.
func (p *program) addFlags(c *cobra.Command, row *command) {
	common, rare, _ := strings.Cut(row.flags, "|")
	if row.needs == storeOrServer || row.needs == storeToCome || row.needs == serverOnly {
		common += " server"
	}
	for word := range strings.FieldsSeq(common) {
		p.addFlag(c, c.Flags(), word)
	}
	for word := range strings.FieldsSeq(rare) {
		p.addFlag(c, c.Flags(), word).Annotations = map[string][]string{helpAll: nil}
	}
}

// addFlag adds a flag to a set of a command's flags.
func (p *program) addFlag(c *cobra.Command, to *pflag.FlagSet, word string) *pflag.Flag {
	key, initial, _ := strings.Cut(word, "=")
	if p.flagRows == nil {
		p.flagRows = p.flagTable()
	}
	i := slices.IndexFunc(p.flagRows, func(r flagRow) bool { return r.name == key })
	if i < 0 {
		panic("command: no flag " + key)
	}
	row := p.flagRows[i]
	name, _, _ := strings.Cut(key, "/")
	flag := row.add(to, name, shorthands[name])
	value, choices, _ := strings.Cut(row.value, "=")
	choices, open := strings.CutPrefix(choices, "*|") // examples
	if value != "" {
		named := namedValue{Value: flag.Value, name: value}
		if choices != "" && !open {
			named.values = strings.Split(choices, "|")
		}
		flag.Value = named
	}
	if initial != "" {
		if err := flag.Value.Set(initial); err != nil {
			panic(err)
		}
		flag.DefValue = initial
	}
	switch {
	case choices != "":
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(strings.Split(choices, "|"), cobra.ShellCompDirectiveNoFileComp))
	case value == "DIR":
		_ = to.SetAnnotation(name, cobra.BashCompSubdirsInDir, []string{})
	}
	return flag
}

// A list is a flag for words that are separated by commas, or given by several flags.
type list []string

// add adds the flag to a set, with the value that it has as its default.
func (r *flagRow) add(to *pflag.FlagSet, name, short string) *pflag.Flag {
	switch v := r.to.(type) {
	case *bool:
		to.BoolVarP(v, name, short, *v, r.help)
	case *string:
		to.StringVarP(v, name, short, *v, r.help)
	case *[]string:
		to.StringArrayVarP(v, name, short, *v, r.help)
	case *list:
		to.StringSliceVarP((*[]string)(v), name, short, *v, r.help)
	case *map[string]string:
		to.StringToStringVarP(v, name, short, *v, r.help)
	case pflag.Value:
		to.VarP(v, name, short, r.help)
	}
	flag := to.Lookup(name)
	if slices.Contains([]string{"0", "[]"}, flag.DefValue) {
		flag.DefValue = "" // described by the help
	}
	return flag
}
