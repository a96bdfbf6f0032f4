package packages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// The bundle of each system is valid for the program of its makers, which unpacks the one of
// this system, and what its manifest says can be started.
func TestBundles(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "node", "install Node.js 20 or newer")
	mcpb, err := filepath.Abs(filepath.Join("node_modules", ".bin", "mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mcpb); err != nil {
		needtest.Missing(t, "the npm packages of e2e/packages are not installed", "run make npm")
	}
	h := newHome(t, filepath.Dir(needtest.Program(t, "node", "install Node.js 20 or newer")))
	bundles, err := filepath.Glob(filepath.Join(release(t), "*.mcpb"))
	if err != nil || len(bundles) != 6 {
		t.Fatalf("the release has the bundles %q, %v; want 6", bundles, err)
	}
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".mcpb")
		dir := filepath.Join(h.dir, name)
		h.run(mcpb, "unpack", bundle, dir)
		h.run(mcpb, "validate", filepath.Join(dir, "manifest.json"))
		var manifest struct {
			Version string
			Server  struct {
				Entry  string `json:"entry_point"`
				Config struct {
					Command string
					Args    []string
				} `json:"mcp_config"`
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err == nil {
			err = json.Unmarshal(text, &manifest)
		}
		if err != nil || manifest.Version != number {
			t.Errorf("%s has the version %q, %v; want %s", name, manifest.Version, err, number)
		}
		if info, err := os.Stat(filepath.Join(dir, manifest.Server.Entry)); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s has no program at %s: %v", name, manifest.Server.Entry, err)
		}
		if strings.HasSuffix(name, "_"+runtime.GOOS+"_"+runtime.GOARCH) {
			converse(t, h, strings.ReplaceAll(manifest.Server.Config.Command, "${__dirname}", dir), manifest.Server.Config.Args...)
		}
	}
}

