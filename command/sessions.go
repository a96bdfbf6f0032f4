package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/reference"
)

// A jsonThought is a thought in JSON output.
type jsonThought struct {
	Session sequent.ID `json:"session"`
	sequent.Thought
}

// alteredNote says that sessions are not what was recorded.
func (p *program) alteredNote(ids []string) string {
	slices.Sort(ids)
	return "These are not what was recorded: " + printable.Line(some(slices.Compact(ids))) + ". sequent store verify ID says more."
}

// fieldID is the field of errors about an ID argument.
const fieldID = "ID"

// latest returns the session of the project that changed last.
func (p *program) latest(ctx context.Context, e *sequent.Engine) (*sequent.Session, error) {
	for h, err := range e.AllSessions(ctx, sequent.Query{AllOwners: p.allOwners, Project: p.inProject(), Limit: 1}) {
		if err != nil {
			return nil, err
		}
		if s, err := e.Owned(h.Owner).Session(ctx, h.ID); !errors.Is(err, sequent.ErrNotFound) { // deleted just now
			return s, err
		}
	}
	return nil, &sequent.Error{Code: sequent.CodeSessionNotFound, Field: fieldID, Msg: "there are no sessions"}
}

// A referred is a session to which an argument refers, perhaps with one of its thoughts.
type referred struct {
	engine    *sequent.Engine // of the owner of the session
	session   *sequent.Session
	reference reference.Reference
}

// session returns the session that the arguments name, or the latest of the project. A thought is refused.
func (p *program) session(ctx context.Context, args []string) (*sequent.Session, *sequent.Engine, error) {
	found, err := p.refer(ctx, args)
	if err == nil && found.reference.NamesThought() {
		err = &usageError{msg: fmt.Sprintf("%s is a thought, and this command takes a session", found.reference), fix: "pass " + string(found.session.ID())}
	}
	return found.session, found.engine, err
}

// thoughtOfLatest matches arguments that name a thought of the latest session, unless they are the
// ID of a session.
var thoughtOfLatest = lazyregexp.New(`^(#?(0|[1-9][0-9]{0,5})|@[0-9]+|#.+#[0-9]+)$`)

// refer returns the session that an argument refers to; without one, the latest. The ID
// in the argument may be shortened to its first characters if no reading of the argument
// has a whole one. #4, #name#4, @17, and 4 if no session has that ID, are thoughts of the
// latest session. With --all-owners it finds the sessions of every owner.
func (p *program) refer(ctx context.Context, args []string) (referred, error) {
	e := p.engine
	if len(args) == 0 {
		s, err := p.latest(ctx, e)
		if err != nil {
			return referred{}, err
		}
		return referred{engine: e.Owned(s.Owner()), session: s}, nil
	}
	s, r, err := reference.Find(ctx, e, args[0])
	switch code := sequent.CodeOf(err); {
	case code != sequent.CodeSessionNotFound && code != sequent.CodeInvalidSession:
		return referred{e, s, r}, err
	case thoughtOfLatest().MatchString(args[0]):
		return p.referToThought(ctx, args[0])
	case code == sequent.CodeInvalidSession:
		return referred{}, err
	}
	k, r, err := p.match(ctx, args[0])
	if err != nil {
		return referred{}, err
	}
	r.Session = k.ID
	e = e.Owned(k.Owner)
	s, err = e.Session(ctx, k.ID)
	return referred{e, s, r}, err
}

// match returns the one session with the ID of a reference, or with an ID that begins with it. Whole IDs come
// first, then the earlier readings of the reference.
func (p *program) match(ctx context.Context, text string) (k sequent.Key, r reference.Reference, err error) {
	const most = 5 // sessions that an error names
	readings := slices.Collect(reference.Readings(text))
	var matching []string
	best := 2 * len(readings)
	for h, err := range p.engine.AllSessions(ctx, sequent.Query{AllOwners: p.allOwners}) {
		if err != nil {
			return k, r, err
		}
		for i, reading := range readings {
			if h.ID != reading.Session {
				i += len(readings)
			}
			if i > best || !strings.HasPrefix(string(h.ID), string(reading.Session)) {
				continue
			}
			if i < best {
				best, matching = i, nil
			}
			if k, r = h.Key, reading; len(matching) <= most {
				matching = append(matching, string(h.ID)+" of "+cmp.Or(h.Owner, "you"))
			}
		}
	}
	prefix := readings[best%len(readings)].Session
	switch len(matching) {
	case 0:
		return k, r, sequent.Errorf(sequent.CodeSessionNotFound, fieldID, "",
			"no session has an id that begins with %q", readings[len(readings)-1].Session)
	case 1:
		return k, r, nil
	case most + 1:
		matching[most] = "…"
	}
	fix := "pass more characters of the id"
	if best < len(readings) {
		fix = "pass one of the owners with --owner"
	}
	return k, r, &usageError{
		msg: fmt.Sprintf("several sessions have an id that begins with %q: %s", prefix, strings.Join(matching, ", ")), fix: fix,
	}
}

// referToThought returns the latest session with a reference to one of its thoughts.
func (p *program) referToThought(ctx context.Context, text string) (referred, error) {
	s, err := p.latest(ctx, p.engine)
	if err != nil {
		return referred{}, err
	}
	r, err := reference.Parse(s, text)
	if err == nil {
		_, err = r.Resolve(s)
	}
	if missing, ok := errors.AsType[*sequent.Error](err); ok {
		e := *missing
		e.Msg = fmt.Sprintf("no session has the id %q, and in the latest session %s", text, missing.Msg)
		err = &e
	}
	return referred{p.engine.Owned(s.Owner()), s, r}, err
}

// A sessionList is what sequent list found.
type sessionList struct {
	Sessions []listed `json:"sessions"`
	More     bool     `json:"more"`
	Others   int      `json:"elsewhere,omitempty"` // sessions of other projects
	hint     string   // where sessions are, if there are none here
}

// A listed is a session in a list.
type listed struct {
	State string `json:"state"` // that of the header, or of the plan that it is
	sequent.Header
	Altered bool `json:"altered,omitempty"` // this is not what was recorded
}

func runList(p *program, ctx context.Context) (result, error) {
	q, l := p.query(), &sessionList{Sessions: []listed{}}
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
		if st, _ := plan.StateOf(h); st.State == plan.Failed {
			state = plan.Failed
		}
		altered := h.Seal != h.Digest()
		h.Scope, h.Request, h.Labels = "", sequent.Request{}, nil // for dialects, and perhaps long
		l.Sessions = append(l.Sessions, listed{state, h, altered})
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
		notes("%s more in other projects. Pass --all-projects to list all.", printable.Count(l.Others, "session", "sessions"))
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
			{printable.Age(pg.now().Sub(s.Updated)), draw.Meta}, state, {fmt.Sprint(s.Len), draw.Meta}, {printable.Line(s.Title), draw.Text},
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
		row(s.Owner, string(s.ID), s.Updated.Format(time.RFC3339), s.State, s.Dialect, fmt.Sprint(s.Len), fmt.Sprint(s.Branches), s.Title)
	}
}
