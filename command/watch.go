package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) watch() *cobra.Command {
	var untilComplete bool
	c := &cobra.Command{
		Use:   "watch [ID]",
		Short: "Follow sessions live",
		Long: `Follow a session while an agent in another process records it. With an ID, follow that session from its
first thought. Without an ID, follow the sessions of this project, which is the git work tree of the working
directory, and those without a project. --all-projects follows all.

On a terminal the latest of them is redrawn with each thought: q quits, the arrow keys scroll, and f
returns to the newest thought. Otherwise each thought is printed on one line as soon as it is recorded.

--server follows the sessions of a server, sequent serve --http or sequent view. The token of the server is
read from the environment variable SEQUENT_TOKEN; without it, that of sequent login is sent. It crosses networks
with https only. The command connects again by itself, and misses and repeats nothing.

--all-owners follows the sessions of everyone, and names the owner of each thought: beside the store, or on a
server with a token of the scope admin.

--json prints one object per thought: {session, seq, number, total, text, branch, from, revises,
revision, more, at, owner}, and one per note of a person: {session, seq, kind, text, from, at, owner}.`,
		Example: "# follow your agent in a second terminal\nsequent watch\n\n" +
			"# until the session is complete\nsequent watch 7k3 --until-complete\n\n" +
			"# only the texts\nsequent watch --json | jq -r .text\n\n" +
			"# the sessions of a team's server\nSEQUENT_TOKEN=$(cat token) sequent watch --server https://think.example.com\n\n" +
			"# all that a team thinks\nsequent watch --all-owners --all-projects",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			remote, err := p.fromServer()
			if err != nil {
				return err
			}
			open := app.OpenExisting
			switch {
			case remote:
				open = p.openServer
			case p.store == "": // a server may start to use the default store later
				open = app.Open
			}
			return p.withApp(c.Context(), open, p.config(), func(a *app.App) error {
				if err := p.checkOwner(c.Context(), a); sequent.CodeOf(err) == sequent.CodeSessionNotFound && len(args) == 0 {
					e := newUserError(err, c.CommandPath()) // there may be a first one soon
					fmt.Fprintln(p.err, draw.One(sentence(e.Message)+" "+sentence(e.Fix), draw.Unicode))
				} else if err != nil {
					return err
				}
				changes, err := a.Engine.Watch(c.Context())
				if err != nil {
					return err
				}
				defer changes.Close()
				project, err := p.inProject()
				if err != nil {
					return err
				}
				w := &watcher{
					engine: a.Engine, query: sequent.Query{AllOwners: p.allOwners, Project: project},
					changes: changes, untilComplete: untilComplete,
				}
				if len(args) > 0 {
					found, err := p.refer(c.Context(), a.Engine, args)
					if err != nil {
						return err
					}
					if err := found.whole(c.CommandPath()); err != nil {
						return err
					}
					w.engine, w.id = found.engine, found.session.ID()
					changes.Add(found.session.Key())
				} else {
					changes.Add(sequent.Key{})
				}
				switch {
				case isTerminal(p.out) && isTerminal(p.in) && !p.json:
					err = p.watchScreen(c.Context(), w)
				case w.id != "":
					err = p.watchOne(c.Context(), w)
				default:
					err = p.watchAll(c.Context(), w)
				}
				if c.Context().Err() != nil {
					return nil // a signal is the normal end
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&untilComplete, "until-complete", false, "exit when the session is complete")
	p.addJSONFlag(c)
	p.addProjectFlags(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	p.addWidthFlag(c)
	return c
}

// A watcher waits for changes of sessions.
type watcher struct {
	engine        *sequent.Engine
	id            sequent.ID     // of a session of the engine; empty means those of query
	query         sequent.Query  // of whom, and of which project
	changes       *sequent.Watch // of them; a screen opens one if it is nil
	untilComplete bool
}

// next waits until the session differs from known and returns it. Without an id it
// is the latest session.
func (w *watcher) next(ctx context.Context, known *sequent.Session) (*sequent.Session, error) {
	for {
		var s *sequent.Session
		var err error
		if w.id != "" {
			s, err = w.engine.Session(ctx, w.id)
		} else if s, err = latest(ctx, w.engine, w.query); sequent.CodeOf(err) == sequent.CodeSessionNotFound {
			s, err = nil, nil // no session yet
		}
		if err != nil {
			return nil, err
		}
		if s != nil && (known == nil || s.ID() != known.ID() || s.Position() != known.Position()) {
			return s, nil
		}
		if _, err := w.changes.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// A watched session is how much of a session was written.
type watched struct {
	at     sequent.Position
	failed bool      // the failure of its plan was written
	notes  int       // that were written
	until  time.Time // notes until then are not written either
}

// watchOne writes the existing and future thoughts of one session.
func (p *program) watchOne(ctx context.Context, w *watcher) error {
	var known *sequent.Session
	for {
		s, err := w.next(ctx, known)
		if err != nil {
			return err
		}
		from, notes := 0, 0
		if known != nil {
			from, notes = known.Len(), len(known.Notes())
			if known.Epoch() != s.Epoch() {
				return &sequent.Error{Code: sequent.CodeSessionNotFound, Field: fieldID, Msg: fmt.Sprintf("session %q was deleted", w.id)}
			}
		}
		for t := range s.Since(from) {
			if err := p.line(s.Key(), t, true); err != nil {
				return err
			}
			if known != nil && w.untilComplete && !t.More {
				return nil
			}
		}
		if err := p.notes(s, notes, true); err != nil {
			return err
		}
		if err := p.reportFailure(s, known != nil && p.failure(known) != "", true); err != nil {
			return err
		}
		if w.untilComplete && s.State() != sequent.Active {
			return nil
		}
		known = s
	}
}

// skew is how much later than another thought a thought can be recorded that has an earlier time,
// from the clock of another machine.
const skew = time.Minute

// A following is what is known of the sessions of a project.
type following struct {
	since time.Time // sessions that have not changed since then are not read
	seen  map[sequent.Key]watched
}

// watchAll writes the future thoughts of all sessions of the project.
func (p *program) watchAll(ctx context.Context, w *watcher) error {
	f := &following{seen: make(map[sequent.Key]watched)}
	if err := f.begin(ctx, w); err != nil {
		return err
	}
	if isTerminal(p.err) {
		fmt.Fprintln(p.err, "Waiting for thoughts. Press Ctrl-C to end.")
	}
	for {
		complete, err := p.printNew(ctx, w, f)
		if err != nil || complete && w.untilComplete {
			return err
		}
		if _, err := w.changes.Wait(ctx); err != nil {
			return err
		}
	}
}

// begin finds out what is there already. The times are those of the store, since the clock of this
// machine may differ.
func (f *following) begin(ctx context.Context, w *watcher) error {
	q := w.query
	q.Limit = 1
	page, err := w.engine.Sessions(ctx, q)
	if err != nil || len(page.Headers) == 0 {
		return err
	}
	f.since = page.Headers[0].Updated.Add(-skew)
	q = w.query
	q.Since = f.since
	for h, err := range w.engine.AllSessions(ctx, q) {
		if err != nil {
			return err
		}
		f.seen[h.Key] = watched{at: h.Position(), failed: plan.HasFailed(h), until: h.Updated}
	}
	return nil
}

// printNew writes the thoughts that were recorded since the last call. It reports
// whether a session was completed.
func (p *program) printNew(ctx context.Context, w *watcher, f *following) (complete bool, err error) {
	since, q := f.since, w.query
	q.Since = since
	for h, err := range w.engine.AllSessions(ctx, q) {
		if err != nil {
			return false, err
		}
		if recent := h.Updated.Add(-skew); recent.After(f.since) {
			f.since = recent
		}
		known, ok := f.seen[h.Key]
		if h.Position() == known.at {
			continue
		}
		s, err := w.engine.Owned(h.Owner).Session(ctx, h.ID)
		if sequent.CodeOf(err) == sequent.CodeSessionNotFound {
			continue // deleted just now
		}
		if err != nil {
			return false, err
		}
		from := 0
		switch {
		case !ok:
			known.until = since.Add(-time.Microsecond)
		case known.at.Epoch == s.Epoch():
			from = known.at.Len
		default: // begun again
			known = watched{}
		}
		for t := range s.Since(from) {
			if !ok && t.At.Before(since) {
				continue
			}
			if err := p.line(s.Key(), t, false); err != nil {
				return false, err
			}
			complete = complete || !t.More
		}
		if known.notes == 0 {
			for _, n := range s.Notes() {
				if !n.At.After(known.until) {
					known.notes++
				}
			}
		}
		if err := p.notes(s, known.notes, false); err != nil {
			return false, err
		}
		if err := p.reportFailure(s, known.failed, false); err != nil {
			return false, err
		}
		f.seen[h.Key] = watched{at: s.Position(), failed: p.failure(s) != "", notes: len(s.Notes()), until: known.until}
	}
	return complete, nil
}
