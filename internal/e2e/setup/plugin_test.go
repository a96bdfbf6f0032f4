package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
)

// Claude Code and Codex accept the plugin of the repository: its manifests are valid, and after
// it is installed, the server and the skill are there.
func TestPlugin(t *testing.T) {
	t.Parallel()
	claude, codex, program := npm(t, "claude"), npm(t, "codex"), programtest.Build(t)
	source, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, program, ".codex")
	h.env = append(h.env, "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	// Only these files, as in a release.
	root := filepath.Join(h.dir, "repository")
	for _, dir := range []string{".claude-plugin", "plugin"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(source, dir))); err != nil {
			t.Fatal(err)
		}
	}
	h.run(claude, "plugin", "validate", root)
	if out := h.run(claude, "plugin", "validate", "--profile", "directory", filepath.Join(root, "plugin")); !strings.Contains(out, "skills: sequent:sequent") {
		t.Errorf("validate printed %s", out)
	}
	h.run(claude, "plugin", "marketplace", "add", root)
	h.run(claude, "plugin", "install", "sequent@sequent")
	if out := h.run(claude, "mcp", "list"); !strings.Contains(out, "sequent serve - ✔ Connected") {
		t.Errorf("Claude Code lists\n%s", out)
	}
	h.run(codex, "plugin", "marketplace", "add", root)
	h.run(codex, "plugin", "add", "sequent@sequent")
	if out := h.run(codex, "mcp", "list"); !strings.Contains(out, "sequent  serve") {
		t.Errorf("Codex lists\n%s", out)
	}
	if out := h.run(codex, "debug", "prompt-input", "hello"); !strings.Contains(out, "decisions in several steps") {
		t.Errorf("Codex does not offer the skill:\n%s", out)
	}
}
