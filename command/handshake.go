package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/mcpserver/client"
	"github.com/sequent-dev/sequent/setup"
)

// A contact is a server that answered.
type contact struct {
	name, version string
	tools         []string
}

// errNoToken means that a server was not asked, because the variable with its token is not
// set here. It may be set for the client.
var errNoToken = errors.New("not set in this shell")

// handshake connects to a server as a client does with an entry, and asks it for its tools.
func (p *program) handshake(ctx context.Context, s setup.Server) (c contact, err error) {
	ctx, cancel := context.WithTimeout(ctx, app.ConnectTimeout)
	defer cancel()
	var server *client.Client
	var stderr stderrTail
	if s.URL != "" {
		token := ""
		if s.TokenEnv != "" {
			if token = p.getenv(s.TokenEnv); token == "" {
				return c, fmt.Errorf("%s is %w", s.TokenEnv, errNoToken)
			}
		}
		server, err = client.ConnectHTTP(ctx, s.URL, token)
	} else {
		cmd := exec.Command(s.Command, s.Args...)
		cmd.Env = os.Environ()
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			cmd.Env = append(cmd.Env, name+"="+s.Env[name])
		}
		cmd.Stderr = &stderr
		server, err = client.Connect(ctx, cmd)
	}
	if err == nil {
		c.name, c.version = server.Server()
		specs, failed := server.ListTools(ctx)
		for _, spec := range specs {
			c.tools = append(c.tools, spec.Name)
		}
		_ = server.Close() // it has answered
		err = failed
	}
	if said := stderr.last(); err != nil && said != "" {
		err = fmt.Errorf("the server says: %s", said)
	}
	return c, err
}

// verify reads the entry of a client back from its file and connects to the server that it
// names.
func (j *setupJob) verify(ctx context.Context, r *setupResult) {
	fix := "run " + j.server.Command + " serve in a terminal to see what it says"
	if j.server.URL != "" {
		fix = "check the URL, and the token in " + j.server.TokenEnv
		if j.server.TokenEnv == "" {
			fix = "check the URL; a server of a team wants --token-env"
		}
	}
	entry, ok, err := j.files.Read(r.change.Client, r.change.Project)
	if err == nil && !ok {
		err = errors.New("the entry is not in the file any more")
	}
	if err != nil {
		r.Error, r.Fix = err.Error(), "another program writes the file; close the client and run sequent setup again"
		return
	}
	found, err := j.handshake(ctx, entry)
	if err != nil {
		r.Error, r.Fix = err.Error(), fix
		if errors.Is(err, errNoToken) {
			r.Fix = "the entry is written, but was not tested; set the variable for the client and run sequent doctor"
		}
		return
	}
	r.Verified, r.Server, r.Version, r.Tools = true, found.name, found.version, found.tools
}

// stderrTail keeps the end of what a server writes to its standard error.
type stderrTail struct {
	mu   sync.Mutex
	text []byte
}

// Limits of what is kept of it, in bytes, and shown, in lines.
const (
	tailSize  = 4096
	tailLines = 3
)

// Write appends text and drops what is too old.
func (t *stderrTail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if len(t.text) > tailSize {
		t.text = t.text[len(t.text)-tailSize:]
	}
	return len(text), nil
}

// last returns the last lines as one.
func (t *stderrTail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}
