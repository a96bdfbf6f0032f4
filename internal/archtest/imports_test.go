package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// A rule lists what packages may import besides the standard library. The first
// rule that matches a package applies to it.
//
// Patterns are paths in this module, "." for its root, or import paths of other
// modules. A * matches one element of a path, /... a package and all below it.
type rule struct {
	packages string
	may      []string
	why      string
}

// rules are ordered from the bottom of the module to its top. A new package needs
// a rule, unless it is a dialect, a store or a command.
var rules = []rule{
	{"words", nil, "the root imports it"},
	{"internal/fairlock", []string{"github.com/gofrs/flock"}, "it depends on file locks only"},
	{"internal/lazyregexp", nil, "any package may import it"},
	{"internal/objectkeys", nil, "any package may import it"},
	{".", []string{"words"}, "the library outlives every dependency"},

	{"internal/jsonscan", nil, "it depends on nothing"},
	{"brief", []string{"."}, "it reads sessions, for dialects, the command line and the viewer"},
	{"analysis", []string{".", "brief", "internal/lazyregexp", "words"}, "it compares sessions of any store, and knows no dialect"},
	{"analysis/summary", []string{"analysis", "internal/lazyregexp", "llm", "words"}, "it checks what a model writes about findings"},
	{"tool", []string{"internal/jsonscan"}, "it depends on JSON, not on sessions"},
	{"dialect", []string{".", "tool"}, "it only defines types"},
	{"dialect/scope", []string{".", "tool"}, "any dialect can use it, of this module or another"},
	{"dialect/shortid", []string{"."}, "any dialect can use it, of this module or another"},
	{"dialect/watch", []string{"."}, "any dialect can use it, of this module or another"},
	{"dialect/wording", []string{".", "dialect/scope", "tool"}, "any dialect can use it, of this module or another"},
	{"dialect/analyze", []string{".", "analysis", "tool"}, "any dialect can use it, of this module or another"},
	{"dialect/dialecttest", []string{".", "dialect", "tool", "golang.org/x/tools/txtar"}, "it tests any dialect"},
	{"dialect/wiki", []string{".", "brief", "dialect", "tool", "dialect/analyze", "dialect/scope", "dialect/wording", "vault/..."}, "notes of a vault are its subject"},
	{"dialect/*", []string{
		".", "dialect", "dialect/analyze", "dialect/scope", "dialect/shortid", "dialect/watch", "dialect/wording", "tool", "brief",
		"internal/jsonscan", "internal/lazyregexp", "internal/objectkeys", "github.com/clipperhouse/displaywidth",
	},
		"a dialect can be removed with rm -r: it declares interfaces for everything else it needs"},

	{"internal/diagnosis", []string{".", "words"}, "stores and programs report with it"},
	{"internal/durable", nil, "it depends on files only"},
	{"internal/printable", nil, "it depends on nothing"},
	{"internal/indexfile", []string{"modernc.org/sqlite/..."}, "it depends on SQLite, not on what is indexed"},
	{"storetest", []string{"."}, "it tests any store"},
	{"store/ranking", []string{".", "words"}, "any store can use it, of this module or another"},
	{"store/listing", []string{".", "store/internal/record"}, "any store can use it, of this module or another"},
	{"store/internal/...", []string{"."}, "it is shared by the SQL stores and depends on no database"},
	{"store/sqlite/...", []string{
		".", "internal/diagnosis", "internal/durable", "internal/fairlock", "internal/indexfile", "words", "store/internal/...", "store/listing", "store/ranking", "store/sqlite/internal/...",
		"modernc.org/sqlite/...", "github.com/gofrs/flock", "golang.org/x/sys/...",
	}, "a store depends on the engine's types and its database"},
	{"store/postgres", []string{".", "internal/diagnosis", "internal/lazyregexp", "words", "store/internal/...", "store/listing", "store/ranking", "github.com/jackc/pgx/v5/..."},
		"a store depends on the engine's types and its database"},

	{"archive/importer", []string{".", "archive", "archive/internal/..."}, "it reads files of other programs and stores through the engine"},
	{"archive/internal/...", nil, "it depends on JSON, not on sessions"},
	{"archive", []string{".", "archive/internal/...", "internal/durable", "internal/lazyregexp", "internal/objectkeys", "internal/printable"}, "files are projections of sessions"},
	{"vault/index", []string{".", "internal/fairlock", "internal/indexfile", "internal/lazyregexp", "words", "vault", "vault/wikilink", "modernc.org/sqlite/...", "github.com/gofrs/flock", "github.com/fsnotify/fsnotify"},
		"it indexes notes and declares an interface for embeddings"},
	{"internal/cooccur", []string{"words"}, "it is an embedding model for tests"},
	{"vault/wikilink", []string{"github.com/yuin/goldmark/...", "golang.org/x/text/..."}, "it depends on Markdown, not on the vault"},
	{"vault/thinking", []string{".", "internal/lazyregexp", "internal/printable", "vault", "vault/internal/..."}, "files of sessions are notes of a vault"},
	{"vault/edit", []string{".", "internal/durable", "internal/printable", "vault", "vault/wikilink"}, "it changes notes of any kind"},
	{"vault/internal/...", []string{"internal/lazyregexp", "internal/printable"}, "it is shared by the kinds of notes"},
	{"vault/workflow", []string{".", "internal/lazyregexp", "internal/printable", "vault", "vault/internal/...", "vault/wikilink"}, "runs are notes of a vault"},
	{"vault/assumption", []string{".", "internal/lazyregexp", "internal/printable", "vault", "vault/internal/...", "vault/wikilink"}, "assumptions are notes of a vault"},
	{"vault", []string{".", "internal/durable", "internal/fairlock", "internal/printable", "go.yaml.in/yaml/v3", "github.com/gofrs/flock"}, "it depends on files, not on links or kinds of notes"},
	{"internal/transfer", []string{".", "archive/importer"}, "it copies between any two stores"},
	{"internal/retention", []string{"."}, "it only uses an engine"},
	{"internal/redact", []string{"."}, "it changes a copy of a session"},
	{"internal/signature", nil, "it depends on files only"},
	{"internal/worktree", nil, "it depends on files only"},
	{"internal/judged", nil, "it depends on nothing"},
	{"internal/shellwords", nil, "it depends on nothing"},
	{"internal/draw", []string{".", "charm.land/lipgloss/v2", "github.com/clipperhouse/displaywidth"}, "it draws a session"},

	{"internal/picture", []string{"internal/draw"}, "it draws what it is given"},

	{"internal/drafts", []string{"."}, "it keeps texts by session"},
	{"internal/hook", []string{".", "internal/durable"}, "it remembers ids of sessions"},
	{"internal/governor", []string{"golang.org/x/time/rate"}, "it counts for any transport"},
	{"internal/admission", nil, "it judges the requests of any handler"},
	{"internal/audit", nil, "it writes what it is told"},
	{"auth", nil, "it says what an authenticator is, and knows none"},
	{"auth/token", []string{"auth"}, "it is a file of tokens"},
	{"auth/oidc", []string{"auth", "internal/admission", "github.com/coreos/go-oidc/v3/oidc", "github.com/go-jose/go-jose/v4", "golang.org/x/oauth2"}, "it knows providers, and no server"},
	{"internal/credentials", []string{"auth", "internal/durable", "internal/fairlock", "github.com/gofrs/flock"}, "it keeps tokens, and asks no provider itself"},
	{"mcpserver/client", []string{"tool", "github.com/modelcontextprotocol/go-sdk/..."}, "other packages use it instead of the SDK"},
	{"mcpserver/internal/mcptest", []string{".", "dialect", "tool"}, "it is for tests"},
	{"mcpserver/internal/message", []string{"internal/jsonscan"}, "it depends on JSON-RPC, not on methods"},
	{"mcpserver/internal/method", []string{".", "dialect", "tool", "internal/governor", "internal/jsonscan", "mcpserver/internal/message"}, "it answers requests of any connection"},
	{"mcpserver/internal/session", []string{".", "tool", "internal/governor", "mcpserver/internal/message", "mcpserver/internal/method"}, "it serves a connection over any transport"},
	{"mcpserver/internal/stdio", []string{"tool", "internal/governor", "mcpserver/internal/message", "mcpserver/internal/method", "mcpserver/internal/session"}, "a transport does not depend on another"},
	{"mcpserver/internal/socket", []string{"mcpserver/internal/stdio", "github.com/coder/websocket"}, "its frames are the lines of an ordered connection"},
	{"mcpserver/internal/streamhttp", []string{
		".", "tool", "auth", "internal/admission", "internal/governor", "mcpserver/internal/message", "mcpserver/internal/method", "mcpserver/internal/session",
		"mcpserver/internal/socket", "mcpserver/internal/stdio", "github.com/coder/websocket",
	}, "it admits the connections of WebSockets, and depends on no other transport"},
	{"mcpserver", []string{".", "dialect", "tool", "auth", "internal/admission", "internal/governor", "mcpserver/internal/..."}, "it is the public face of the packages below it"},

	{"internal/telemetry", []string{
		".", "internal/governor", "llm", "mcpserver", "go.opentelemetry.io/...",
		"google.golang.org/protobuf/encoding/protowire",
	}, "it measures parts from outside, and they know nothing of it"},

	{"web/chat", []string{".", "dialect", "tool", "web"}, "it puts the viewer into any dialect"},
	{"web", []string{".", "archive", "auth", "internal/admission", "internal/drafts", "internal/governor", "internal/lazyregexp", "internal/redact"}, "it shows sessions of any store, and knows no dialect"},

	{"llm", []string{"github.com/google/jsonschema-go/..."}, "it defines what a model is and contains none"},
	{"llm/llmtest", []string{"llm"}, "it simulates models"},
	{"agent", []string{"llm", "tool"}, "it depends on models and tools, not on sessions"},
	{"agent/plan", []string{".", "agent", "llm", "tool"}, "its caller passes the tool that records thoughts"},
	{"agent/panel", []string{".", "agent", "llm", "tool"}, "its caller passes the model and the tools"},
	{"llm/openai", []string{"internal/lazyregexp", "llm", "github.com/sashabaranov/go-openai"}, "it speaks one protocol"},

	{"setup", []string{"internal/durable", "internal/lazyregexp", "github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2/...", "go.yaml.in/yaml/v3"},
		"it depends on files of clients, not on the engine"},

	{"internal/needtest", nil, "it is for tests"},
	{"internal/pgtest", []string{"internal/needtest", "github.com/jackc/pgx/v5/..."}, "it is for tests"},
	{"internal/archtest", nil, "it is tests"},
	{"internal/size", nil, "it reads Go files"},
	{"internal/upgrade", nil, "it reads releases, and installs nothing"},
	{"internal/release", nil, "it runs git and go"},
	{"internal/wine", nil, "it runs Wine"},
	{"internal/gendocs", []string{".", "dialect", "tool", "github.com/spf13/cobra"}, "it prints what it is given"},
	{"internal/example/...", []string{".", "dialect", "dialect/scope", "dialect/shortid", "dialect/wording", "store/listing", "store/ranking", "tool", "words"},
		"it is an example for other modules, which can import public packages only"},
	{"internal/app/...", []string{"..."}, "it joins the parts; only the command line imports it"},
	{"command", []string{"..."}, "it is a whole program"},
	{"cmd/sequent", []string{"command"}, "it is the first user of the command line"},
	{"internal/e2e/...", []string{"..."}, "it tests the whole program"},
	{"internal/bench/...", []string{"..."}, "it measures the whole program"},
}

