// Package docs tests that the documentation is true: its commands are run, its
// names are looked up.
package docs

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
)

const root = "../.."

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Every dialect has a row with its tools, which are those of the reference.
func TestDialects(t *testing.T) {
	t.Parallel()
	text, reference := page(t, "choosing.md"), page(t, "reference/dialects.md")
	text, _, _ = strings.Cut(text, "\n### ") // what follows compares some with another server
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| [^|]+ \\| `(\\w+)` \\| ([^|]+) \\|").FindAllStringSubmatch(text, -1) {
		rows = append(rows, m[1])
		_, section, ok := strings.Cut(reference, "\n## "+m[1]+"\n")
		if !ok {
			t.Errorf("the reference has no dialect %s", m[1])
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, tool := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[2], -1) {
			if !strings.Contains(section, "### Tool `"+tool[1]+"`") {
				t.Errorf("dialect %s has no tool %s", m[1], tool[1])
			}
		}
	}
	if !slices.Equal(rows, (app.Config{}).Names()) {
		t.Errorf("the page has the dialects %q, want %q", rows, (app.Config{}).Names())
	}
}

// The page names every adapter, and its packages exist.
func TestNames(t *testing.T) {
	t.Parallel()
	text := page(t, "embed.md")
	packages := regexp.MustCompile("`(?:github.com/sequent-dev/sequent/)?((?:adapters|agent|store|dialect)(?:/\\w+)?)`").FindAllStringSubmatch(text, -1)
	if len(packages) < 5 {
		t.Errorf("the page names only %d packages", len(packages))
	}
	for _, m := range packages {
		if files, err := filepath.Glob(filepath.Join(root, m[1], "*.go")); err != nil || len(files) == 0 {
			t.Errorf("the page names the package %s, which does not exist (%v)", m[1], err)
		}
	}
	adapters, err := filepath.Glob(filepath.Join(root, "adapters", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range adapters {
		if a := "adapters/" + filepath.Base(filepath.Dir(file)); !strings.Contains(text, a+"`") {
			t.Errorf("the page does not name %s", a)
		}
	}
}

// commands returns the commands of a text, one a line: those of its blocks of sh. What
// follows a # is a comment.
func commands(text string) (list []string) {
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(m[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				list = append(list, line)
			}
		}
	}
	return list
}

// words splits a command as a shell does that knows quotes only.
func words(command string) (list []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(command, -1) {
		list = append(list, m[1]+m[2]+m[3])
	}
	return list
}

// A home is the home directory of a reader of a page: with the session of sequent
// demo, which alice has as well, a token, a pair of keys, a folder of notes and one of session files.
type home struct {
	t       *testing.T
	dir     string
	program string
	session string // its id
}

func newHome(t *testing.T, program string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), program: program}
	h.run("", "demo", "--fast")
	h.run("", "server", "token", "new", "alice", "--file", "tokens")
	h.session = h.field("id", "list", "--json")
	for _, dir := range []string{"Notes", "Documents/thinking", ".cursor"} { // Cursor is installed
		if err := os.MkdirAll(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.run("", "export", h.session, "-o", filepath.Join(h.dir, "Documents/thinking/session.json"))
	h.run("", "import", filepath.Join(h.dir, "Documents/thinking/session.json"), "--owner", "alice")
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for file, key := range map[string]any{"key.pem": private, "public.pem": public} {
		block := pem.Block{Type: "PRIVATE KEY"}
		if key, ok := key.(ed25519.PublicKey); ok {
			block.Type = "PUBLIC KEY"
			block.Bytes, err = x509.MarshalPKIXPublicKey(key)
		} else {
			block.Bytes, err = x509.MarshalPKCS8PrivateKey(private)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(h.dir, file), pem.EncodeToMemory(&block), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// env returns the environment of commands there. Entries of a project start the copy of the
// program that setup made.
func (h *home) env() []string {
	path := filepath.Join(h.dir, "sequent", "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	return append(os.Environ(), "PATH="+path, "HOME="+h.dir, "USERPROFILE="+h.dir, "XDG_DATA_HOME="+h.dir, "XDG_CONFIG_HOME=", "APPDATA="+h.dir, "LocalAppData="+h.dir, "LANG=C.UTF-8", "LC_ALL=")
}

// run runs the program there, which must succeed, and returns its output.
func (h *home) run(in string, args ...string) string {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Dir, cmd.Env = h.dir, h.env()
	cmd.Stdin = strings.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		h.t.Errorf("%q: %v\n%s%s", args, err, out, &stderr)
	}
	return string(out)
}

// field returns the first member of a name in what a command prints as JSON.
func (h *home) field(name string, args ...string) string {
	h.t.Helper()
	out := h.run("", args...)
	m := regexp.MustCompile(`"` + name + `": *"([^"]*)"`).FindStringSubmatch(out)
	if m == nil {
		h.t.Fatalf("%q prints no %s: %s", args, name, out)
	}
	return m[1]
}

// The commands of the pages are run, in their order. Servers are started, and
// serve what the page says. What would need a model, a terminal, a database, a network or
// another person's files is asked for its help, for which its arguments have to be
// right too.
func TestCommands(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("found the pages %q: %v", pages, err)
	}
	seen := 0
	for _, file := range append(pages, filepath.Join(root, "docs/reference/format.md"), filepath.Join(root, "README.md")) {
		name, err := filepath.Rel(filepath.Join(root, "docs"), file)
		if err != nil {
			t.Fatal(err)
		}
		list := slices.DeleteFunc(commands(page(t, name)), func(c string) bool { return !strings.HasPrefix(c, "sequent ") })
		seen += len(list)
		if len(list) == 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, program)
			for _, command := range list {
				h.try(words(command)[1:])
			}
		})
	}
	if seen < 50 {
		t.Errorf("the pages have only %d commands", seen)
	}
}

