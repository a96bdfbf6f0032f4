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
	{"textsearch", []string{"golang.org/x/text/unicode/norm"}, "the root imports it"},
	{"internal/fairlock", []string{"golang.org/x/sys/windows"}, "it depends on file locks only"},
	{"internal/lazyregexp", nil, "any package may import it"},
	{"internal/printable", nil, "any package may import it"},
	{".", []string{"textsearch"}, "the library outlives every dependency"},

	{"reference", []string{"."}, "it reads sessions, for what people write and read"},

	{"internal/jsonscan", nil, "it depends on nothing"},
	{"brief", []string{".", "internal/findings", "internal/lazyregexp", "internal/printable"}, "it reads sessions, for dialects, the command line and the viewer"},
	{"analysis", []string{".", "brief", "internal/findings", "internal/lazyregexp", "reference", "textsearch"}, "it compares sessions of any store, and knows no dialect"},
	{"tool", []string{"internal/jsonscan", "internal/printable"}, "it depends on JSON, not on sessions"},
	{"dialect", []string{".", "tool"}, "it has what all dialects are made of"},
	{"dialect/dialecttest", []string{".", "dialect", "tool", "github.com/google/jsonschema-go/jsonschema", "github.com/rogpeppe/go-internal/txtar"}, "it tests any dialect"},
	{"dialect/status/statustest", []string{"dialect/status"}, "it simulates a model"},
	{"dialect/wiki", []string{".", "brief", "dialect", "tool", "internal/printable", "vault/..."}, "notes of a vault are its subject"},
	{"dialect/*", []string{
		".", "analysis", "dialect", "tool", "brief",
		"internal/draw", "internal/findings", "internal/jsonscan", "internal/lazyregexp", "internal/printable", "reference",
	},
		"a dialect can be removed with rm -r: it declares interfaces for everything else it needs"},

	{"internal/diagnosis", []string{".", "textsearch"}, "stores and programs report with it"},
	{"internal/durable", nil, "it depends on files only"},
	{"storetest", []string{"."}, "it tests any store"},
	{"store/sqlstore", []string{".", "textsearch"}, "it is shared by the SQL stores and depends on no database"},
	{"store/sqlite", []string{
		".", "internal/diagnosis", "internal/durable", "internal/fairlock", "store/sqlstore", "textsearch",
		"modernc.org/sqlite/...", "golang.org/x/sys/...",
	}, "a store depends on the engine's types and its database"},
	{"store/postgres", []string{".", "internal/diagnosis", "store/sqlstore", "textsearch", "github.com/jackc/pgx/v5/..."},
		"a store depends on the engine's types and its database"},

	{"archive", []string{".", "internal/durable", "internal/findings", "internal/jsonscan", "internal/lazyregexp", "internal/printable"}, "files are projections of sessions"},
	{"vault/index", []string{
		".", "internal/fairlock", "internal/lazyregexp", "textsearch", "vault", "vault/wikilink", "golang.org/x/sys/unix", "modernc.org/sqlite/...",
	},
		"it indexes notes and declares an interface for embeddings"},
	{"vault/wikilink", []string{"internal/lazyregexp", "golang.org/x/text/..."}, "it depends on Markdown, not on the vault"},
	{"vault/thinking", []string{".", "internal/lazyregexp", "internal/printable", "vault", "vault/wikilink"}, "files of sessions are notes of a vault"},
	{"vault/edit", []string{".", "internal/lazyregexp", "internal/printable", "vault", "vault/wikilink"}, "it changes notes of any kind"},
	{"vault/vaults", []string{".", "vault/..."}, "it joins the notes of an owner with their index"},
	{"vault/workflow", []string{".", "internal/lazyregexp", "internal/printable", "vault", "vault/wikilink"}, "runs are notes of a vault"},
	{"vault", []string{".", "internal/durable", "internal/fairlock", "internal/lazyregexp", "internal/printable", "go.yaml.in/yaml/v3"}, "it depends on files, not on links or kinds of notes"},
	{"internal/redact", []string{".", "internal/lazyregexp", "github.com/pelletier/go-toml/v2"}, "it changes a copy of a session; what generates its rules reads TOML"},
	{"internal/findings", []string{".", "internal/lazyregexp", "internal/printable"}, "it reads a session"},
	{"internal/judged", []string{".", "archive"}, "tests compare with what was judged, also of exported sessions"},
	{"internal/article", []string{".", "internal/findings", "internal/lazyregexp", "internal/printable", "github.com/yuin/goldmark/..."}, "it writes a session as HTML"},
	{"internal/draw", []string{".", "internal/findings", "internal/printable", "reference", "charm.land/lipgloss/v2", "github.com/clipperhouse/displaywidth"}, "it draws a session"},

	{"internal/limits", []string{"golang.org/x/time/rate"}, "it counts for any transport"},
	{"internal/admission", nil, "it judges the requests of any handler"},
	{"internal/audit", []string{".", "internal/printable"}, "it writes what it is told"},
	{"auth", nil, "it says what an authenticator is, and knows none"},
	{"auth/token", []string{".", "auth"}, "it is a file of tokens"},
	{"auth/oidc", []string{"auth", "internal/admission", "internal/printable", "github.com/coreos/go-oidc/v3/oidc", "github.com/go-jose/go-jose/v4", "golang.org/x/oauth2", "golang.org/x/time/rate"}, "it knows providers, and no server"},
	{"mcpserver/client", []string{"tool", "github.com/modelcontextprotocol/go-sdk/..."}, "other packages use it instead of the SDK"},
	{"mcpserver", []string{
		".", "dialect", "tool", "auth", "internal/admission", "internal/jsonscan", "internal/limits", "github.com/coder/websocket",
	}, "it serves dialects, and knows none"},

	{"internal/telemetry", []string{
		".", "internal/limits", "llm", "mcpserver", "go.opentelemetry.io/...",
		"github.com/prometheus/client_golang/...",
	}, "it measures parts from outside, and they know nothing of it"},

	{"web", []string{".", "archive", "auth", "brief", "dialect", "tool", "internal/admission", "internal/article", "internal/audit", "internal/limits", "internal/lazyregexp", "internal/printable", "internal/redact"}, "it shows sessions of any store, also in a chat of any dialect"},

	{"llm", nil, "it defines what a model is and contains none"},
	{"llm/llmtest", []string{"llm"}, "it simulates models"},
	{"agent", []string{"llm", "tool"}, "it depends on models and tools, not on sessions"},
	{"agent/plan", []string{".", "agent", "internal/printable", "llm", "tool"}, "its caller passes the tool that records thoughts"},
	{"llm/openai", []string{"internal/lazyregexp", "llm"}, "it speaks one protocol"},

	{"setup", []string{"internal/durable", "internal/lazyregexp", "github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2/...", "go.yaml.in/yaml/v3"},
		"it depends on files of clients, not on the engine"},

	{"internal/needtest", nil, "it is for tests"},
	{"internal/pgtest", []string{"internal/needtest", "github.com/jackc/pgx/v5/..."}, "it is for tests"},
	{"internal/gendocs", []string{".", "dialect", "setup", "tool", "github.com/spf13/cobra", "github.com/spf13/pflag"}, "it prints what it is given"},
	{"npm/ai-sdk/engine", []string{".", "dialect/history", "tool"}, "it is a dialect for a page of a browser"},
	{"internal/app/...", []string{"..."}, "it joins the parts; only the command line imports it"},
	{"command", []string{"..."}, "it is a whole program"},
	{"cmd/sequent", []string{"command"}, "it is the first user of the command line"},
}

// tops may only be imported by each other, whatever the rules say.
var tops = []string{"internal/app/...", "command", "cmd/..."}

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
