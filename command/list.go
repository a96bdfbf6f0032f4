package command

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) list() *cobra.Command {
	var limit int
	var since span
	c := &cobra.Command{
		Use:   "list",
		Short: "List sessions, the latest first",
		Long: `List sessions, beginning with the one that changed last.

--json prints {"sessions": [{id, title, state, dialect, thoughts, branches, created, updated}],
"more": bool}.`,
		Example: "sequent list\n\n# sessions that changed in the last day\nsequent list --since 1d\n\n# the ids of all active sessions\n" +
			"sequent list --limit 0 --json | jq -r '.sessions[] | select(.state == \"active\").id'",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return invalid("limit", limit, "a number of sessions, or 0 for all")
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				return p.listSessions(c.Context(), a, limit, since)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "maximum number of sessions; 0 means all")
	c.Flags().Var(&since, "since", "maximum time since the last change, such as 7d or 90m")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addWidthFlag(c)
	return c
}

func (p *program) listSessions(ctx context.Context, a *app.App, limit int, since span) error {
	var q sequent.Query
	if limit > 0 {
		q.Limit = limit + 1 // to know whether there are more
	}
	if since > 0 {
		q.Since = p.now().Add(-time.Duration(since))
	}
	sessions, more := []jsonSession{}, false
	for h, err := range a.Engine.AllSessions(ctx, q) {
		if err != nil {
			return err
		}
		if more = limit > 0 && len(sessions) == limit; more {
			break
		}
		state := string(h.State)
		if plan.HasFailed(h) {
			state = plan.Failed
		}
		sessions = append(sessions, jsonSession{
			ID: string(h.ID), Title: h.Title, State: state, Dialect: h.Dialect,
			Thoughts: h.Len, Branches: h.Branches,
			Created: h.Created, Updated: h.Updated, Expires: h.Expires,
		})
	}
	switch {
	case p.json:
		return writeJSON(p.out, struct {
			Sessions []jsonSession `json:"sessions"`
			More     bool          `json:"more"`
		}{sessions, more})
	case len(sessions) == 0 && since > 0:
		return p.printf("No sessions changed in the last %v.", &since)
	case len(sessions) == 0:
		return p.printf(beginning)
	}
	if err := p.print(p.table(sessions)...); err != nil {
		return err
	}
	if more {
		return p.printf("\nThere are more sessions. Pass --limit 0 to list all.")
	}
	return nil
}

// table lays out sessions in as many columns as fit. The title gets the remaining
// width.
func (p *program) table(sessions []jsonSession) []draw.Line {
	charset := p.charset()
	rows := [][]string{{"ID", "AGE", "STATE", "DIALECT", "THOUGHTS", "BRANCHES", "TITLE"}}
	for _, s := range sessions {
		branches := ""
		if s.Branches > 0 {
			branches = strconv.Itoa(s.Branches)
		}
		rows = append(rows, []string{
			draw.One(s.ID, charset), draw.Age(p.now().Sub(s.Updated)), s.State, draw.One(s.Dialect, charset),
			strconv.Itoa(s.Thoughts), branches, draw.One(s.Title, charset),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], draw.Width(cell))
		}
	}
	const title, gap, minTitle = 6, 2, 16
	room := p.columns() - widths[0]
	shown := make([]bool, len(widths))
	shown[0], shown[title] = true, true
	for _, i := range []int{1, 4, 2, 5, 3} { // in the order of importance
		if room-gap-widths[i] >= gap+minTitle {
			shown[i] = true
			room -= gap + widths[i]
		}
	}
	widths[title] = max(room-gap, minTitle)
	var lines []draw.Line
	for n, r := range rows {
		var line draw.Line
		for i, cell := range r {
			if !shown[i] {
				continue
			}
			span := draw.Span{Text: cell, Role: role(n, i, r[2])}
			pad := strings.Repeat(" ", max(widths[i]-draw.Width(cell), 0))
			switch {
			case i == title:
				span.Text = draw.Truncate(cell, widths[i], ellipsis(charset))
			case i == 4 || i == 5: // numbers
				span.Text = pad + cell + "  "
			default:
				span.Text += pad + "  "
			}
			line = append(line, span)
		}
		lines = append(lines, line)
	}
	return lines
}

// role returns the role of a cell.
func role(row, column int, state string) draw.Role {
	switch {
	case row == 0:
		return draw.Meta
	case column == 0:
		return draw.Number
	case column == 2 && state == string(sequent.Completed):
		return draw.Final
	case column == 2 && state == string(sequent.Abandoned):
		return draw.Meta
	case column == 2:
		return draw.Tag
	case column == 6:
		return draw.Text
	}
	return draw.Meta
}

func ellipsis(c draw.Charset) string {
	if c == draw.Unicode {
		return "…"
	}
	return "~"
}
