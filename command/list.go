package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) list() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:   "list",
		Short: "List sessions, the latest first",
		Long: `List sessions, beginning with the one that changed last. On a terminal a column that would be the same in
all rows is left out and named below the table. In a pipe, rows have all columns with full titles and times,
separated by tabs, after a row with their names.

In a git work tree the list has the sessions of this project and those without a project. --all-projects
lists all, --project those of another one. --client and --agent select further.

Sessions of sequent demo are left out once there are others; --all lists them too.

--json prints {"sessions": [{id, title, state, dialect, thoughts, branches, created, updated, owner, demo,
context: {client, clientVersion, agent, model, project, gitBranch, commit}}], "more": bool, "demos": n,
"elsewhere": n}, where demos and elsewhere are the numbers of sessions of the demo and of other projects that
were left out.`,
		Example: "sequent list\n\n# sessions that changed in the last day\nsequent list --since 1d\n\n# the ids and titles of all sessions\n" +
			"sequent list --limit 0 | cut -f 1,7\n\n# the ids of all active sessions\n" +
			"sequent list --limit 0 --json | jq -r '.sessions[] | select(.state == \"active\").id'",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if l.limit < 0 {
				return invalid("limit", l.limit, "a number of sessions, or 0 for all")
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				return p.listSessions(c.Context(), a, &l)
			})
		},
	}
	c.Flags().IntVar(&l.limit, "limit", 20, "maximum number of sessions; 0 means all")
	c.Flags().Var(&l.since, "since", "maximum time since the last change, such as 7d or 90m")
	c.Flags().BoolVar(&l.demos, "all", false, "list the sessions of sequent demo, too")
	c.Flags().StringVar(&l.client, "client", "", "`NAME` of the client that began the sessions, such as claude-code")
	c.Flags().StringVar(&l.agent, "agent", "", "`NAME` of the agent that began the sessions")
	p.addProjectFlags(c)
	p.addJSONFlag(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	p.addWidthFlag(c)
	return c
}

// A listing is what sequent list was asked for, and then what it found.
type listing struct {
	limit int
	since span
	demos bool // list them beside others

	client, agent string // empty means any

	sessions []jsonSession
	more     bool
	leftOut  int // demo sessions
	project  string
	others   int // sessions of other projects
}

// selects reports whether a session is from the client and agent that were asked for.
func (l *listing) selects(c *sequent.Context) bool {
	return (l.client == "" || strings.EqualFold(c.Client, l.client)) && (l.agent == "" || strings.EqualFold(c.Agent, l.agent))
}

func (p *program) listSessions(ctx context.Context, a *app.App, l *listing) error {
	if err := p.collect(ctx, a, l); err != nil {
		return err
	}
	switch {
	case p.json:
		return writeJSON(p.out, struct {
			Sessions []jsonSession `json:"sessions"`
			More     bool          `json:"more"`
			Demos    int           `json:"demos,omitempty"`
			Others   int           `json:"elsewhere,omitempty"`
		}{l.sessions, l.more, l.leftOut, l.others})
	case len(l.sessions) == 0 && (l.client != "" || l.agent != ""):
		return p.printf("No sessions of this client or agent%s.", l.besides())
	case len(l.sessions) == 0 && l.others > 0:
		return p.printf("No sessions of the project %s%s.", draw.One(l.project, p.charset()), l.besides())
	case len(l.sessions) == 0 && l.since > 0:
		return p.printf("No sessions changed in the last %v.", &l.since)
	case len(l.sessions) == 0 && p.owner != "":
		return p.printNoSessions(ctx, a)
	case len(l.sessions) == 0 && !p.allOwners:
		return p.printNone(ctx, a)
	case len(l.sessions) == 0:
		return p.printBeginning()
	}
	notes := p.out
	if p.tabular() {
		if err := p.print(p.table(l.sessions)...); err != nil {
			return err
		}
		if l.more || l.leftOut > 0 || l.others > 0 {
			fmt.Fprintln(notes)
		}
	} else {
		notes = p.err // standard output has rows only
		if err := p.writeRows(l.sessions); err != nil {
			return err
		}
	}
	if l.more {
		fmt.Fprintln(notes, "There are more sessions. Pass --limit 0 to list all.")
	}
	if l.leftOut > 0 {
		fmt.Fprintf(notes, "%s left out. Pass --all to list them.\n", draw.Count(l.leftOut, "session of sequent demo was", "sessions of sequent demo were"))
	}
	if l.others > 0 {
		fmt.Fprintf(notes, "%s more in other projects. Pass --all-projects to list all.\n", counted(l.others))
	}
	return nil
}

