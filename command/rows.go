package command

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
			{name: "server token new", args: "SUBJECT", words: []string{}, run: runTokenNew, flags: "file scope/token=write expires/token note url json"},
			{name: "server token list", run: runTokenList, flags: "file json"},
			{name: "server token revoke", args: "ID...", words: []string{}, run: runTokenRevoke, flags: "file json"},
			{name: "server login", run: runLogin, flags: "server scope/login=write json"},
			{name: "server logout", run: runLogout, flags: "server"},
			{name: "server owners", needs: storeOrServer, every: true, run: runOwners, flags: "json owner"},
			{
				name: "server owners rename", args: "OLD NEW", needs: storeOnly, edits: true, run: runRename,
				flags: "dry-run vault storage-path json",
			},
			{name: "server link", args: "ID", needs: serverOnly, run: runLink, flags: "expires/link=7d json"},
			{name: "server link list", needs: serverOnly, run: runLinks, flags: "all-owners json"},
			{name: "server link revoke", args: "LINK-ID...", words: []string{}, needs: serverOnly, run: runUnlink, flags: "json"},
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
