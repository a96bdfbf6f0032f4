package command

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
)

// fromServer reports whether the sessions are those of a server. It refuses --server
// beside --store; the command line takes precedence over the environment.
func (p *program) fromServer() (bool, error) {
	store, server := p.fromEnvironment("store"), p.fromEnvironment("server")
	switch {
	case p.server == "" || p.store == "" || store && !server:
		return p.server != "", nil
	case server && !store:
		return false, nil
	}
	return false, usagef("--server and --store are mutually exclusive")
}

// remote reports whether the sessions are those of a server.
func (p *program) remote() bool {
	remote, _ := p.fromServer()
	return remote
}

// needsStore refuses --server for a command that does not read sessions only.
func needsStore(c *cobra.Command) error {
	return sequent.Errorf(sequent.CodeReadOnly, "", "run "+c.CommandPath()+" on the server's machine, with --store STORE",
		"%s works on a store, not on a server", c.CommandPath())
}

// meansStore refuses to change sessions of this machine's store if the environment names a server
// and no store: the sessions of the server may have been meant.
func (p *program) meansStore() error {
	if p.store != "" || p.getenv(variable("server")) == "" {
		return nil
	}
	return sequent.Errorf(sequent.CodeReadOnly, "", "run it on the server's machine, with --store STORE; for the store of this machine, unset "+variable("server"),
		"%s works on a store, and %s", p.cmd.CommandPath(), variable("server")+" names a server")
}

// serverShown returns the value of --server without a key.
func (p *program) serverShown() string {
	address, _, _ := strings.Cut(p.server, "#")
	return address
}

// A projectChoice is which projects a command is about.
type projectChoice struct {
	name string // of --project; empty means that of the working directory
	all  bool
}

// inProject returns the project whose sessions a command is about, with those that have
// none; empty means all.
func (p *program) inProject() (string, error) {
	name := p.project.name
	switch {
	case p.project.all && name != "" && !slices.Contains(p.inherited, "project") && !slices.Contains(p.inherited, "all-projects"):
		return "", usagef("--project and --all-projects are mutually exclusive")
	case p.project.all && (name == "" || slices.Contains(p.inherited, "project")):
		return "", nil
	case name == "":
		return p.here("").Project, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if project := p.here(name).Project; project != "" {
			return project, nil
		}
	}
	return p.asRecorded(sequent.Origin{Project: name}).Project, nil
}

// here returns where a session comes from that is begun in a directory; an empty one is
// the working directory.
func (p *program) here(dir string) sequent.Origin { return p.asRecorded(app.Workplace(dir)) }

// asRecorded returns an origin as sessions record it.
func (p *program) asRecorded(o sequent.Origin) sequent.Origin {
	return sequent.OriginOf(sequent.WithOrigin(context.Background(), func() sequent.Origin { return o }))
}

// maxOthers is the number up to which others counts.
const maxOthers = 100

// others returns how many sessions of other projects q leaves out, at most maxOthers.
func (p *program) others(ctx context.Context, q sequent.Query) (int, error) {
	if q.Project == "" {
		return 0, nil
	}
	q.Elsewhere, q.Project, q.Limit = q.Project, "", maxOthers
	page, err := p.engine.Sessions(ctx, q)
	return len(page.Headers), err
}

// counted returns a number of sessions of other projects in words.
func counted(n int) string {
	if n == maxOthers {
		return printable.Count(n, "session", "sessions") + " or more"
	}
	return printable.Count(n, "session", "sessions")
}

// sentence returns text as a sentence.
func sentence(text string) string {
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// some returns the first of names, and how many more there are.
func some(names []string) []string {
	const most = 12
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
}