// schema returns a published schema out of a Go module.
func schema(t *testing.T, module, file string) *jsonschema.Resolved {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		needtest.Missing(t, fmt.Sprintf("the schema in %s cannot be downloaded (%v, %s)", module, err, out), "connect to the network")
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(found.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// server.json is valid by the schema that it names, and its checksums are those of the bundles.
func TestRegistryEntry(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(release(t), "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	s := schema(t, "github.com/modelcontextprotocol/registry@v1.8.8", "internal/validators/schemas/2025-12-11.json")
	if err := s.Validate(value); err != nil {
		t.Error(err)
	}
	var entry struct {
		Schema   string `json:"$schema"`
		Packages []struct{ RegistryType, Identifier, FileSHA256 string }
	}
	if err := json.Unmarshal(text, &entry); err != nil || entry.Schema != s.Schema().ID {
		t.Errorf("the entry names the schema %s, %v; want %s", entry.Schema, err, s.Schema().ID)
	}
	sums, err := os.ReadFile(filepath.Join(release(t), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	bundles := 0
	for _, p := range entry.Packages {
		if p.RegistryType == "mcpb" {
			bundles++
			if line := p.FileSHA256 + "  " + filepath.Base(p.Identifier) + "\n"; !strings.Contains(string(sums), line) {
				t.Errorf("SHA256SUMS has no line %q", line)
			}
		}
	}
	if bundles != 6 {
		t.Errorf("the entry has %d bundles, want 6", bundles)
	}
}

// The formula is valid Ruby and has the checksums of the archives.
func TestFormula(t *testing.T) {
	t.Parallel()
	file := filepath.Join(release(t), "sequent.rb")
	if out, err := exec.Command(needtest.Program(t, "ruby", "install ruby"), "-wc", file).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "Syntax OK" {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(release(t), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if strings.HasSuffix(name, ".tar.gz") {
			found++
			if !strings.Contains(string(text), "/"+name+"\"\n      sha256 \""+sum+"\"") {
				t.Errorf("the formula lacks %s with %s", name, sum)
			}
		}
	}
	if found != 4 {
		t.Errorf("there are %d archives for macOS and Linux, want 4", found)
	}
}

// The image is there for both architectures, has nothing but the program, and runs as a user
// without rights: over standard input, with sessions that outlive a container, and over HTTP.
func TestImage(t *testing.T) {
	t.Parallel()
	buildah := needtest.Program(t, "buildah", "install buildah")
	h := newHome(t)
	storage := []string{"--root", filepath.Join(h.dir, "root"), "--runroot", filepath.Join(h.dir, "runroot"), "--storage-driver", "vfs"}
	with := func(args ...string) []string { return append(storage[:len(storage):len(storage)], args...) }
	archive := "oci-archive:" + filepath.Join(release(t), "sequent_"+number+".oci.tar")
	policy := filepath.Join(h.dir, "policy.json")
	if err := os.WriteFile(policy, []byte(`{"default":[{"type":"insecureAcceptAnything"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		h.run(buildah, with("pull", "--quiet", "--arch", arch, "--signature-policy", policy, archive)...)
	}
	image := strings.TrimSpace(h.run(buildah, with("pull", "--quiet", "--arch", runtime.GOARCH, "--signature-policy", policy, archive)...))
	var described struct {
		OCIv1 struct {
			Architecture string
			Config       struct {
				User            string
				Entrypoint, Cmd []string
				Labels          map[string]string
			}
		}
	}
	if err := json.Unmarshal([]byte(h.run(buildah, with("inspect", "--type", "image", image)...)), &described); err != nil {
		t.Fatal(err)
	}
	c := described.OCIv1.Config
	if described.OCIv1.Architecture != runtime.GOARCH || c.User != "65532:65532" || strings.Join(c.Entrypoint, " ") != "/sequent" || strings.Join(c.Cmd, " ") != "serve" {
		t.Errorf("the image is for %s and has %+v", described.OCIv1.Architecture, c)
	}
	if got := c.Labels["io.modelcontextprotocol.server.name"]; got != "io.github.sequent-dev/sequent" {
		t.Errorf("the label with the name of the server is %q", got)
	}

	// buildah run needs more rights than a test has, so the files of the image are used as they
	// are, with chroot and the user that the image names.
	container := strings.TrimSpace(h.run(buildah, with("from", "--pull-never", "--signature-policy", policy, image)...))
	root := strings.TrimSpace(h.run(buildah, with("mount", container)...))
	t.Cleanup(func() { _ = exec.Command(buildah, with("umount", container)...).Run() })
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "data sequent tmp" {
		t.Errorf("the image has %q, want data, sequent and tmp", got)
	}
	if os.Getuid() != 0 {
		needtest.Missing(t, "chroot needs root", "run the test as root")
	}
	chroot := append([]string{"--userspec=" + c.User, root}, c.Entrypoint...)
	inside := newHome(t, "/usr/sbin")
	inside.env = append(inside.env, "HOME=/data", "XDG_DATA_HOME=/data", "TMPDIR=/tmp")
	converse(t, inside, "chroot", append(chroot, c.Cmd...)...)
	if out := inside.run("chroot", append(chroot, "list", "--json")...); !strings.Contains(out, "Orders fail at noon") {
		t.Errorf("list in another container printed %s", out)
	}
	cmd := inside.command("chroot", append(chroot, "serve", "--http", "127.0.0.1:0", "--log-level", "info")...)
	var log safeBuffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	url := ""
	for begun := time.Now(); url == "" && time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if _, rest, ok := strings.Cut(log.String(), `msg="serving MCP" url=`); ok && strings.Contains(rest, "\n") {
			url, _, _ = strings.Cut(rest, "\n")
		}
	}
	response, err := http.Get(strings.TrimSuffix(strings.TrimSpace(url), "/mcp") + "/healthz")
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("/healthz answers %s", response.Status)
	}
}

// A release stays within its limits: 45 MB for a program, 15 MB for an archive.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.tar.gz", "*.zip", "*.mcpb", "npm/*.tgz"} {
		files, err := filepath.Glob(filepath.Join(release(t), filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file is %s: %v", pattern, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Size() > 15e6 {
				t.Errorf("%s has %d bytes, want at most 15 MB", filepath.Base(file), info.Size())
			}
		}
	}
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		if info, err := os.Stat(extract(t, newHome(t), goos, goarch, "unpacked")); err != nil || info.Size() > 45e6 {
			t.Errorf("the program for %s has %d bytes, want at most 45 MB: %v", system, info.Size(), err)
		}
	}
}

// A safeBuffer can be read while a process writes to it.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
