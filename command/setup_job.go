package command

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/setup"
)

// A setupJob is one run of setup or remove.
type setupJob struct {
	*program
	clients                              []string
	project, all, yes, plan, show, skill bool

	files   setup.Setup
	server  setup.Server
	source  string // program to copy to server.Command first; empty if it stays where it is
	results []setupResult
}

// A setupResult is what happened to the file of a client, or of several that share it.
type setupResult struct {
	Client   string   `json:"client"`
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Skill    bool     `json:"skill,omitempty"`
	Action   string   `json:"action"`
	Copy     string   `json:"copy,omitempty"`
	Verified bool     `json:"verified,omitempty"`
	Server   string   `json:"server,omitempty"`
	Version  string   `json:"version,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Error    string   `json:"error,omitempty"`
	Fix      string   `json:"fix,omitempty"`

	change setup.Change
}

const actionFailed = "failed"

func (r *setupResult) fail(err error, fix string) {
	r.Action, r.Error, r.Fix = actionFailed, err.Error(), fix
}

func (j *setupJob) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&j.clients, "client", nil, "client, may be repeated: "+strings.Join(setup.IDs(), ", ")+" (default: those that are found)")
	f.BoolVar(&j.project, "project", false, "use the files of the project in the working directory")
	f.BoolVar(&j.all, "all", false, "use all clients that are found")
	f.BoolVarP(&j.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&j.plan, "dry-run", false, "show the changes and make none")
	complete(c, "client", setup.IDs()...)
	j.addJSONFlag(c)
	j.addWidthFlag(c)
}

// open finds the directories on which the paths of clients depend, and checks --client.
func (j *setupJob) open() error {
	for _, id := range j.clients {
		if _, ok := setup.Lookup(id); !ok {
			return invalid("client", id, "one of "+strings.Join(setup.IDs(), ", "))
		}
	}
	if j.all && len(j.clients) > 0 {
		return usagef("--all and --client are mutually exclusive")
	}
	var err error
	j.files, err = j.clientFiles()
	return err
}

// local sets the server to this program.
func (j *setupJob) local(dialect, store string, dialects []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if j.server.Command, j.source, err = j.lasting(exe); err != nil {
		return err
	}
	j.server.Args = []string{"serve"}
	if dialect != "" {
		if !slices.Contains(dialects, dialect) {
			return invalid("dialect", dialect, "one of "+strings.Join(dialects, ", "))
		}
		j.server.Args = append(j.server.Args, "--dialect", dialect)
	}
	if store == "" {
		return nil
	}
	place, err := app.Locate(store)
	if err != nil {
		return err
	}
	switch address, isDatabase := place.Database(); {
	case isDatabase: // its password is visible in arguments
		j.server.Env = map[string]string{variable("store"): address}
	case place.Memory || j.project: // a file of the project is relative to it
		j.server.Args = append(j.server.Args, "--store", store)
	default:
		j.server.Args = append(j.server.Args, "--store", place.Path)
	}
	return nil
}

// lasting returns the command for entries, and the program to copy there if it is not there
// yet.
func (j *setupJob) lasting(exe string) (command, source string, err error) {
	if setup.Temporary(exe, os.TempDir(), j.getenv("GOCACHE")) {
		data, err := app.DataDir()
		return setup.ProgramFile(data), exe, err
	}
	// The name on the PATH outlives an update by a package manager, which moves the file.
	if found, err := exec.LookPath("sequent"); err == nil && filepath.IsAbs(found) && sameFile(found, exe) {
		if j.project {
			return "sequent", "", nil // others of the project have it elsewhere
		}
		return found, "", nil
	}
	return exe, "", nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// chosen returns the clients to set up.
func (j *setupJob) chosen() ([]setup.Client, error) {
	var found []setup.Client
	if len(j.clients) > 0 {
		for _, id := range j.clients {
			c, _ := setup.Lookup(id)
			if j.project && c.Project == "" {
				return nil, &usageError{msg: c.Name + " has no configuration file for projects", fix: "omit --project"}
			}
			found = append(found, c)
		}
		return found, nil
	}
	for _, c := range setup.Clients() {
		if j.files.System.Installed(c) && (!j.project || c.Project != "") {
			found = append(found, c)
		}
	}
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ID
	}
	switch {
	case len(found) == 0:
		return nil, &usageError{msg: "no MCP client was found", fix: "pass --client NAME: " + strings.Join(setup.IDs(), ", ")}
	case len(found) > 1 && !j.all && !j.plan && !j.show && (j.yes || j.requireTerminal() != nil):
		return nil, &usageError{msg: "several clients were found: " + strings.Join(ids, ", "), fix: "pass --all or --client NAME"}
	}
	return found, nil
}

// planned records the plan for a client. Clients that share a file share a result.
func (j *setupJob) planned(c setup.Client, project bool, change setup.Change, err error) {
	file := cmp.Or(change.File, j.files.System.File(c, project))
	r := setupResult{Client: c.ID, Name: c.Name, File: file, Skill: change.Skill, Action: string(change.Action), change: change}
	if err != nil {
		r.fail(err, "")
		if e, ok := errors.AsType[*setup.FileError](err); ok {
			r.fail(e.Err, "correct the file, or add what sequent setup --client "+c.ID+" --print prints by hand")
		}
		if errors.Is(err, setup.ErrNoRemote) || errors.Is(err, setup.ErrNoToken) {
			r.Fix = "use another client for --team, or set up this program, whose sessions sequent copy can bring to the team"
		}
	} else if i := slices.IndexFunc(j.results, func(r setupResult) bool { return r.File == file && r.Action != actionFailed }); i >= 0 {
		j.results[i].Name += ", " + c.Name
		return
	}
	j.results = append(j.results, r)
}

// changes returns how many files will change.
func (j *setupJob) changes() (n int) {
	for _, r := range j.results {
		if r.Action != actionFailed && r.change.Action != setup.Keep {
			n++
		}
	}
	return n
}

// agree shows the plan and asks for confirmation.
func (j *setupJob) agree(ctx context.Context, question string) error {
	switch {
	case j.plan && j.json:
		return j.report(ctx)
	case !j.json:
		if err := j.print(j.planLines()...); err != nil {
			return err
		}
	}
	if j.plan || j.yes || j.changes() == 0 {
		return nil
	}
	return j.confirm(ctx, question, "Nothing was changed.")
}

// apply makes the planned changes.
func (j *setupJob) apply() {
	for i := range j.results {
		r := &j.results[i]
		if r.Action == actionFailed {
			continue
		}
		change, err := j.files.Apply(r.change)
		if err != nil {
			r.fail(err, "nothing was changed; close the client and try again")
			continue
		}
		r.change, r.Action, r.Copy = change, string(change.Action), change.Copy
	}
}
