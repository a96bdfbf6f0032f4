package programtest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A Process is spoken to in lines.
type Process struct {
	name   string
	cmd    *exec.Cmd
	cancel func()
	in     io.WriteCloser
	out    *bufio.Reader
	err    bytes.Buffer
}

// Start starts a process with an empty home, which does not draw thoughts, and
// has to be done within a time. The caller must End it.
func Start(t testing.TB, within time.Duration, name string, args ...string) *Process {
	t.Helper()
	// Beyond t.Context, which is done before what cleans up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), within)
	p := &Process{name: name, cmd: exec.CommandContext(ctx, name, args...), cancel: cancel}
	home := t.TempDir()
	p.cmd.Env = append(os.Environ(), "DISABLE_THOUGHT_LOGGING=true", "HOME="+home, "USERPROFILE="+home)
	p.cmd.Stderr = &p.err
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

// End ends the input of the process, with which it has to end in peace.
func (p *Process) End(t testing.TB) {
	t.Helper()
	defer p.cancel()
	if err := p.in.Close(); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", p.name, err, &p.err)
	}
}

// Tell sends a line.
func (p *Process) Tell(t testing.TB, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatalf("%v\n%s", err, &p.err)
	}
}

// Ask sends a line and returns the one that answers it.
func (p *Process) Ask(t testing.TB, line string) string {
	t.Helper()
	p.Tell(t, line)
	reply, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("no answer to %.300s: %v\n%s", line, err, &p.err)
	}
	return strings.TrimSuffix(reply, "\n")
}
