package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A sessionList is what sequent list found.
type sessionList struct {
	Sessions []jsonSession `json:"sessions"`
	More     bool          `json:"more"`
	Others   int           `json:"elsewhere,omitempty"` // sessions of other projects
	hint     string        // where sessions are, if there are none here
}

// A jsonSession is a session in JSON output.
type jsonSession struct {
	ID       sequent.ID `json:"id"`
	Title    string     `json:"title"`
	State    string     `json:"state"`
	Dialect  string     `json:"dialect,omitempty"`
	Thoughts int        `json:"thoughts"`
	Branches int        `json:"branches"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated"`
	Expires  time.Time  `json:"expires,omitzero"`
	Owner    string     `json:"owner,omitempty"` // empty for the local user

	Altered bool `json:"altered,omitempty"` // this is not what was recorded

	Origin sequent.Origin `json:"origin,omitzero"`
}

func runList(p *program, ctx context.Context) (result, error) {
	q, l := p.query(), &sessionList{Sessions: []jsonSession{}}
	var err error
	if l.Others, err = p.others(ctx, q); err != nil {
		return nil, err
	}
	if p.limit > 0 {
		q.Limit = p.limit + 1 // to know whether there are more
	}
	for h, err := range p.engine.AllSessions(ctx, q) {
		if err != nil {
			return nil, err
		}
		if l.More = p.limit > 0 && len(l.Sessions) == p.limit; l.More {
			break
		}
		state := string(h.State)
		if plan.HasFailed(h) {
			state = plan.Failed
		}
		l.Sessions = append(l.Sessions, jsonSession{
			ID: h.ID, Title: h.Title, State: state, Dialect: h.Dialect, Thoughts: h.Len, Branches: h.Branches,
			Created: h.Created, Updated: h.Updated, Expires: h.Expires, Owner: h.Owner, Origin: h.Origin, Altered: h.Seal != h.Digest(),
		})
	}
	if len(l.Sessions) == 0 {
		l.hint = p.whereSessionsAre(ctx)
	}
	return l, nil
}

func (l *sessionList) text(pg *page) {
	notes := pg.tell // standard output has rows only
	if pg.tabular() {
		notes = pg.say
	}
	switch {
	case len(l.Sessions) == 0 && pg.since > 0:
		pg.say("No sessions changed in the last %s.", formatSpan(pg.since))
	case len(l.Sessions) == 0:
		pg.say("No sessions. %s", sentence(l.hint))
		return
	case pg.tabular():
		pg.table(l.rows(pg))
	default:
		l.fields(pg)
	}
	var altered []string
	for _, s := range l.Sessions {
		if s.Altered {
			altered = append(altered, string(s.ID))
		}
	}
	if len(altered) > 0 {
		notes("%s", pg.alteredNote(altered))
	}
	if l.More {
		notes("There are more sessions. Pass --limit 0 to list all.")
	}
	if l.Others > 0 {
		notes("%s more in other projects. Pass --all-projects to list all.", counted(l.Others))
	}
}

// rows returns the list as a table for people.
func (l *sessionList) rows(pg *page) [][]cell {
	rows := [][]cell{head("ID", "OWNER", "AGE", "STATE", "THOUGHTS", "TITLE")}
	for _, s := range l.Sessions {
		state := cell{s.State, draw.Tag}
		if s.State == string(sequent.Completed) {
			state.role = draw.Final
		}
		rows = append(rows, []cell{
			{printable.Line(string(s.ID)), draw.Number}, {printable.Line(cmp.Or(s.Owner, pg.nobody())), draw.Meta},
			{printable.Age(pg.now().Sub(s.Updated)), draw.Meta}, state, {fmt.Sprint(s.Thoughts), draw.Meta}, {printable.Line(s.Title), draw.Text},
		})
	}
	for i, r := range rows {
		if !pg.allOwners {
			rows[i] = append(r[:1:1], r[2:]...)
		}
	}
	return rows
}

// fields adds the list as fields for programs, separated by tabs.
func (l *sessionList) fields(pg *page) {
	row := func(owner string, fields ...string) {
		if pg.allOwners {
			fields = append([]string{fields[0], owner}, fields[1:]...)
		}
		for i, f := range fields {
			fields[i] = printable.Line(f)
		}
		pg.add(draw.Line{{Text: strings.Join(fields, "\t")}})
	}
	row("OWNER", "ID", "UPDATED", "STATE", "DIALECT", "THOUGHTS", "BRANCHES", "TITLE")
	for _, s := range l.Sessions {
		row(s.Owner, string(s.ID), s.Updated.Format(time.RFC3339), s.State, s.Dialect, fmt.Sprint(s.Thoughts), fmt.Sprint(s.Branches), s.Title)
	}
}
