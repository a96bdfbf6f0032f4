package command

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// A projectChoice is which projects a command is about.
type projectChoice struct {
	name string // of --project; empty means that of the working directory
	all  bool
}

// addProjectFlags adds the flags --project and --all-projects to a command.
func (p *program) addProjectFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.project.name, "project", "", "`PROJECT` of the sessions: its URL, or a directory in it (default: that of the working directory)")
	c.Flags().BoolVar(&p.project.all, "all-projects", false, "sessions of all projects")
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
	return p.asRecorded(sequent.Context{Project: name}).Project, nil
}

// here returns where a session comes from that is begun in a directory; an empty one is
// the working directory.
func (p *program) here(dir string) sequent.Context { return p.asRecorded(app.Workplace(dir)) }

// asRecorded returns a context as sessions record it.
func (p *program) asRecorded(c sequent.Context) sequent.Context {
	return sequent.ContextOf(sequent.WithContext(context.Background(), c))
}

// elsewhere returns how many sessions of other projects q leaves out, at most
// sequent.MaxElsewhere. It does not count sessions of the demo.
func (p *program) elsewhere(ctx context.Context, e *sequent.Engine, q sequent.Query) (n int, err error) {
	if q.Project == "" {
		return 0, nil
	}
	q.Elsewhere, q.Project, q.Limit = q.Project, "", sequent.MaxElsewhere
	page, err := e.Sessions(ctx, q)
	for _, h := range page.Headers {
		if !isDemo(h) {
			n++
		}
	}
	return n, err
}

// counted returns a number of sessions of other projects in words.
func counted(n int) string {
	if n == sequent.MaxElsewhere {
		return draw.Count(n, "session", "sessions") + " or more"
	}
	return draw.Count(n, "session", "sessions")
}
