// Package kit tests docs/write-a-dialect.md as its reader follows it: a module of its
// own with a dialect, and a main of ten lines that serves it.
package kit

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

const (
	root    = "../.."
	example = "e2e/example/journal"
	module  = "example.com/journal"
	sequent = "github.com/sequent-dev/sequent"
	timeout = 5 * time.Minute // of the go command and of the program
)

// A tree is the directory of a module.
type tree struct {
	t   *testing.T
	dir string
}

func (m tree) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// run runs the go command in the module, without the network.
func (m tree) run(args ...string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	programtest.Output(m.t, cmd)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// newModule returns a module with the example as the guide describes it: the package
// with its tests, main.go from the guide, and this tree as the module sequent.
func newModule(t *testing.T) tree {
	m := tree{t, t.TempDir()}
	source := filepath.Join(root, filepath.FromSlash(example))
	err := filepath.WalkDir(source, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(source, file)
		m.write(filepath.ToSlash(name), strings.ReplaceAll(read(t, file), sequent+"/"+example, module))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	guide := read(t, filepath.Join(root, "docs", "write-a-dialect.md"))
	shown := regexp.MustCompile("(?s)<!-- file: main.go -->\n```go\n(.*?)```").FindStringSubmatch(guide)
	if shown == nil {
		t.Fatal("the guide shows no main.go")
	}
	if lines := strings.Split(regexp.MustCompile(`\n\s*\n`).ReplaceAllString(strings.TrimSpace(shown[1]), "\n"), "\n"); len(lines) > 10 {
		t.Errorf("main.go of the guide has %d lines, want at most 10", len(lines))
	}
	m.write("cmd/sequent/main.go", shown[1])

	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	// The versions of this tree are those that go get would choose.
	versions := strings.Replace(read(t, filepath.Join(root, "go.mod")), "module "+sequent+"\n", "module "+module+"\n", 1)
	m.write("go.mod", versions+"\nrequire "+sequent+" v0.0.0\n\nreplace "+sequent+" => "+filepath.ToSlash(top)+"\n")
	m.write("go.sum", read(t, filepath.Join(root, "go.sum")))
	return m
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func TestOwnDialect(t *testing.T) {
	m := newModule(t)
	m.run("vet", "./...")
	m.run("test", "-timeout", "4m", "./...")
	program := filepath.Join(m.dir, "sequent.exe")
	m.run("build", "-o", program, "./cmd/sequent")

	t.Run("stdio", func(t *testing.T) { overStdio(t, program) })
	t.Run("HTTP", func(t *testing.T) { overHTTP(t, program) })
}

func overStdio(t *testing.T, program string) {
	store := filepath.Join(t.TempDir(), "sequent.db")
	p := programtest.Start(t, time.Minute, program, "serve", "--dialect", "journal", "--store", store)
	p.Ask(t, initialize)
	p.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	call := func(args string) string {
		return p.Ask(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"journal","arguments":`+args+`}}`)
	}
	call(`{"entry":"The cache is cold."}`)
	if got := call(`{"entry":"Warm it."}`); !strings.Contains(got, `"entries":2`) {
		t.Errorf("the second call is answered with %s", got)
	}
	if got := call(`{"entry":7}`); !strings.Contains(got, "INVALID_ARGUMENT") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("a wrong argument is answered with %s", got)
	}
	p.Close(t)

	// The other commands know the sessions and the dialect.
	list := command(t, program, "list", "--store", store, "--json")
	var listed struct {
		Sessions []struct{ Dialect, Title string }
	}
	if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Sessions) != 1 || listed.Sessions[0].Dialect != "journal" {
		t.Errorf("list prints %s (%v), want one session of the dialect journal", list, err)
	}
	if help := command(t, program, "serve", "--help"); !strings.Contains(help, "wiki, journal") {
		t.Errorf("serve --help does not list the dialect:\n%s", help)
	}
	if got := command(t, program, "version"); !strings.HasPrefix(got, "sequent dev ") {
		t.Errorf("version prints %q", got)
	}
}

// overHTTP checks that the dialect has its own URL beside the dialects of sequent.
func overHTTP(t *testing.T, program string) {
	url := programtest.ServeHTTP(t, program, "--store", "memory")
	client := http.Client{Timeout: time.Minute}
	for _, name := range []string{"journal", "standard"} {
		got, err := programtest.Do(&client, programtest.Older(t, url+"/"+name, "", "", initialize))
		if err != nil || got.Status != http.StatusOK || !strings.Contains(got.Body, "serverInfo") {
			t.Errorf("/mcp/%s answers %+v, %v", name, got, err)
		}
	}
}

// command returns what a command of the program prints.
func command(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return string(programtest.Output(t, exec.CommandContext(ctx, program, args...)))
}
