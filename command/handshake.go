package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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
// set here, or is not tokenVariable. It may be set for the client.
var errNoToken = errors.New("so the connection was not tested")

// handshake connects to a server as a client does with an entry, and asks it for its tools.
func (p *program) handshake(ctx context.Context, s setup.Server) (c contact, err error) {
	ctx, cancel := context.WithTimeout(ctx, app.ConnectTimeout)
	defer cancel()
	var server *client.Client
	var stderr tailWriter
	if s.URL != "" {
		var token string
		if token, err = p.tokenFor(s); err == nil {
			server, err = client.ConnectHTTP(ctx, s.URL, token)
		}
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

// tokenFor returns the token for a server, which an entry may take from any variable. Only
// tokenVariable is sent: a file must not choose which variables leave this machine.
func (p *program) tokenFor(s setup.Server) (string, error) {
	token := p.getenv(tokenVariable)
	switch {
	case s.TokenEnv == "":
		return "", nil
	case s.TokenEnv != tokenVariable:
		return "", fmt.Errorf("%s is not sent by this command, %w", s.TokenEnv, errNoToken)
	case token == "":
		return "", fmt.Errorf("%s is not set in this shell, %w", tokenVariable, errNoToken)
	}
	_, err := newRemote(s.URL, token) // refuses to send it unencrypted
	return token, err
}

// verify tests the server as the clients reach it, and reads the entries back from their files.
// What else a file says about the server is not tested: a project's file has other authors.
func (j *setupJob) verify(ctx context.Context) {
	fix := "run " + j.called() + " serve in a terminal to see what it says"
	if j.server.URL != "" {
		fix = "check the URL, and the token in " + j.server.TokenEnv
		if j.server.TokenEnv == "" {
			fix = "check the URL; a server of a team wants --token-env " + tokenVariable
		}
	}
	found, err := contact{}, error(nil)
	if path, missing := exec.LookPath(j.server.Command); j.inFiles && j.installed != "" && (missing != nil || !sameFile(path, j.installed)) {
		err = errors.New("the entry starts sequent, which is not this program on this PATH")
		fix = "put " + filepath.Dir(j.installed) + " first on the PATH"
	} else if found, err = j.handshake(ctx, j.server); errors.Is(err, errNoToken) {
		fix = "the entry is written; set " + tokenVariable + ", pass --token-env " + tokenVariable + " and run sequent setup again to test it"
	}
	for i := range j.results {
		r := &j.results[i]
		if r.Action == actionFailed || r.change.Skill {
			continue
		}
		entry, ok, failed := j.files.Read(r.change.Client, r.change.Project)
		if failed == nil && (!ok || entry.Command != j.server.Command || entry.URL != j.server.URL || !slices.Equal(entry.Args, j.server.Args)) {
			failed = errors.New("the entry is not in the file any more")
		}
		switch {
		case failed != nil:
			r.Error, r.Fix = failed.Error(), "another program writes the file; close the client and run sequent setup again"
		case err != nil:
			r.Error, r.Fix = err.Error(), fix
		default:
			r.Verified, r.Server, r.Version, r.Tools = true, found.name, found.version, found.tools
		}
	}
}

// A tailWriter keeps the end of what a server writes to its standard error.
type tailWriter struct {
	mu   sync.Mutex
	text []byte
}

// Write appends text and drops what is too old.
func (t *tailWriter) Write(text []byte) (int, error) {
	const most = 4096 // bytes
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(text), nil
}

// last returns the last lines as one.
func (t *tailWriter) last() string {
	const most = 3
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.FieldsFunc(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}
