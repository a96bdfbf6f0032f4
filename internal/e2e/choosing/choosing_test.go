// Package choosing tests that the commands and names in docs/choosing.md are
// correct.
package choosing

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/e2e/programtest"
)

const root = "../../.."

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Every dialect has a row with its tools and a link.
func TestDialects(t *testing.T) {
	t.Parallel()
	text := page(t, "choosing.md")
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| [^|]+ \\| `(\\w+)` \\| ([^|]+) \\|").FindAllStringSubmatch(text, -1) {
		rows = append(rows, m[1])
		reference := page(t, "reference/dialect-"+m[1]+".md")
		for _, tool := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[2], -1) {
			if !strings.Contains(reference, "## Tool `"+tool[1]+"`") {
				t.Errorf("dialect %s has no tool %s", m[1], tool[1])
			}
		}
		if !strings.Contains(text, "["+m[1]+"](reference/dialect-"+m[1]+".md)") {
			t.Errorf("the page has no link to the reference of %s", m[1])
		}
	}
	if !slices.Equal(rows, app.Dialects()) {
		t.Errorf("the page has the dialects %q, want %q", rows, app.Dialects())
	}
}

// The targets of links and the named packages exist.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"choosing.md", "go-frameworks.md"} {
		text := page(t, name)
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, "docs", m[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
		packages := regexp.MustCompile("`(?:github.com/sequent-dev/sequent/)?((?:adapters|agent|store|dialect)(?:/\\w+)?)`").FindAllStringSubmatch(text, -1)
		if len(packages) < 5 {
			t.Errorf("%s names only %d packages", name, len(packages))
		}
		for _, m := range packages {
			if files, err := filepath.Glob(filepath.Join(root, m[1], "*.go")); err != nil || len(files) == 0 {
				t.Errorf("%s names the package %s, which does not exist (%v)", name, m[1], err)
			}
		}
		adapters, err := filepath.Glob(filepath.Join(root, "adapters", "*", "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range adapters {
			if a := "adapters/" + filepath.Base(filepath.Dir(file)); !strings.Contains(text, a+"`") {
				t.Errorf("%s does not name %s", name, a)
			}
		}
	}
}

// commands returns the commands of the page.
func commands(t *testing.T) (list []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page(t, "choosing.md"), -1) {
		for line := range strings.Lines(m[1]) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	if len(list) < 10 {
		t.Fatalf("the page has only %d commands: %q", len(list), list)
	}
	return list
}

// words splits a command line. It supports only double quotes.
func words(command string) (list []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(command, -1) {
		list = append(list, m[1]+m[2])
	}
	return list
}

// TestCommands runs the commands. Those that need a model or a terminal run with
// --help, which also checks their flags.
func TestCommands(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	dir := t.TempDir()
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir, "XDG_DATA_HOME="+dir, "LocalAppData="+dir)
		cmd.Stdin = strings.NewReader(in)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%q: %v\n%s%s", args, err, out, &stderr)
		}
		return string(out)
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	for _, command := range commands(t) {
		args := words(command)
		if args[0] != "sequent" {
			t.Errorf("%q is not a command of sequent", command)
			continue
		}
		args = args[1:]
		at := slices.Index(args, "--http")
		switch {
		case at > 0:
			args = slices.Delete(slices.Clone(args), at, at+2) // use a free port instead
			if i := slices.Index(args, "--auth"); i > 0 {
				args[i+1] = filepath.Join(dir, args[i+1])
			}
			url := programtest.ServeHTTP(t, program, append(args[1:], "--store", "memory")...)
			endpoints(t, url, args)
		case args[0] == "serve":
			if got := run(ping, args...); !strings.Contains(got, `"id":1`) {
				t.Errorf("%s: ping: got %s", command, got)
			}
		case args[0] == "token":
			run("", args...)
		default:
			if got := run("", append(args, "--help")...); !strings.Contains(got, "sequent "+args[0]) {
				t.Errorf("%s: got help %s", command, got)
			}
		}
	}
}

// endpoints checks that each dialect has an endpoint and that the chosen one is at
// /mcp.
func endpoints(t *testing.T, url string, args []string) {
	t.Helper()
	res, err := http.Get(strings.TrimSuffix(url, "/mcp") + "/nosuch")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(args, "--auth") {
		res, err := http.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: request without a token: got %s, want 401", args, res.Status)
		}
		return
	}
	chosen := app.Dialects()[0]
	if i := slices.Index(args, "--dialect"); i > 0 {
		chosen = args[i+1]
	}
	if !strings.Contains(string(body), "/mcp ("+chosen+")") {
		t.Errorf("%q serves %s, want %s at /mcp", args, body, chosen)
	}
	for _, name := range app.Dialects() {
		if !strings.Contains(string(body), "/mcp/"+name) {
			t.Errorf("%q serves %s, want /mcp/%s", args, body, name)
		}
	}
}
