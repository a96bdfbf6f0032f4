package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// A registry serves the npm packages of a release.
type registry struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

// serveNPM starts a registry with the packages of a release, which answers 404 for all others.
func serveNPM(t *testing.T, dir string) *registry {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "npm", "*.tgz"))
	if err != nil || len(files) != 8 {
		t.Fatalf("the release has the npm packages %q, %v; want 8", files, err)
	}
	r := &registry{}
	answers := make(map[string][]byte)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		answers["/tarballs/"+filepath.Base(file)] = content
	}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.requests = append(r.requests, q.URL.Path)
		r.mu.Unlock()
		if content, ok := answers[q.URL.Path]; ok {
			_, _ = w.Write(content)
		} else {
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(r.Close)
	url := "http://" + r.Listener.Addr().String()
	for _, file := range files {
		content := answers["/tarballs/"+filepath.Base(file)]
		var p map[string]any
		if err := json.Unmarshal(inTarball(t, content, "package/package.json"), &p); err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(content)
		p["dist"] = map[string]any{
			"tarball": url + "/tarballs/" + filepath.Base(file), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		name, _ := p["name"].(string)
		text, err := json.Marshal(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": number}, "versions": map[string]any{number: p},
		})
		if err != nil {
			t.Fatal(err)
		}
		answers["/"+name] = text
	}
	r.Start()
	return r
}

// downloads returns the packages that were downloaded.
func (r *registry) downloads() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range r.requests {
		if name, ok := strings.CutPrefix(path, "/tarballs/"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func inTarball(t *testing.T, tarball []byte, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.Name == name {
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

// node returns the directory of node and npm, alone, so that a PATH has nothing else beside
// the shell's usual programs.
func node(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"node", "npm", "npx"} {
		file := needtest.Program(t, name, "install Node.js 20 or newer, with npm")
		if err := os.Symlink(file, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// own returns the npm package of this system.
func own() string {
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return fmt.Sprintf("sequent-dev-sequent-%s-%s-%s.tgz", runtime.GOOS, cpu, number)
}

func launcher() string { return "sequent-dev-sequent-" + number + ".tgz" }

// npmHome is a home directory with Node.js and a registry that has our packages only.
func npmHome(t *testing.T) (*home, *registry) {
	t.Helper()
	r := serveNPM(t, release(t))
	h := newHome(t, node(t))
	h.env = append(h.env, "npm_config_registry="+r.URL, "npm_config_fetch_retries=0", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false")
	return h, r
}

// npx finds, installs and starts the program, downloads the launcher and the program of this
// system and nothing else, and again nothing at the next start.
func TestNPX(t *testing.T) {
	t.Parallel()
	h, r := npmHome(t)
	converse(t, h, "npx", "--yes", "@sequent-dev/sequent", "serve")
	want := []string{launcher(), own()}
	slices.Sort(want)
	if got := r.downloads(); !slices.Equal(got, want) {
		t.Errorf("npx downloaded %q, want %q", got, want)
	}
	converse(t, h, "npx", "--yes", "@sequent-dev/sequent", "serve")
	if got := r.downloads(); !slices.Equal(got, want) {
		t.Errorf("after a second start npx has downloaded %q, want %q", got, want)
	}
}

// The tarballs can be installed as files. What is installed needs no network, and passes
// on arguments, streams, signals and exit codes.
func TestTarballs(t *testing.T) {
	t.Parallel()
	h, r := npmHome(t)
	dir := filepath.Join(release(t), "npm")
	h.run("npm", "install", filepath.Join(dir, launcher()), filepath.Join(dir, own()))
	if got := r.downloads(); len(got) > 0 {
		t.Errorf("npm downloaded %q, want nothing", got)
	}
	r.Close()
	converse(t, h, "npx", "sequent", "serve")

	program := filepath.Join(h.dir, "node_modules", ".bin", "sequent")
	if got := h.run(program, "version"); !strings.Contains(got, version+" (") {
		t.Errorf("version printed %q, want %s, a commit and a date", got, version)
	}
	for want, args := range map[int][]string{1: {"show", "absent"}, 2: {"no-such-command"}} {
		cmd := h.command(program, args...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("sequent %s exits with %d, want %d\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), want, out)
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if code := startServer(t, h, version, program, "serve").Signal(t, s); code != 0 {
			t.Errorf("after %v the launcher exits with %d, want 0", s, code)
		}
	}
}

// The package for the Vercel AI SDK finds the program of the launcher, installed beside it.
func TestLibrary(t *testing.T) {
	t.Parallel()
	h, _ := npmHome(t)
	h.run("npm", "install", "@sequent-dev/ai-sdk", "@sequent-dev/sequent")
	const script = `
import { createSequentialThinkingTool, close } from '@sequent-dev/ai-sdk';
const tool = createSequentialThinkingTool({ store: true });
const reply = await tool.execute({ thought: 'Orders fail at noon.', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }, { toolCallId: '1', messages: [] });
console.log(JSON.stringify(reply));
await close();
`
	file := filepath.Join(h.dir, "think.mjs")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := h.run("node", file); !strings.Contains(out, "Orders fail at noon.") || !strings.Contains(out, `"sessionId"`) {
		t.Errorf("the tool answered %s", out)
	}
}

// A launcher without the package of the system says what is missing.
func TestLauncherAlone(t *testing.T) {
	t.Parallel()
	h, _ := npmHome(t)
	h.run("npm", "install", "--no-optional", filepath.Join(release(t), "npm", launcher()))
	cmd := h.command(filepath.Join(h.dir, "node_modules", ".bin", "sequent"), "version")
	out, _ := cmd.CombinedOutput()
	want := strings.TrimSuffix(strings.TrimPrefix(own(), "sequent-dev-"), "-"+number+".tgz")
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "the package @sequent-dev/"+want+" is not installed") {
		t.Errorf("the launcher exits with %d and prints %s", cmd.ProcessState.ExitCode(), out)
	}
}
