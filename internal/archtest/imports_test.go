package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// A rule says what packages may import, apart from the standard library. The
// first rule that matches a package holds for it.
//
// Patterns are paths in the module, "." for its root, or of other modules.
// A * stands for one element of a path, and /... for a package and all below it.
type rule struct {
	packages string
	may      []string
	why      string
}

// rules go from the bottom of the module to its top. A new package needs a place
// here; a dialect, a store or a command has one already.
var rules = []rule{
	{"internal/wake", nil, "the root imports it"},
	{"internal/words", nil, "the root imports it"},
	{"internal/fairlock", []string{"github.com/gofrs/flock"}, "it knows a lock, and not what it is for"},
	{"internal/lazyregexp", nil, "whoever has an expression may import it"},
	{".", []string{"internal/wake", "internal/words"}, "the library outlives every dependency"},

	{"tool", nil, "it knows JSON and nothing of thoughts"},
	{"dialect", []string{"tool"}, "it is vocabulary"},
	{"dialect/internal/...", []string{".", "dialect", "tool"}, "it is what two dialects share"},
	{"dialect/dialecttest", []string{".", "dialect", "tool", "golang.org/x/tools/txtar"}, "it tests any dialect"},
	{"dialect/*", []string{".", "dialect", "tool", "dialect/internal/...", "internal/lazyregexp", "github.com/clipperhouse/displaywidth"},
		"a dialect is removed with rm -r: it asks for what it needs through interfaces of its own"},

	{"internal/indexfile", []string{"modernc.org/sqlite/..."}, "it knows SQLite, and nothing of what is indexed"},
	{"storetest", []string{"."}, "it tests any store"},
	{"store/internal/...", []string{".", "internal/words", "store/internal/..."}, "it is what SQL stores share, and knows no database"},
	{"store/sqlite/...", []string{
		".", "internal/fairlock", "internal/indexfile", "internal/wake", "internal/words", "store/internal/...", "store/sqlite/internal/...",
		"modernc.org/sqlite/...", "github.com/gofrs/flock", "golang.org/x/sys/...",
	}, "a store knows the engine's types and its database"},
	{"store/postgres", []string{".", "internal/wake", "internal/words", "store/internal/...", "github.com/jackc/pgx/v5/..."},
		"a store knows the engine's types and its database"},

	{"archive/importer", []string{".", "archive", "archive/internal/..."}, "it reads files of others, and stores through the engine"},
	{"archive/internal/...", nil, "it knows JSON and nothing of thoughts"},
	{"archive", []string{".", "archive/internal/..."}, "files are projections of sessions"},
	{"vault/index", []string{".", "internal/indexfile", "internal/words", "vault", "vault/wikilink", "modernc.org/sqlite/...", "github.com/gofrs/flock", "github.com/fsnotify/fsnotify"},
		"it is made of notes, and asks for embeddings through an interface of its own"},
	{"vault/wikilink", []string{"github.com/yuin/goldmark/...", "golang.org/x/text/..."}, "it knows Markdown and no vault"},
	{"vault/thinking", []string{".", "internal/lazyregexp", "vault", "vault/internal/..."}, "files of sessions are notes of a vault"},
	{"vault/internal/...", []string{"internal/lazyregexp"}, "it is what kinds of notes share"},
	{"vault/workflow", []string{".", "internal/lazyregexp", "vault", "vault/internal/...", "vault/wikilink"}, "runs are notes of a vault"},
	{"vault/assumption", []string{".", "internal/lazyregexp", "vault", "vault/internal/...", "vault/wikilink"}, "assumptions are notes of a vault"},
	{"vault", []string{".", "internal/fairlock", "go.yaml.in/yaml/v3", "github.com/gofrs/flock"}, "it knows files, and neither links nor what notes are about"},
	{"internal/draw", []string{".", "charm.land/lipgloss/v2", "github.com/clipperhouse/displaywidth"}, "a drawing is a function of a session"},

	{"mcpserver/client", []string{"tool", "github.com/modelcontextprotocol/go-sdk/..."}, "programs that are clients do not import the SDK themselves"},
	{"mcpserver", []string{
		".", "dialect", "tool",
		"github.com/modelcontextprotocol/go-sdk/...", "github.com/google/jsonschema-go/...", "golang.org/x/time/rate",
	}, "it alone knows MCP, and no dialect by name"},

	{"llm", []string{"github.com/google/jsonschema-go/..."}, "it says what a model is, and knows none"},
	{"llm/llmtest", []string{"llm"}, "it plays any model"},
	{"agent", []string{"llm", "tool"}, "it knows models and tools, and no thoughts"},
	{"agent/plan", []string{".", "agent", "llm", "tool"}, "it is handed the tool that thinks"},
	{"llm/openai", []string{"llm", "github.com/sashabaranov/go-openai"}, "a client knows one protocol"},

	{"auth/...", nil, "it knows who somebody is, and no transport"},

	{"internal/needtest", nil, "it is for tests"},
	{"internal/pgtest", []string{"internal/needtest", "github.com/jackc/pgx/v5/..."}, "it is for tests"},
	{"internal/archtest", nil, "it is tests"},
	{"internal/size", nil, "it reads Go files"},
	{"internal/gendocs", []string{".", "dialect", "tool", "github.com/spf13/cobra"}, "it prints what others tell it"},
	{"internal/app/...", []string{"..."}, "it joins the parts; nothing but commands imports it"},
	{"cmd/...", []string{"..."}, "a program uses what it needs"},
	{"internal/e2e/...", []string{"..."}, "it is tests of the whole"},
	{"internal/bench/...", []string{"..."}, "it measures the whole"},
}

// tops are imported by nothing below them, whatever the rules say.
var tops = []string{"internal/app/...", "cmd/...", "internal/e2e/...", "internal/bench/..."}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.packages, f.pkg) })
		if i < 0 {
			t.Errorf("%s: no rule of imports_test.go matches package %s; give it a place", f.name, f.pkg)
			continue
		}
		for _, p := range f.imports() {
			if p != f.pkg && !matchesAny(rules[i].may, p) {
				t.Errorf("%s imports %s, which %s may not: %s", f.name, p, rules[i].packages, rules[i].why)
			}
			if matchesAny(tops, p) && !matchesAny(tops, f.pkg) {
				t.Errorf("%s imports %s from below it", f.name, p)
			}
		}
	}
}

// Only mcpserver and its client import the SDK, even though programs may import
// anything else.
func TestSDKStaysInMCPServer(t *testing.T) {
	for _, f := range sources(t) {
		for _, p := range f.imports() {
			if matches("github.com/modelcontextprotocol/...", p) && !matches("mcpserver/...", f.pkg) && !f.test {
				t.Errorf("%s imports %s; only mcpserver does", f.name, p)
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
				t.Errorf("%s imports %s; only packages named …test do", f.name, p)
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
