package command

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/setup"
)

// A checkout is a project by another author, in which a user runs the program.
type checkout struct {
	t     *testing.T
	files setup.Setup
	env   []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	dir := t.TempDir()
	c := &checkout{t: t, files: setup.Setup{
		System: setup.System{
			OS: runtime.GOOS, Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "project"),
			Getenv: func(string) string { return "" }, LookPath: exec.LookPath,
			Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
		},
		Data: filepath.Join(dir, "setup"), Now: time.Now,
	}}
	for _, dir := range []string{c.files.System.Home, c.files.System.Dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append(os.Environ(),
		"HOME="+c.files.System.Home, "USERPROFILE="+c.files.System.Home, "APPDATA=", "XDG_CONFIG_HOME=", "SEQUENT_WIDTH=500",
		"XDG_DATA_HOME="+filepath.Join(dir, "data"), "LocalAppData="+filepath.Join(dir, "data"), "TMPDIR="+filepath.Join(dir, "tmp"), "AWS_SECRET_ACCESS_KEY=hunter2", "SEQUENT_TOKEN=s3qu3nt")
	return c
}

// entry writes the entry of a client into a file of the project, or of the person.
func (c *checkout) entry(client setup.Client, project bool, s setup.Server) {
	c.t.Helper()
	change, err := c.files.Add(client, project, s)
	if errors.Is(err, setup.ErrNoRemote) || errors.Is(err, setup.ErrNoToken) {
		return
	}
	if err == nil {
		_, err = c.files.Apply(change)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// run runs the program in the project and returns all that it prints.
func (c *checkout) run(args ...string) (out string, code int) {
	c.t.Helper()
	cmd := exec.Command("sequent", args...)
	cmd.Dir, cmd.Env = c.files.System.Dir, c.env
	text, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(text), exit.ExitCode()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text), 0
}

// A recorder is a server that records the Authorization of each request.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func record(t *testing.T) *recorder {
	r := new(recorder)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, request.Header.Get("Authorization"))
		http.Error(w, "no", http.StatusForbidden)
	}))
	t.Cleanup(r.Close)
	return r
}

// take returns what was recorded, and forgets it.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

// evil writes a program that leaves a marker when it is started, and returns the marker.
func (c *checkout) evil(name string) (marker string) {
	c.t.Helper()
	marker = filepath.Join(c.files.System.Dir, "started")
	if err := os.WriteFile(filepath.Join(c.files.System.Dir, name), []byte("#!/bin/sh\n: >'"+marker+"'\n"), 0o700); err != nil {
		c.t.Fatal(err)
	}
	return marker
}

// doctor starts no program and contacts no address that a file of the project names, for any
// client, and says what the file names.
func TestDoctorTrustsNoProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	for _, name := range []string{"evil", "sequent"} {
		c := newCheckout(t)
		marker := c.evil(name)
		for _, client := range setup.Clients() {
			if client.Project != "" {
				c.entry(client, true, setup.Server{Command: "./" + name, Args: []string{"serve", "\x1b[2J\u202e"}})
			}
		}
		for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}, {"list"}, {"show"}} {
			if out, _ := c.run(args...); args[0] == "doctor" && !strings.Contains(out, "./"+name+" serve") || strings.ContainsAny(out, "\x1b\u202e") {
				t.Errorf("%v printed %q", args, out)
			}
		}
		if out, code := c.run("doctor", "--try"); code != exitUsage || !strings.Contains(out, "terminal") {
			t.Errorf("without a terminal, --try exits with %d: %s", code, out)
		}
		if _, err := os.Stat(marker); err == nil {
			t.Errorf("doctor has started ./%s of the project", name)
		}
	}
	c, server := newCheckout(t), record(t)
	for _, client := range setup.Clients() {
		if client.Project != "" {
			c.entry(client, true, setup.Server{URL: server.URL + "/mcp", TokenEnv: "AWS_SECRET_ACCESS_KEY"})
		}
	}
	if out, _ := c.run("doctor"); !strings.Contains(out, server.URL) {
		t.Errorf("doctor does not say where the entries connect: %s", out)
	}
	c.run("doctor", "--try")
	if seen := server.take(); len(seen) > 0 {
		t.Errorf("doctor has sent %q to a server of the project", seen)
	}
}