// try runs a command of a page.
func (h *home) try(args []string) {
	h.t.Helper()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	elsewhere := func(arg string) bool {
		return strings.HasPrefix(arg, "postgres://") || strings.HasPrefix(arg, "https://") || strings.HasPrefix(arg, "~/maenifold") || strings.HasPrefix(arg, "/srv/")
	}
	at := slices.Index(args, "--http")
	switch {
	case slices.ContainsFunc(args, elsewhere), slices.Contains([]string{"watch", "view", "think", "plan"}, args[0]):
		if got := h.run("", append(args, "--help")...); !strings.Contains(got, "sequent "+args[0]) {
			h.t.Errorf("%q has the help %s", args, got)
		}
	case at > 0:
		args = slices.Delete(slices.Clone(args), at, at+2)         // on a port of the test's
		for _, flag := range []string{"--tls-cert", "--tls-key"} { // readers have a certificate
			if i := slices.Index(args, flag); i > 0 {
				args = slices.Delete(args, i, i+2)
			}
		}
		if i := slices.Index(args, "--metrics"); i > 0 {
			args[i+1] = "127.0.0.1:0" // on a port of the test's
		}
		if i := slices.Index(args, "--auth"); i > 0 {
			args[i+1] = filepath.Join(h.dir, args[i+1])
		}
		url := programtest.ServeHTTP(h.t, h.program, append(args[1:], "--store", "memory")...)
		endpoints(h.t, url, args)
	case args[0] == "setup" || args[0] == "remove":
		if args[0] == "setup" && !slices.Contains(args, "--client") {
			args = append(args, "--all")
		}
		h.run("", append(args, "--yes")...) // there is no terminal to ask at
	case args[0] == "serve":
		if got := h.run(ping, args...); !strings.Contains(got, `"id":1`) {
			h.t.Errorf("%q answers a ping with %s", args, got)
		}
	default:
		isID := func(arg string) bool { return arg == "ID" || strings.HasPrefix(arg, "ID#") }
		if i := slices.IndexFunc(args, isID); i > 0 {
			args[i] = h.session + strings.TrimPrefix(args[i], "ID")
			if args[1] == "token" {
				args[i] = h.field("id", "server", "token", "list", "--json", "--file", "tokens")
			}
		}
		if i := slices.Index(args, "HEAD"); i > 0 {
			args[i] = h.field("head", "store", "verify", h.session, "--json")
		}
		for i, arg := range args {
			if rest, ok := strings.CutPrefix(arg, "~/"); ok {
				args[i] = filepath.Join(h.dir, rest)
			}
		}
		if args[0] == "delete" {
			args = append(args, "--yes") // there is no terminal to ask at
		}
		h.run("", args...)
	}
}

// endpoints checks that each dialect has an endpoint, and that tokens are needed if the command says so.
func endpoints(t *testing.T, url string, args []string) {
	t.Helper()
	want := http.StatusBadRequest // the dialect is there, and the message is none
	if slices.Contains(args, "--auth") {
		want = http.StatusUnauthorized
	}
	for _, name := range append((app.Config{}).Names(), "") {
		res, err := http.Post(strings.TrimSuffix(url+"/"+name, "/"), "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q at %s/%s: got %s, want %d", args, url, name, res.Status, want)
		}
	}
}
