package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/setup"
)

// A setupJob is one run of setup or remove.
type setupJob struct {
	*program
	files     setup.Setup
	server    setup.Server
	installed string // the program that entries start; empty for a server at a URL
	source    string // program to copy to installed first; empty if it stays where it is
	link      string // link to installed, which makes it a command; empty for none
	sessions  string // flag with which commands find the sessions; empty for the default store
	results   []setupResult
}

func runSetup(p *program, ctx context.Context) (result, error) {
	j, err := p.newSetupJob()
	if err != nil {
		return nil, err
	}
	if p.team != "" || p.tokenEnv != "" {
		err = j.remoteServer()
	} else {
		err = j.localServer()
	}
	if err != nil {
		return nil, err
	}
	clients, err := j.chosen()
	if err != nil {
		return nil, err
	}
	if p.entries {
		return nil, j.printEntries(clients)
	}
	skills := 0
	for _, c := range clients {
		change, err := j.files.Add(c, p.inFiles, j.server)
		j.planned(c, p.inFiles, change, err, "correct the file, or add what sequent setup --client "+c.ID+" --print prints by hand")
	}
	for _, c := range clients {
		if p.skill && c.Skills != "" {
			skills++
			change, err := j.files.AddSkill(c, p.inFiles)
			j.planned(c, p.inFiles, change, err, "make the file readable, or omit --with-skill")
		}
	}
	if p.skill && skills == 0 {
		return nil, &usageError{msg: "none of these clients is known to read skills", fix: "omit --with-skill"}
	}
	if !p.json {
		p.put(j.installLines()...)
	}
	if ok, err := j.agree(ctx, "Set up"); !ok || err != nil {
		return j.dryReport(), err
	}
	if err := errors.Join(j.install(), j.ignoreStore()); err != nil {
		return nil, err
	}
	j.apply()
	j.verify(ctx)
	return j.report()
}

func runRemove(p *program, ctx context.Context) (result, error) {
	j, err := p.newSetupJob()
	if err != nil {
		return nil, err
	}
	clients := setup.Clients()
	if len(p.clients) > 0 {
		clients = slices.DeleteFunc(clients, func(c setup.Client) bool { return !slices.Contains(p.clients, c.ID) })
	}
	for _, c := range clients {
		for _, project := range []bool{false, true} {
			if project != p.inFiles && !p.all {
				continue
			}
			plan := func(remove func(setup.Client, bool) (setup.Change, error), fix string) {
				if change, err := remove(c, project); err != nil || change.Action == setup.Remove {
					j.planned(c, project, change, err, fix)
				}
			}
			plan(j.files.Remove, "take the entry named sequent out by hand, or correct the file and run sequent remove again")
			if !j.othersUseSkill(c, clients, project) {
				plan(j.files.RemoveSkill, "delete the file by hand")
			}
		}
	}
	if ok, err := j.agree(ctx, "Remove sequent from"); !ok || err != nil {
		return j.dryReport(), err
	}
	j.apply()
	if len(p.clients) == 0 && !p.inFiles {
		if err := j.unlink(); err != nil {
			return nil, err
		}
	}
	if len(j.results) == 0 && !p.json {
		return document("No client has an entry named " + setup.EntryName + ".\n"), nil
	}
	return j.report()
}

// newSetupJob finds the directories on which the paths of clients depend.
func (p *program) newSetupJob() (*setupJob, error) {
	if p.all && len(p.clients) > 0 {
		return nil, usagef("--all and --client are mutually exclusive")
	}
	files, err := p.clientFiles()
	return &setupJob{program: p, files: files}, err
}

// clientFiles returns access to the files of clients.
func (p *program) clientFiles() (setup.Setup, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return setup.Setup{}, &usageError{msg: "cannot find the home directory, where clients have their files", fix: "set HOME"}
	}
	data, err := app.DataDir()
	if err != nil {
		return setup.Setup{}, err
	}
	dir, err := os.Getwd()
	return setup.Setup{
		System: setup.System{
			OS: runtime.GOOS, Home: home, Dir: dir, Getenv: p.getenv, LookPath: exec.LookPath,
			Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
		},
		Data: filepath.Join(data, "setup"), Now: p.now,
	}, err
}

// remoteServer sets the server to that of --team.
func (j *setupJob) remoteServer() error {
	u, err := url.Parse(j.team)
	switch {
	case j.team == "":
		return misuse(j.cmd, "--token-env requires --team URL")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return invalid("team", j.team, "a URL such as https://think.example.com/mcp")
	case u.User != nil:
		return invalid("team", u.Redacted(), "a URL without a password; --token-env names the variable with the token")
	case j.tokenEnv != "" && !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(j.tokenEnv):
		return &usageError{
			msg: "--token-env is not the name of an environment variable",
			fix: "pass the name, such as SEQUENT_TOKEN, not the token",
		}
	case j.cmd.Flags().Changed("dialect") || j.cmd.Flags().Changed("store"):
		return misuse(j.cmd, "--team excludes --dialect and --store, which the server of the team decides; /mcp/NAME in the URL chooses a dialect")
	}
	j.server = setup.Server{URL: j.team, TokenEnv: j.tokenEnv}
	j.sessions = "--server " + quoted(j.team)
	return nil
}

