package packages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// serveFiles serves the files of a release; edit changes some of them.
func serveFiles(t *testing.T, edit func(name string, content []byte) []byte) string {
	t.Helper()
	dir := release(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		content, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if edit != nil {
			content = edit(name, content)
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// installed returns where install.sh puts the program.
func (h *home) installed() string {
	return filepath.Join(h.dir, ".local", "share", "sequent", "bin", "sequent")
}

// The script installs the program where sequent setup would copy it, with curl or with wget,
// twice as well as once, and says how to go on.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"curl", "wget"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			file := needtest.Program(t, client, "install "+client)
			tools := t.TempDir()
			for _, name := range []string{"uname", "mkdir", "mktemp", "rm", "grep", "sha256sum", "cut", "tar", "gzip", "mv", "ln", "sh"} {
				if err := os.Symlink(needtest.Program(t, name, "install coreutils"), filepath.Join(tools, name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(file, filepath.Join(tools, client)); err != nil {
				t.Fatal(err)
			}
			h := newHome(t)
			h.env = append(h.env, "PATH="+tools, "SEQUENT_BASE_URL="+serveFiles(t, nil))
			script := filepath.Join(release(t), "install.sh")
			for range 2 {
				out := h.run("sh", script)
				for _, want := range []string{"installed sequent " + version, "in " + h.installed(), `export PATH="` + filepath.Dir(h.installed()) + `:$PATH"`, `"` + h.installed() + `" setup`} {
					if !strings.Contains(out, want) {
						t.Errorf("install.sh printed\n%s, without %q", out, want)
					}
				}
			}
			entries, err := os.ReadDir(filepath.Dir(h.installed()))
			if err != nil || len(entries) != 1 {
				t.Errorf("the folder of the program has %v, %v; want the program alone", entries, err)
			}
			converse(t, h, h.installed(), "serve")
		})
	}
}

// Where ~/.local/bin is on the PATH already, a link there makes the program a command. A file
// of that name that is no link is left alone.
func TestInstallScriptLinks(t *testing.T) {
	t.Parallel()
	for _, occupied := range []bool{false, true} {
		h := newHome(t)
		bin := filepath.Join(h.dir, ".local", "bin")
		h.env = append(h.env, "PATH="+bin+":/usr/bin:/bin", "SEQUENT_BASE_URL="+serveFiles(t, nil))
		link := filepath.Join(bin, "sequent")
		if occupied {
			if err := os.MkdirAll(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(link, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out := h.run("sh", filepath.Join(release(t), "install.sh"))
		if !strings.HasSuffix(out, "\n  sequent setup\n") || strings.Contains(out, "export PATH") {
			t.Errorf("install.sh printed\n%s", out)
		}
		if target, err := os.Readlink(link); occupied != (err != nil) || !occupied && target != h.installed() {
			t.Errorf("with a file in its place: %v: the link leads to %q, %v", occupied, target, err)
		}
	}
}

// A wrong archive, a wrong list and a missing one are refused, and what is installed stays.
func TestInstallScriptRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		edit       func(name string, content []byte) []byte
	}{
		{"another archive", "has the checksum", func(name string, content []byte) []byte {
			if strings.HasSuffix(name, ".tar.gz") {
				content = append([]byte{}, content...)
				content[len(content)/2] ^= 1
			}
			return content
		}},
		{"half an archive", "has the checksum", func(name string, content []byte) []byte {
			if strings.HasSuffix(name, ".tar.gz") {
				content = content[:len(content)/2]
			}
			return content
		}},
		{"a list without the system", "has no archive for", func(name string, content []byte) []byte {
			if name == "SHA256SUMS" {
				content = []byte("no sums\n")
			}
			return content
		}},
		{"no list", "cannot download", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			base := serveFiles(t, tt.edit)
			if tt.edit == nil {
				gone := httptest.NewServer(http.NotFoundHandler())
				t.Cleanup(gone.Close)
				base = gone.URL
			}
			h.env = append(h.env, "SEQUENT_BASE_URL="+base)
			if err := os.MkdirAll(filepath.Dir(h.installed()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.installed(), []byte("before"), 0o700); err != nil {
				t.Fatal(err)
			}
			out, err := h.command("sh", filepath.Join(release(t), "install.sh")).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "sequent was not installed: ") || !strings.Contains(string(out), tt.want) {
				t.Errorf("install.sh ended with %v and printed\n%s, want %q", err, out, tt.want)
			}
			if got, err := os.ReadFile(h.installed()); err != nil || string(got) != "before" {
				t.Errorf("the program that was there is now %.20q, %v", got, err)
			}
			if entries, err := os.ReadDir(filepath.Dir(h.installed())); err != nil || len(entries) != 1 {
				t.Errorf("what is left is %v, %v", entries, err)
			}
		})
	}
}

// install.sh has no warning of shellcheck, and install.ps1 is valid PowerShell. It is parsed only:
// there is no PowerShell for this test to run it.
func TestScriptsAreClean(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs(filepath.Join("..", "..", "packaging"))
	if err != nil {
		t.Fatal(err)
	}
	shellcheck := needtest.Program(t, "shellcheck", "install shellcheck")
	if out, err := exec.Command(shellcheck, "--shell=sh", filepath.Join(folder, "install.sh")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join("node_modules", "web-tree-sitter")); err != nil {
		needtest.Missing(t, "the npm packages of e2e/packages are not installed", "run make npm")
	}
	node := needtest.Program(t, "node", "install Node.js 20 or newer")
	if out, err := exec.Command(node, "powershell.mjs", filepath.Join(folder, "install.ps1")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "install.ps1"))
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.ps1")
	if err := os.WriteFile(broken, []byte(strings.Replace(string(text), "switch ($machine) {", "switch ($machine {", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(node, "powershell.mjs", broken).Run(); err == nil {
		t.Error("the parser accepts a script with a mistake")
	}
}