// tops may only be imported by each other, whatever the rules say.
var tops = []string{"internal/app/...", "command", "cmd/...", "internal/e2e/...", "internal/bench/..."}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.packages, f.pkg) })
		if i < 0 {
			t.Errorf("%s: no rule matches package %s; add one to rules in imports_test.go", f.name, f.pkg)
			continue
		}
		for _, p := range f.imports() {
			if p != f.pkg && !matchesAny(rules[i].may, p) {
				t.Errorf("%s must not import %s: rule for %s: %s", f.name, p, rules[i].packages, rules[i].why)
			}
			if matchesAny(tops, p) && !matchesAny(tops, f.pkg) {
				t.Errorf("%s must not import %s, which is above it", f.name, p)
			}
		}
	}
}

// This holds for programs too, which may import anything else.
func TestSDKStaysInClient(t *testing.T) {
	for _, f := range sources(t) {
		for _, p := range f.imports() {
			if matches("github.com/modelcontextprotocol/...", p) && f.pkg != "mcpserver/client" && !f.test {
				t.Errorf("%s must not import %s: only mcpserver/client may", f.name, p)
			}
		}
	}
}

// This holds for programs too: whatever else is measured has plain numbers and hooks.
func TestTelemetryStaysInOnePackage(t *testing.T) {
	for _, f := range sources(t) {
		for _, p := range f.imports() {
			if (matches("go.opentelemetry.io/...", p) || matches("github.com/prometheus/...", p)) && f.pkg != "internal/telemetry" && !f.test {
				t.Errorf("%s must not import %s: only internal/telemetry may", f.name, p)
			}
		}
	}
}

func TestTestingStaysInTests(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasSuffix(f.pkg, "test") {
			continue
		}
		for _, p := range f.allImports() {
			own := strings.HasPrefix(p, modulePath)
			if p == "testing" || strings.HasPrefix(p, "testing/") || own && strings.HasSuffix(p, "test") {
				t.Errorf("%s must not import %s: only packages named …test may", f.name, p)
			}
		}
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{".", ".", true},
		{".", "tool", false},
		{"tool", "tool", true},
		{"tool", "tool/x", false},
		{"dialect/*", "dialect/x", true},
		{"dialect/*", "dialect", false},
		{"dialect/*", "dialect/x/y", false},
		{"cmd/...", "cmd", true},
		{"cmd/...", "cmd/x/y", true},
		{"cmd/...", "cmdx", false},
		{"...", ".", true},
		{"...", "example.com/x", true},
	}
	for _, tt := range tests {
		if got := matches(tt.pattern, tt.name); got != tt.want {
			t.Errorf("matches(%q, %q) = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

func matches(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	if parent, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == parent || strings.HasPrefix(name, parent+"/")
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}
