package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
)

// query returns the query for the sessions that the flags select.
func (p *program) query() sequent.Query {
	q := sequent.Query{AllOwners: p.allOwners, Project: p.inProject()}
	if p.since > 0 {
		q.Since = p.engine.Now().Add(-p.since)
	}
	return q
}

// inProject returns the project whose sessions a command is about, with those that have
// none; empty means all.
func (p *program) inProject() string {
	switch {
	case p.allProjects:
		return ""
	case p.project == "":
		return p.here("").Project
	}
	if info, err := os.Stat(p.project); err == nil && info.IsDir() {
		if project := p.here(p.project).Project; project != "" {
			return project
		}
	}
	return asRecorded(sequent.Origin{Project: p.project}).Project
}

// here returns where a session comes from that is begun in a directory; an empty one is
// the working directory.
func (p *program) here(dir string) sequent.Origin { return asRecorded(app.Workplace(dir)) }

// asRecorded returns an origin as sessions record it.
func asRecorded(o sequent.Origin) sequent.Origin {
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

// elsewhereOf adds to the error of a session that is not here where sessions are.
func (p *program) elsewhereOf(ctx context.Context, err error) error {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok || e.Code != sequent.CodeSessionNotFound || e.Field != fieldID || e.Fix != "" {
		return err
	}
	clone := *e
	clone.Fix = p.whereSessionsAre(ctx)
	return &clone
}

// whereSessionsAre says what to do if the flags select no sessions, or not the one that was meant.
func (p *program) whereSessionsAre(ctx context.Context) string {
	var hints []string
	if usage, err := p.engine.Owned("").Usage(ctx); err == nil && !p.allOwners {
		var names []string
		for _, u := range usage {
			if u.Owner != p.engine.Owner() && u.Sessions > 0 {
				names = append(names, fmt.Sprintf("%s (%d)", cmp.Or(printable.Line(u.Owner), p.nobody()), u.Sessions))
			}
		}
		if len(names) > 0 {
			hints = append(hints, "pass --owner NAME or --all-owners; owners with sessions: "+some(names))
		}
	}
	q := sequent.Query{AllOwners: p.allOwners, Project: p.inProject(), Limit: 1}
	n, _ := p.others(ctx, q)
	page, _ := p.engine.Sessions(ctx, q)
	switch {
	case n > 0:
		hints = append(hints, "pass --all-projects for "+counted(n)+" in other projects than "+printable.Line(q.Project))
	case len(page.Headers) > 0:
		hints = append(hints, "run sequent list for the ids of sessions")
	case len(hints) == 0 && p.remote != nil:
		hints = append(hints, "run sequent setup --team "+quoted(p.remote.base.JoinPath("mcp").String())+" to connect your editor or agent")
	case len(hints) == 0:
		hints = append(hints, "run sequent demo to record one, or run sequent setup to add the server to your editor or agent")
	}
	return runnable(strings.Join(hints, "; "))
}

// nobody names the owner without a name: the local user of the store's machine.
func (p *program) nobody() string {
	if p.remote != nil {
		return "(server)"
	}
	return "(you)"
}

// sentence returns text as a sentence.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// some returns the first of names, and how many more there are.
func some(names []string) string {
	const most = 12
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}
