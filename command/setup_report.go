package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/setup"
)

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

// changes reports whether the file is to change.
func (r setupResult) changes() bool {
	return r.Action != actionFailed && r.change.Action != setup.Keep
}

// title returns what a result is about.
func (r setupResult) title() string {
	if r.Skill {
		return "Skill for " + r.Name
	}
	return r.Name
}

// printEntries prints the entries as whole files.
func (j *setupJob) printEntries(clients []setup.Client) error {
	if err := j.install(); err != nil {
		return err
	}
	for i, c := range clients {
		text, err := j.files.Snippet(c, j.inFiles, j.server)
		if err != nil {
			return &usageError{msg: err.Error(), fix: "choose another client with --client"}
		}
		if len(clients) > 1 {
			text = fmt.Sprintf("# %s: %s\n%s", c.Name, shortPath(j.files.System.File(c, j.inFiles)), text)
		}
		if i > 0 {
			text = "\n" + text
		}
		j.failed(j.write("", text))
	}
	if j.source != "" {
		fmt.Fprintf(j.err, "Copied this program to %s.\n", j.installed)
	}
	if j.inFiles && j.server.URL == "" && j.called() != setup.EntryName {
		fmt.Fprintf(j.err, "The entry starts sequent, which is not this program on this PATH: put %s first.\n",
			filepath.Dir(j.installed))
	}
	return nil
}

// installLines shows what is done about the program itself.
func (j *setupJob) installLines() []draw.Line {
	pg := j.page()
	if j.source != "" {
		pg.beside("", "Copy this program to "+shortPath(j.installed), draw.Title)
	}
	if j.link != "" {
		pg.beside("", "Link "+shortPath(j.link)+" to it", draw.Title)
	}
	return pg.lines
}

// planLines shows what will change in a file.
func (j *setupJob) planLines(r setupResult) []draw.Line {
	pg, what := j.page(), ""
	switch {
	case r.Action == actionFailed:
		what = "left alone: " + r.Error
	case r.change.Action == setup.Keep:
		what = "is as it should be"
	case r.change.Deletes:
		what = "delete, because sequent setup created it"
	case r.change.Skill && !r.change.Creates:
		what = "update"
	case r.change.Creates:
		what = "create"
	}
	head := draw.Line{{Text: r.title(), Role: draw.Title}, {Text: "  " + shortPath(r.File), Role: draw.Meta}}
	if what != "" {
		head = append(head, draw.Span{Text: "  " + pg.one(what)})
	}
	pg.add(head)
	if r.Action == actionFailed {
		pg.beside("    → ", r.Fix, draw.Text)
		return pg.lines
	}
	for _, row := range r.change.Diff() {
		role := draw.Final
		if strings.HasPrefix(row, "-") {
			role = draw.Newest
		}
		pg.add(draw.Line{{Text: "    " + pg.one(row), Role: role}})
	}
	return pg.lines
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
		r.OK = r.OK && c.Action != actionFailed && c.Error == ""
	}
	if r.Say != "" && !slices.Contains(j.server.Args, "memory") {
		r.Show = strings.TrimSpace(j.called() + " show " + j.sessions)
	}
	if !r.OK {
		return r, errReported
	}
	return r, nil
}

func (r *setupReport) text(pg *page) {
	done := map[string]string{"add": "added", "update": "updated", "keep": "unchanged", "remove": "removed", actionFailed: "failed"}
	pg.add(nil)
	for _, c := range r.Clients {
		lead, text := draw.Span{Text: "ok    ", Role: draw.Final}, c.title()+": "+done[c.Action]
		if c.Verified {
			text += ", and it works: " + c.Server + " " + c.Version + " with " + strings.Join(c.Tools, ", ")
		}
		if c.Error != "" {
			lead, text = draw.Span{Text: "fail  ", Role: draw.Newest}, text+": "+c.Error
		}
		pg.add(draw.Beside(draw.Line{lead}, text, draw.Text, pg.Options)...)
		if c.Fix != "" {
			pg.beside("      ", "→ "+c.Fix, draw.Text)
		}
		if c.Copy != "" {
			// Not wrapped, so that it can be copied.
			pg.add(draw.Line{{Text: "      the file as it was: " + shortPath(c.Copy), Role: draw.Meta}})
		}
	}
	if r.Say == "" {
		return
	}
	pg.heading("Next")
	for _, c := range r.Clients {
		if c.Verified {
			client, _ := setup.Lookup(c.Client)
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