// besides returns what a list without sessions says of other projects.
func (l *listing) besides() string {
	if l.others == 0 {
		return ""
	}
	return "; " + counted(l.others) + " in other projects. Pass --all-projects to list them"
}

// collect fills in the sessions of a listing.
func (p *program) collect(ctx context.Context, a *app.App, l *listing) error {
	var err error
	if l.project, err = p.inProject(); err != nil {
		return err
	}
	q := sequent.Query{AllOwners: p.allOwners, Project: l.project}
	if l.limit > 0 {
		q.Limit = l.limit + 1 // to know whether there are more
	}
	if l.since > 0 {
		q.Since = p.now().Add(-time.Duration(l.since))
	}
	if l.others, err = p.elsewhere(ctx, a.Engine, q); err != nil {
		return err
	}
	l.sessions = []jsonSession{}
	var demos []jsonSession
	for h, err := range a.Engine.AllSessions(ctx, q) {
		if err != nil {
			return err
		}
		if !l.selects(&h.Context) {
			continue
		}
		if l.more = l.limit > 0 && len(l.sessions) == l.limit; l.more {
			break
		}
		s := newJSONSession(h)
		if s.Demo && !l.demos {
			demos = append(demos, s)
		} else {
			l.sessions = append(l.sessions, s)
		}
	}
	if l.leftOut = len(demos); len(l.sessions) > 0 {
		return nil
	}
	l.leftOut = 0 // there are no others
	if l.limit > 0 && len(demos) > l.limit {
		demos, l.more = demos[:l.limit], true
	}
	l.sessions = append(l.sessions, demos...)
	return nil
}

func newJSONSession(h sequent.Header) jsonSession {
	state := string(h.State)
	if plan.HasFailed(h) {
		state = plan.Failed
	}
	return jsonSession{
		ID: string(h.ID), Title: h.Title, State: state, Dialect: h.Dialect,
		Thoughts: h.Len, Branches: h.Branches,
		Created: h.Created, Updated: h.Updated, Expires: h.Expires,
		Owner: h.Owner, Demo: isDemo(h), Context: h.Context,
	}
}

// tabular reports whether a list is laid out as a table, for people.
func (p *program) tabular() bool {
	return isTerminal(p.out) || p.width > 0 || p.color == "always"
}

// A column is a part of what a list says about sessions.
type column struct {
	name   string
	cell   func(p *program, s *jsonSession) string // on a terminal
	full   func(s *jsonSession) string             // in a pipe; nil means the same
	rank   int                                     // order in which columns get room; 0 means always
	common bool                                    // named below the table if it is the same in all rows
	number bool                                    // aligned right
	role   draw.Role
}

// columnsOfList returns the columns of a list in their order. The title is the last.
func (p *program) columnsOfList() []column {
	clean := func(text func(s *jsonSession) string) func(p *program, s *jsonSession) string {
		return func(p *program, s *jsonSession) string { return draw.One(text(s), p.charset()) }
	}
	owner := column{name: "OWNER", cell: clean(func(s *jsonSession) string { return cmp.Or(s.Owner, p.nobody()) }), rank: 2, common: true, role: draw.Meta}
	owner.full = func(s *jsonSession) string { return draw.One(s.Owner, draw.Unicode) }
	columns := []column{
		{name: "ID", cell: clean(func(s *jsonSession) string { return s.ID }), role: draw.Number},
		{
			name: "AGE", cell: func(p *program, s *jsonSession) string { return draw.Age(p.now().Sub(s.Updated)) },
			full: func(s *jsonSession) string { return s.Updated.Format(time.RFC3339) }, rank: 1, role: draw.Meta,
		},
		{name: "STATE", cell: clean(func(s *jsonSession) string { return s.State }), rank: 4, common: true, role: draw.Tag},
		{name: "DIALECT", cell: clean(func(s *jsonSession) string { return s.Dialect }), rank: 6, common: true, role: draw.Meta},
		{name: "THOUGHTS", cell: func(_ *program, s *jsonSession) string { return fmt.Sprint(s.Thoughts) }, rank: 3, number: true, role: draw.Meta},
		{
			name: "BRANCHES", cell: func(_ *program, s *jsonSession) string { return nonZero(s.Branches) },
			full: func(s *jsonSession) string { return fmt.Sprint(s.Branches) }, rank: 5, common: true, number: true, role: draw.Meta,
		},
		{name: "TITLE", cell: clean(func(s *jsonSession) string { return s.Title }), full: func(s *jsonSession) string { return draw.One(s.Title, draw.Unicode) }},
	}
	if p.allOwners {
		columns = append(columns[:1:1], append([]column{owner}, columns[1:]...)...)
	}
	return columns
}

