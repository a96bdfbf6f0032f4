package packages

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
)

// upgrade replaces the program that setup has installed, while it runs: from a URL and from an
// archive. The server that runs goes on, and the clients to restart are named. A wrong archive
// changes nothing.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	old := programtest.Build(t) // in a temporary directory, so that setup copies it
	archive := "sequent_" + number + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	sources := map[string]func(t *testing.T) string{
		"a URL":      func(t *testing.T) string { t.Helper(); return serveFiles(t, nil) },
		"an archive": func(t *testing.T) string { t.Helper(); return filepath.Join(release(t), archive) },
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.run(old, "setup", "--client", "cursor", "--client", "codex", "--yes")
			before, err := os.ReadFile(h.installed())
			if err != nil {
				t.Fatal(err)
			}
			was := strings.Fields(h.run(h.installed(), "version"))[1]
			running := startServer(t, h, h.installed(), "serve")
			running.initialize(t, was)
			session := running.think(t, "", "Orders fail at noon.")

			wrong := serveFiles(t, func(name string, content []byte) []byte {
				if name == archive {
					content = append([]byte{}, content...)
					content[len(content)/2] ^= 1
				}
				return content
			})
			out, err := h.command(h.installed(), "upgrade", wrong, "--yes").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "has the checksum") || !strings.Contains(string(out), "nothing was changed") {
				t.Errorf("with a wrong archive upgrade ended with %v and printed %s", err, out)
			}
			from := source(t)
			if out := h.run(h.installed(), "upgrade", from, "--dry-run"); !strings.Contains(out, "This would replace "+was+" in ") || !strings.Contains(out, " by "+version+".") {
				t.Errorf("--dry-run printed %s", out)
			}
			if now, err := os.ReadFile(h.installed()); err != nil || string(now) != string(before) {
				t.Fatalf("the program changed before it was to: %v", err)
			}

			out = []byte(h.run(h.installed(), "upgrade", from, "--yes", "--width", "500"))
			for _, want := range []string{
				version + ", was " + was, "ok    client  Cursor (", "ok    client  Codex (", "sequent " + version + ", 2 tools",
				"Restart Cursor, Codex: servers that run keep " + was + " until then.",
			} {
				if !strings.Contains(string(out), want) {
					t.Errorf("upgrade printed\n%s, without %q", out, want)
				}
			}
			running.think(t, session, "The old server goes on.")
			running.close(t)
			converse(t, h, h.installed(), "serve")
			if out := h.run(h.installed(), "upgrade", from, "--yes", "--json"); !strings.Contains(out, `"replaced":false`) || !strings.Contains(out, `"ok":true`) {
				t.Errorf("a second upgrade printed %s", out)
			}
			if left, err := os.ReadDir(filepath.Dir(h.installed())); err != nil || len(left) != 1 {
				t.Errorf("the folder of the program has %v, %v", left, err)
			}
		})
	}
}

// Without an installed program there is nothing to replace.
func TestUpgradeOfTemporaryProgram(t *testing.T) {
	t.Parallel()
	out, err := newHome(t).command(programtest.Build(t), "upgrade", release(t), "--yes").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no program is installed") || !strings.Contains(string(out), "run sequent setup") {
		t.Errorf("upgrade ended with %v and printed %s", err, out)
	}
}
