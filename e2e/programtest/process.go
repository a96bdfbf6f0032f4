package programtest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A Process is a running program that exchanges lines with the test.
type Process struct {
	name   string
	cmd    *exec.Cmd
	cancel func()
	in     io.WriteCloser
	out    *bufio.Reader
	err    bytes.Buffer
}

// Start starts a process with an empty home directory. It is killed after timeout.
// The caller must call Close.
func Start(t testing.TB, timeout time.Duration, name string, args ...string) *Process {
	t.Helper()
	home := t.TempDir()
	return StartIn(t, timeout, "", append(os.Environ(), "DISABLE_THOUGHT_LOGGING=true", "HOME="+home, "USERPROFILE="+home), name, args...)
}

// StartIn is [Start] with a directory, which is that of the test if it is empty, and an environment. It starts a process that ends with the test.
func StartIn(t testing.TB, timeout time.Duration, dir string, env []string, name string, args ...string) *Process {
	t.Helper()
	// WithoutCancel, because t.Context is done before cleanup functions run.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout)
	t.Cleanup(cancel)
	p := &Process{name: name, cmd: exec.CommandContext(ctx, name, args...), cancel: cancel}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, &p.err
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p
}

// Signal sends a signal and returns the exit code.
func (p *Process) Signal(t testing.TB, s os.Signal) int {
	t.Helper()
	defer p.cancel()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait() // its code is returned
	return p.cmd.ProcessState.ExitCode()
}

// Close closes the input of the process and checks that it exits with code 0.
func (p *Process) Close(t testing.TB) {
	t.Helper()
	defer p.cancel()
	if err := p.in.Close(); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", p.name, err, &p.err)
	}
}

// Send sends a line.
func (p *Process) Send(t testing.TB, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatalf("%v\n%s", err, &p.err)
	}
}

// Ask sends a line and returns the next line of output.
func (p *Process) Ask(t testing.TB, line string) string {
	t.Helper()
	p.Send(t, line)
	reply, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%.300s: no answer: %v\n%s", line, err, &p.err)
	}
	return strings.TrimSuffix(reply, "\n")
}

// FreePort returns a port of 127.0.0.1 on which no program listens now.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