// writeRows writes all columns of sessions, separated by tabs.
func (p *program) writeRows(sessions []jsonSession) error {
	columns := p.columnsOfList()
	var b strings.Builder
	row := func(cell func(c *column) string) {
		for i := range columns {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(cell(&columns[i]))
		}
		b.WriteByte('\n')
	}
	row(func(c *column) string { return strings.Replace(c.name, "AGE", "UPDATED", 1) })
	for i := range sessions {
		row(func(c *column) string {
			if c.full != nil {
				return c.full(&sessions[i])
			}
			return c.cell(p, &sessions[i])
		})
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

// table lays out sessions in as many columns as fit. The title gets the remaining
// width, and at least half of it if it needs that.
func (p *program) table(sessions []jsonSession) []draw.Line {
	charset, columns := p.charset(), p.columnsOfList()
	cells := make([][]string, len(columns)) // by column; the first is its name
	widths := make([]int, len(columns))
	for i, c := range columns {
		cells[i] = []string{c.name}
		for j := range sessions {
			cells[i] = append(cells[i], c.cell(p, &sessions[j]))
		}
		for _, cell := range cells[i] {
			widths[i] = max(widths[i], draw.Width(cell))
		}
	}
	const gap, minTitle = 2, 16
	title := len(columns) - 1
	width := p.tableColumns()
	room := width - widths[0]
	shown := make([]bool, len(columns))
	shown[0], shown[title] = true, true
	var common []string
	for rank := 1; rank < len(columns); rank++ {
		for i, c := range columns {
			switch {
			case c.rank != rank:
			case c.common && len(sessions) > 1 && same(cells[i][1:]):
				if value := cells[i][1]; value != "" {
					common = append(common, strings.ToLower(c.name)+" "+value)
				}
			case room-gap-widths[i] >= gap+min(widths[title], max(minTitle, width/2)):
				shown[i] = true
				room -= gap + widths[i]
			}
		}
	}
	widths[title] = max(room-gap, minTitle)
	var lines []draw.Line
	for n := range len(sessions) + 1 {
		var line draw.Line
		for i, c := range columns {
			if !shown[i] {
				continue
			}
			span := draw.Span{Text: cells[i][n], Role: c.role}
			pad := strings.Repeat(" ", max(widths[i]-draw.Width(span.Text), 0))
			switch {
			case i == title:
				span.Text = draw.Truncate(span.Text, widths[i], ellipsis(charset))
			case c.number:
				span.Text = pad + span.Text + "  "
			default:
				span.Text += pad + "  "
			}
			switch {
			case n == 0:
				span.Role = draw.Meta
			case c.name == "STATE" && cells[i][n] == string(sequent.Completed):
				span.Role = draw.Final
			}
			line = append(line, span)
		}
		lines = append(lines, line)
	}
	if len(common) > 0 {
		lines = append(lines, draw.Beside(nil, "All: "+strings.Join(common, ", "), draw.Meta, draw.Options{Width: width, Charset: charset})...)
	}
	return lines
}

// nonZero returns a number, or nothing for 0.
func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// same reports whether all values are equal.
func same(values []string) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

func ellipsis(c draw.Charset) string {
	if c == draw.Unicode {
		return "…"
	}
	return "~"
}