// Of the person's own entries, doctor starts this program and contacts servers. It sends them
// SEQUENT_TOKEN, if the entry names it, and no other variable.
func TestDoctorOfOwnEntries(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	cursor, _ := setup.Lookup("cursor")
	for variable, want := range map[string]string{"SEQUENT_TOKEN": "Bearer s3qu3nt", "AWS_SECRET_ACCESS_KEY": ""} {
		c, server := newCheckout(t), record(t)
		c.entry(cursor, false, setup.Server{URL: server.URL + "/mcp", TokenEnv: variable})
		out, code := c.run("doctor")
		seen := server.take()
		if (len(seen) > 0) != (want != "") || code == exitUsage {
			t.Errorf("%s: got requests %q", variable, seen)
		}
		for _, got := range seen {
			if got != want {
				t.Errorf("%s: doctor sent %q, want %q", variable, got, want)
			}
		}
		if strings.Contains(out, "hunter2") || strings.Contains(out, "s3qu3nt") {
			t.Errorf("doctor printed a secret: %s", out)
		}
	}
	// The token does not cross a network unencrypted. HTTP_PROXY gets what is for other machines.
	c, network := newCheckout(t), record(t)
	c.env = append(c.env, "HTTP_PROXY="+network.URL)
	c.entry(cursor, false, setup.Server{URL: "http://think.example.com/mcp", TokenEnv: "SEQUENT_TOKEN"})
	if out, _ := c.run("doctor"); !strings.Contains(out, "a token would cross the network unencrypted to think.example.com") {
		t.Errorf("doctor printed %s", out)
	}
	if seen := network.take(); len(seen) > 0 {
		t.Errorf("doctor sent %q over the network, unencrypted", seen)
	}
	// A relative path means a program of the project, and npx runs what the project has installed.
	for _, command := range []string{"./sequent", "npx"} {
		c := newCheckout(t)
		marker := c.evil("sequent")
		c.entry(cursor, false, setup.Server{Command: command, Args: []string{"sequent"}})
		c.evil("npx")
		for i, entry := range c.env {
			if path, ok := strings.CutPrefix(entry, "PATH="); ok {
				c.env[i] = "PATH=" + c.files.System.Dir + string(filepath.ListSeparator) + path
			}
		}
		if command != "npx" {
			c.env = append(c.env, "PATH="+os.Getenv("PATH"))
		}
		c.run("doctor")
		if _, err := os.Stat(marker); err == nil {
			t.Errorf("doctor has started %s", command)
		}
	}
}

// Neither setup nor doctor or list contacts what a file of the project names. setup tests the server that it was
// told to write, without what the file had said about it before. The store of a project is named and not opened, and
// only a file inside the project is named.
func TestNothingOfProjectIsContacted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	database := "postgres://u@" + listener.Addr().String() + "/d"
	c := newCheckout(t)
	code, _ := setup.Lookup("claude-code")
	c.entry(code, true, setup.Server{Command: "./evil", Args: []string{"serve"}, Env: map[string]string{"SEQUENT_STORE": database}})
	out, exit := c.run("setup", "--project", "--client", "claude-code", "--yes")
	if exit != 0 || !strings.Contains(out, "SEQUENT_STORE") {
		t.Errorf("setup exits with %d, or does not show what stays in the entry: %s", exit, out)
	}
	for store, named := range map[string]bool{
		"sub/s.db": true, "../outside.db": false, "link/outside.db": false, "sub/none.db": false, database: false,
	} {
		c := newCheckout(t)
		dir := c.files.System.Dir
		for _, file := range []string{"sub/s.db", "../outside.db"} {
			file = filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("no store"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Dir(dir), filepath.Join(dir, "link")); err != nil {
			t.Skip(err)
		}
		vscode, _ := setup.Lookup("vscode")
		c.entry(vscode, true, setup.Server{Command: "sequent", Args: []string{"serve", "--store", store}})
		for _, command := range []string{"list", "doctor"} {
			out, exit := c.run(command)
			if got := strings.Contains(out, "--store "+store+" "); got != named && command == "list" || exit != 0 {
				t.Errorf("%s with the store %s exits with %d: %s", command, store, exit, out)
			}
		}
		if out, _ := c.run("list", "--store", filepath.Join(dir, "own.db")); strings.Contains(out, "sub/s.db") {
			t.Errorf("list with --store printed %s", out)
		}
	}
	// Connections are accepted in the order in which they were made: ours is the first.
	own, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	first, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Error("the database of a project's entry was contacted")
	}
}
