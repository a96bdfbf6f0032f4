package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// The program connects to nothing: neither a server on standard input nor a command, with the
// defaults of a person who has just installed it.
func TestNothingIsSent(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	strace := needtest.Program(t, "strace", "apt-get install strace")
	home := t.TempDir()
	const input = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"heron","nextThoughtNeeded":false}}}
`
	for _, args := range []string{"serve", "list", "search heron", "doctor", "version"} {
		log := filepath.Join(home, "strace")
		cmd := exec.CommandContext(t.Context(), strace, append([]string{"-f", "-qq", "-o", log, "-e", "trace=connect,sendto,sendmsg", "sequent"}, strings.Fields(args)...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
		cmd.Dir, cmd.Stdin = home, strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", args, err, out)
		}
		calls, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(calls) {
			if bytes.Contains(line, []byte("AF_INET")) || bytes.Contains(line, []byte("send")) {
				t.Errorf("%s: %s", args, line)
			}
		}
	}
}
