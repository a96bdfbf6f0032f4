package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/setup"
)

// printEntries prints the entries as whole files.
func (j *setupJob) printEntries(clients []setup.Client) error {
	for i, c := range clients {
		text, err := j.files.Snippet(c, j.project, j.server)
		if err != nil {
			return &usageError{msg: err.Error(), fix: "choose another client with --client"}
		}
		if len(clients) > 1 {
			if i > 0 {
				text = "\n" + text
			}
			if err := j.printf("# %s: %s", c.Name, shortPath(j.files.System.File(c, j.project))); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprint(j.out, text); err != nil {
			return err
		}
	}
	if j.source != "" {
		fmt.Fprintf(j.err, "The entry names %s. sequent setup copies this program there.\n", j.server.Command)
	}
	return nil
}

// planLines shows what will change.
func (j *setupJob) planLines() (lines []draw.Line) {
	o := j.drawing()
	if j.source != "" && j.changes() > 0 {
		lines = append(lines, draw.Beside(nil, "Copy this program to "+shortPath(j.server.Command), draw.Title, o)...)
	}
	for _, r := range j.results {
		what := ""
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
			head = append(head, draw.Span{Text: "  " + draw.One(what, j.charset())})
		}
		lines = append(lines, head)
		if r.Action == actionFailed {
			lines = append(lines, draw.Beside(draw.Line{{Text: "    → "}}, r.Fix, draw.Text, o)...)
			continue
		}
		for _, row := range r.change.Diff() {
			role := draw.Final
			if strings.HasPrefix(row, "-") {
				role = draw.Newest
			}
			text := strings.TrimLeft(row[1:], " \t")
			blanks := strings.ReplaceAll(row[1:len(row)-len(text)], "\t", "    ")
			lines = append(lines, draw.Line{{Text: "    " + row[:1] + blanks + draw.One(text, j.charset()), Role: role}})
		}
	}
	return lines
}

// title returns what a result is about.
func (r setupResult) title() string {
	if r.Skill {
		return "Skill for " + r.Name
	}
	return r.Name
}

// report prints what was done, and what to do next.
func (j *setupJob) report(context.Context) error {
	failed := slices.ContainsFunc(j.results, func(r setupResult) bool { return r.Action == actionFailed || r.Error != "" })
	var err error
	if j.json {
		err = writeJSON(j.out, struct {
			OK      bool          `json:"ok"`
			Program string        `json:"program,omitempty"`
			Clients []setupResult `json:"clients"`
			Say     string        `json:"say,omitempty"`
		}{!failed, j.server.Command, append([]setupResult{}, j.results...), j.sentence()})
	} else {
		err = j.print(j.reportLines()...)
	}
	if err == nil && failed {
		return errReported
	}
	return err
}

func (j *setupJob) reportLines() (lines []draw.Line) {
	o := j.drawing()
	done := map[string]string{"add": "added", "update": "updated", "keep": "unchanged", "remove": "removed", actionFailed: "failed"}
	lines = append(lines, nil)
	for _, r := range j.results {
		mark, role := "ok    ", draw.Final
		text := r.title() + ": " + done[r.Action]
		if r.Verified {
			text += ", and it works: " + r.Server + " " + r.Version + " with " + strings.Join(r.Tools, ", ")
		}
		if r.Error != "" {
			mark, role = "fail  ", draw.Newest
			text += ": " + r.Error
		}
		lines = append(lines, draw.Beside(draw.Line{{Text: mark, Role: role}}, text, draw.Text, o)...)
		if r.Fix != "" {
			lines = append(lines, draw.Beside(draw.Line{{Text: "      "}}, "→ "+r.Fix, draw.Text, o)...)
		}
		if r.Copy != "" {
			// Not wrapped, so that it can be copied.
			lines = append(lines, draw.Line{{Text: "      the file as it was: " + shortPath(r.Copy), Role: draw.Meta}})
		}
	}
	say := j.sentence()
	if say == "" {
		return lines
	}
	lines = append(lines, nil, draw.Line{{Text: "Next", Role: draw.Title}})
	for _, r := range j.results {
		if r.Verified {
			c, _ := setup.Lookup(r.Client)
			lines = append(lines, draw.Beside(draw.Line{{Text: "    "}}, r.Name+": "+c.Reload, draw.Text, o)...)
		}
	}
	return append(lines,
		draw.Line{{Text: "    Then type:"}}, nil,
		draw.Line{{Text: "        " + say, Role: draw.Number}}, nil,
		draw.Line{{Text: "    sequent show draws what it thought."}},
	)
}

// sentence returns what to type first in a client, or nothing if no entry works.
func (j *setupJob) sentence() string {
	for _, r := range j.results {
		if r.Verified && len(r.Tools) > 0 {
			return "Use " + r.Tools[0] + " to work out what in this project is most likely to break next."
		}
	}
	return ""
}
