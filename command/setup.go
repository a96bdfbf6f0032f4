package command

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
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

// A setupResult is what happened to the file of a client, or of several that share it.
type setupResult struct {
	Client   string   `json:"client"`
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Skill    bool     `json:"skill,omitempty"`
	Action   string   `json:"action"`
	Copy     string   `json:"copy,omitempty"`
	Verified bool     `json:"verified,omitempty"`
	Server   string   `json:"server,omitempty"` // name and version
	Tools    []string `json:"tools,omitempty"`
	Error    string   `json:"error,omitempty"`
	Fix      string   `json:"fix,omitempty"`

	change setup.Change
}

const actionFailed = "failed"

func (r *setupResult) fail(err error, fix string) {
	r.Action, r.Error, r.Fix = actionFailed, err.Error(), fix
}

// changes reports whether the file is to change.
func (r setupResult) changes() bool { return r.Action != actionFailed && r.change.Action != setup.Keep }

// title returns what a result is about.
func (r setupResult) title() string {
	if r.Skill {
		return "Skill for " + r.Name
	}
	return r.Name
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
	for _, c := range clients {
		change, err := j.files.Add(c, p.inFiles, j.server)
		j.plan(c, p.inFiles, change, err, "correct the file, or add what sequent setup --client "+c.ID+" --print prints by hand")
	}
	skilled := slices.DeleteFunc(clients, func(c setup.Client) bool { return !p.skill || c.Skills == "" })
	if p.skill && len(skilled) == 0 {
		return nil, &usageError{msg: "none of these clients is known to read skills", fix: "omit --with-skill"}
	}
	for _, c := range skilled {
		change, err := j.files.AddSkill(c, p.inFiles)
		j.plan(c, p.inFiles, change, err, "make the file readable, or omit --with-skill")
	}
	if pg := p.page(); !p.json {
		if j.source != "" {
			pg.beside("", "Copy this program to "+shortPath(j.installed), draw.Title)
		}
		if j.link != "" {
			pg.beside("", "Link "+shortPath(j.link)+" to it", draw.Title)
		}
		p.put(pg.lines...)
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
					j.plan(c, project, change, err, fix)
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

// plan records the plan for a client. Clients that share a file share a result. Fix says
// what to do about a file that cannot be read.
func (j *setupJob) plan(c setup.Client, project bool, change setup.Change, err error, fix string) {
	file := cmp.Or(change.File, j.files.System.File(c, project))
	r := setupResult{Client: c.ID, Name: c.Name, File: file, Skill: change.Skill, Action: string(change.Action), change: change}
	same := slices.IndexFunc(j.results, func(r setupResult) bool { return r.File == file && r.Action != actionFailed })
	e, unreadable := errors.AsType[*setup.FileError](err)
	switch {
	case unreadable:
		r.fail(e.Err, fix)
	case err != nil: // the client cannot use a server at a URL, or its token
		r.fail(err, "use another client for --team, or set up this program, whose sessions sequent store copy can bring to the team")
	case same >= 0:
		j.results[same].Name += ", " + c.Name
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
		if !j.json {
			j.show(r)
		}
		if asks && r.changes() {
			if answer != "a" {
				text, err := j.answer(ctx, verb+" "+r.title()+"? [y]es, [N]o, [a]ll:")
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
		j.tell("Nothing was changed.")
		return false, exit(exitFailure)
	}
	return !j.dryRun, nil
}

// show shows what will change in a file.
func (j *setupJob) show(r setupResult) {
	pg, what := j.page(), ""
	switch {
	case r.Action == actionFailed:
		what = "left alone: " + r.Error
	case r.change.Action == setup.Keep:
		what = "is as it should be"
	case r.change.Deletes:
		what = "delete, because sequent setup created it"
	case r.change.Creates:
		what = "create"
	}
	if what != "" {
		what = "  " + printable.Line(what)
	}
	pg.add(draw.Line{{Text: r.title(), Role: draw.Title}, {Text: "  " + shortPath(r.File), Role: draw.Meta}, {Text: what}})
	if r.Action == actionFailed {
		pg.beside("    → ", r.Fix, draw.Text)
	} else {
		for _, row := range r.change.Diff() {
			role := draw.Final
			if strings.HasPrefix(row, "-") {
				role = draw.Newest
			}
			pg.add(draw.Line{{Text: "    " + printable.Line(row), Role: role}})
		}
	}
	j.put(pg.lines...)
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

// A setupReport is what setup or remove has done.
type setupReport struct {
	OK      bool          `json:"ok"`
	Program string        `json:"program,omitempty"`
	Clients []setupResult `json:"clients"`
	Say     string        `json:"say,omitempty"`  // what to type first in a client
	Show    string        `json:"show,omitempty"` // command that draws the sessions of the entries
}

// dryReport returns the report of a run that changes nothing; text was shown before.
func (j *setupJob) dryReport() result {
	if r, _ := j.report(); j.json && j.dryRun {
		return r
	}
	return nil
}

// report returns what was done, and what to do next.
func (j *setupJob) report() (result, error) {
	r := &setupReport{OK: true, Program: j.installed, Clients: append([]setupResult{}, j.results...)}
	for _, c := range j.results {
		if c.Verified && len(c.Tools) > 0 && r.Say == "" {
			r.Say = "Use " + c.Tools[0] + " to work out what in this project is most likely to break next."
		}
		r.OK = r.OK && c.Error == ""
	}
	if r.Say != "" && !slices.Contains(j.server.Args, "memory") {
		r.Show = strings.TrimSpace(j.called() + " show " + j.sessions)
	}
	if !r.OK {
		return r, exit(exitFailure)
	}
	return r, nil
}

func (r *setupReport) text(pg *page) {
	done := map[string]string{"add": "added", "update": "updated", "keep": "unchanged", "remove": "removed", actionFailed: "failed"}
	pg.add(nil)
	for _, c := range r.Clients {
		lead, text := draw.Span{Text: "ok    ", Role: draw.Final}, c.title()+": "+done[c.Action]
		if c.Verified {
			text += ", and it works: " + c.Server + " with " + strings.Join(c.Tools, ", ")
		}
		if c.Error != "" {
			lead, text = draw.Span{Text: "fail  ", Role: draw.Newest}, text+": "+c.Error
		}
		pg.add(draw.Beside(draw.Line{lead}, text, draw.Text, pg.Options)...)
		if c.Fix != "" {
			pg.beside("      ", "→ "+c.Fix, draw.Text)
		}
		if c.Copy != "" { // not wrapped, so that it can be copied
			pg.add(draw.Line{{Text: "      the file as it was: " + shortPath(c.Copy), Role: draw.Meta}})
		}
	}
	if r.Say == "" {
		return
	}
	pg.heading("Next")
	for _, c := range r.Clients {
		if client, _ := setup.Lookup(c.Client); c.Verified {
			pg.beside("    ", c.Name+": "+client.Reload, draw.Text)
		}
	}
	pg.add(
		draw.Line{{Text: "    Then type:"}}, nil,
		draw.Line{{Text: "        " + r.Say, Role: draw.Number}}, nil,
		draw.Line{{Text: "    Draw what it thought, in this shell:"}}, nil,
		draw.Line{{Text: "        " + r.Show, Role: draw.Number}},
	)
}