// localServer sets the server to this program. A dialect or store from the environment of this shell is
// not for the configuration of a client.
func (j *setupJob) localServer() error {
	if err := j.findProgram(); err != nil {
		return err
	}
	j.server.Args = []string{"serve"}
	if j.given("dialect") {
		j.server.Args = append(j.server.Args, "--dialect", j.dialect)
	}
	if !j.given("store") {
		return nil
	}
	place, err := app.Locate(j.store)
	if err != nil {
		return err
	}
	address, isDatabase := place.Database()
	file := place.Path
	switch {
	case isDatabase && j.inFiles:
		return &usageError{
			msg: "a file of the project cannot name a database, whose password others would read",
			fix: "omit --store, and set " + variable("store") + " for the client",
		}
	case isDatabase: // its password is visible in arguments
		j.server.Env = map[string]string{variable("store"): address}
		j.sessions = "--store " + quoted(place.String())
		return nil
	case place.Memory:
		file = j.store
	case j.inFiles: // others have the project elsewhere
		if file, err = filepath.Rel(j.files.System.Dir, file); err != nil || !filepath.IsLocal(file) {
			return invalid("store", j.store, "a file inside the project with --project")
		}
		file = filepath.ToSlash(file)
	}
	j.sessions = "--store " + quoted(file)
	j.server.Args = append(j.server.Args, "--store", file)
	return nil
}

// ignoreStore keeps sessions in the folder .sequent of a project out of git.
func (j *setupJob) ignoreStore() error {
	const dir = ".sequent"
	if i := slices.Index(j.server.Args, "--store"); !j.inFiles || i < 0 || !strings.HasPrefix(j.server.Args[i+1], dir+"/") {
		return nil
	}
	root, err := os.OpenRoot(j.files.System.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := root.OpenFile(dir+"/.gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// chosen returns the clients to set up.
func (j *setupJob) chosen() (found []setup.Client, err error) {
	var ids []string
	for _, c := range setup.Clients() {
		named := slices.Contains(j.clients, c.ID)
		if named && j.inFiles && c.Project == "" {
			return nil, &usageError{msg: c.Name + " has no configuration file for projects", fix: "omit --project"}
		}
		if named || len(j.clients) == 0 && j.files.System.Installed(c) && (!j.inFiles || c.Project != "") {
			found, ids = append(found, c), append(ids, c.ID)
		}
	}
	switch {
	case len(found) == 0:
		return nil, &usageError{msg: "no MCP client was found", fix: "pass --client NAME: " + strings.Join(setup.IDs(), ", ")}
	case len(found) > 1 && len(j.clients) == 0 && !j.all && !j.dryRun && !j.entries && (j.yes || j.requireTerminal() != nil):
		return nil, &usageError{msg: "several clients were found: " + strings.Join(ids, ", "), fix: "pass --all or --client NAME"}
	}
	return found, nil
}

// othersUseSkill reports whether a client that is not chosen has an entry and shares the skill of c.
func (j *setupJob) othersUseSkill(c setup.Client, chosen []setup.Client, project bool) bool {
	return slices.ContainsFunc(setup.Clients(), func(other setup.Client) bool {
		if !c.SharesSkill(other) || slices.ContainsFunc(chosen, func(c setup.Client) bool { return c.ID == other.ID }) {
			return false
		}
		_, used, err := j.files.Read(other, project)
		return used && err == nil
	})
}

// planned records the plan for a client. Clients that share a file share a result. Fix says
// what to do about a file that cannot be read.
func (j *setupJob) planned(c setup.Client, project bool, change setup.Change, err error, fix string) {
	file := cmp.Or(change.File, j.files.System.File(c, project))
	r := setupResult{Client: c.ID, Name: c.Name, File: file, Skill: change.Skill, Action: string(change.Action), change: change}
	if err != nil {
		r.fail(err, "")
		if e, ok := errors.AsType[*setup.FileError](err); ok {
			r.fail(e.Err, fix)
		}
		if errors.Is(err, setup.ErrNoRemote) || errors.Is(err, setup.ErrNoToken) {
			r.Fix = "use another client for --team, or set up this program, whose sessions sequent store copy can bring to the team"
		}
	} else if i := slices.IndexFunc(j.results, func(r setupResult) bool { return r.File == file && r.Action != actionFailed }); i >= 0 {
		j.results[i].Name += ", " + c.Name
		return
	}
	j.results = append(j.results, r)
}

// agree shows each change and asks whether to make it. Those that are refused are left out. It reports
// whether to go on.
func (j *setupJob) agree(ctx context.Context, verb string) (bool, error) {
	asks := !j.dryRun && !j.yes && slices.ContainsFunc(j.results, setupResult.changes)
	if asks {
		if err := j.requireTerminal(); err != nil {
			return false, err
		}
		if j.json || !isTerminal(j.out) {
			return false, &usageError{msg: "cannot ask about changes that the terminal does not show", fix: "pass --yes"}
		}
	}
	var agreed []setupResult
	some, answer := false, ""
	for _, r := range j.results {
		if answer == "q" && r.changes() {
			continue
		}
		if !j.json {
			j.put(j.planLines(r)...)
		}
		if asks && r.changes() {
			if answer != "a" {
				text, err := j.answer(ctx, verb+" "+r.title()+"? [y]es, [N]o, [a]ll, [q]uit:")
				if err != nil {
					return false, err
				}
				answer = text[:min(1, len(text))]
			}
			if answer != "y" && answer != "a" {
				continue
			}
			some = true
		}
		agreed = append(agreed, r)
	}
	if j.results = agreed; asks && !some {
		fmt.Fprintln(j.err, "Nothing was changed.")
		return false, errReported
	}
	return !j.dryRun, nil
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
