package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A jsonSession is a session in JSON output.
type jsonSession struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Dialect  string    `json:"dialect,omitempty"`
	Thoughts int       `json:"thoughts"`
	Branches int       `json:"branches"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Expires  time.Time `json:"expires,omitzero"`
	Owner    string    `json:"owner,omitempty"` // empty for the local user

	Altered bool `json:"altered,omitempty"` // this is not what was recorded

	Origin sequent.Origin `json:"origin,omitzero"`
}

// A jsonThought is a thought in JSON output.
type jsonThought struct {
	Session  string    `json:"session"`
	Seq      int       `json:"seq"`
	Number   int       `json:"number"`
	Total    int       `json:"total"`
	Text     string    `json:"text"`
	Branch   string    `json:"branch,omitempty"`
	From     *int      `json:"from,omitempty"`
	Revises  *int      `json:"revises,omitempty"`
	Revision bool      `json:"revision,omitempty"`
	Final    bool      `json:"final,omitempty"`
	At       time.Time `json:"at"`
}

func newJSONThought(id sequent.ID, t sequent.Thought) jsonThought {
	ref := func(r sequent.Ref) *int {
		if n, ok := r.Number(); ok {
			return &n
		}
		return nil
	}
	return jsonThought{
		Session: string(id), Seq: t.Seq, Number: t.Number, Total: t.Total, Text: t.Text,
		Branch: t.Branch, From: ref(t.From), Revises: ref(t.Revises), Revision: t.Revision, Final: t.Final, At: t.At,
	}
}

// alteredNote says that sessions are not what was recorded.
func (p *program) alteredNote(ids []string) string {
	slices.Sort(ids)
	return "These are not what was recorded: " + printable.Line(strings.Join(some(slices.Compact(ids)), ", ")) +
		". sequent store verify ID says more."
}

// fieldID is the field of errors about an ID argument.
const fieldID = "ID"

// query returns the query for the sessions that the flags select.
func (p *program) query() (sequent.Query, error) {
	project, err := p.inProject()
	q := sequent.Query{AllOwners: p.allOwners, Project: project}
	if p.since > 0 {
		q.Since = p.engine.Now().Add(-p.since)
	}
	return q, err
}

// latest returns the session of the project that changed last.
func (p *program) latest(ctx context.Context, e *sequent.Engine) (*sequent.Session, error) {
	project, err := p.inProject()
	if err != nil {
		return nil, err
	}
	for {
		page, err := e.Sessions(ctx, sequent.Query{AllOwners: p.allOwners, Project: project, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(page.Headers) == 0 {
			return nil, &sequent.Error{Code: sequent.CodeSessionNotFound, Field: fieldID, Msg: "there are no sessions"}
		}
		k := page.Headers[0].Key
		if s, err := e.Owned(k.Owner).Session(ctx, k.ID); !errors.Is(err, sequent.ErrNotFound) { // deleted just now
			return s, err
		}
	}
}

// A referred is a session to which an argument refers, perhaps with one of its thoughts.
type referred struct {
	engine    *sequent.Engine // of the owner of the session
	session   *sequent.Session
	reference sequent.Reference
}

// whole refuses a thought where a session is meant.
func (r *referred) whole(taker string) error {
	if !r.reference.NamesThought() {
		return nil
	}
	return &usageError{msg: fmt.Sprintf("%s is a thought, and %s takes a session", r.reference, taker), fix: "pass " + string(r.session.ID())}
}

// session returns the session that the arguments name, or the latest of the project.
func (p *program) session(ctx context.Context, e *sequent.Engine, args []string) (*sequent.Session, error) {
	found, err := p.refer(ctx, e, args)
	if err != nil {
		return nil, err
	}
	return found.session, found.whole("this command")
}

// thoughtOfLatest matches arguments that name a thought of the latest session, unless they are the
// ID of a session.
var thoughtOfLatest = lazyregexp.New(`^(#?(0|[1-9][0-9]{0,5})|@[0-9]+|#.+#[0-9]+)$`)

// refer returns the session that an argument refers to; without one, the latest. The ID
// in the argument may be shortened to its first characters if no reading of the argument
// has a whole one. #4, #name#4, @17, and 4 if no session has that ID, are thoughts of the
// latest session. With --all-owners it finds the sessions of every owner.
func (p *program) refer(ctx context.Context, e *sequent.Engine, args []string) (referred, error) {
	if len(args) == 0 {
		s, err := p.latest(ctx, e)
		if err != nil {
			return referred{}, err
		}
		return referred{engine: e.Owned(s.Owner()), session: s}, nil
	}
	s, r, err := e.Refer(ctx, args[0])
	switch code := sequent.CodeOf(err); {
	case code != sequent.CodeSessionNotFound && code != sequent.CodeInvalidSession:
		return referred{e, s, r}, err
	case thoughtOfLatest().MatchString(args[0]):
		return p.referToThought(ctx, e, args[0])
	case code == sequent.CodeInvalidSession:
		return referred{}, err
	}
	h, r, err := p.match(ctx, e, args[0])
	if err != nil {
		return referred{}, err
	}
	r.Session = h.ID
	e = e.Owned(h.Owner)
	s, err = e.Session(ctx, h.ID)
	return referred{e, s, r}, err
}

// match returns the one session with the ID of a reference, or with an ID that begins with it.
func (p *program) match(ctx context.Context, e *sequent.Engine, text string) (sequent.Header, sequent.Reference, error) {
	readings := slices.Collect(sequent.References(text))
	whole, begin := make([][]sequent.Header, len(readings)), make([][]sequent.Header, len(readings))
	for h, err := range e.AllSessions(ctx, sequent.Query{AllOwners: p.allOwners}) {
		if err != nil {
			return h, sequent.Reference{}, err
		}
		for i, r := range readings {
			if h.ID == r.Session {
				whole[i] = append(whole[i], h)
			} else if strings.HasPrefix(string(h.ID), string(r.Session)) && len(begin[i]) <= maxMatching {
				begin[i] = append(begin[i], h)
			}
		}
	}
	for i, matching := range append(whole, begin...) {
		if r := readings[i%len(readings)]; len(matching) > 0 {
			h, err := only(matching, string(r.Session))
			return h, r, err
		}
	}
	return sequent.Header{}, sequent.Reference{}, sequent.Errorf(sequent.CodeSessionNotFound, fieldID, "",
		"no session has an id that begins with %q", readings[len(readings)-1].Session)
}

// referToThought returns the latest session with a reference to one of its thoughts.
func (p *program) referToThought(ctx context.Context, e *sequent.Engine, text string) (referred, error) {
	s, err := p.latest(ctx, e)
	if err != nil {
		return referred{}, err
	}
	r, err := s.ParseReference(text)
	if err != nil {
		return referred{}, err
	}
	if _, err = s.Resolve(r); err == nil {
		return referred{e.Owned(s.Owner()), s, r}, nil
	}
	if missing, ok := errors.AsType[*sequent.Error](err); ok {
		e := *missing
		e.Msg = fmt.Sprintf("no session has the id %q, and in the latest session %s", text, missing.Msg)
		err = &e
	}
	return referred{}, err
}

// maxMatching is the number of sessions that an error about an ambiguous id names.
const maxMatching = 5

// only returns the only one of the sessions whose ids begin with prefix, or an error that
// names some of them.
func only(matching []sequent.Header, prefix string) (sequent.Header, error) {
	if len(matching) == 1 {
		return matching[0], nil
	}
	var names []string
	for _, h := range matching[:min(len(matching), maxMatching)] {
		names = append(names, string(h.ID)+" of "+cmp.Or(h.Owner, "you"))
	}
	if len(matching) > maxMatching {
		names = append(names, "…")
	}
	fix := "pass more characters of the id"
	if string(matching[0].ID) == prefix {
		fix = "pass one of the owners with --owner"
	}
	return sequent.Header{}, &usageError{
		msg: fmt.Sprintf("several sessions have an id that begins with %q: %s", prefix, strings.Join(names, ", ")), fix: fix,
	}
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
			hints = append(hints, "pass --owner NAME or --all-owners; owners with sessions: "+strings.Join(some(names), ", "))
		}
	}
	project, _ := p.inProject()
	q := sequent.Query{AllOwners: p.allOwners, Project: project, Limit: 1}
	n, _ := p.others(ctx, q)
	page, _ := p.engine.Sessions(ctx, q)
	switch {
	case n > 0:
		hints = append(hints, "pass --all-projects for "+counted(n)+" in other projects than "+printable.Line(project))
	case len(page.Headers) > 0:
		hints = append(hints, "run sequent list for the ids of sessions")
	case len(hints) == 0 && p.remote():
		hints = append(hints, "run sequent setup --team "+quoted(strings.TrimRight(p.serverShown(), "/")+"/mcp")+" to connect your editor or agent")
	case len(hints) == 0:
		hints = append(hints, "run sequent demo to record one, or run sequent setup to add the server to your editor or agent")
	}
	return runnable(strings.Join(hints, "; "))
}

// completeIDs returns completions of session ids, the latest first.
func (p *program) completeIDs(c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	var ids []string
	err := p.withStore(c.Context(), func(a *app.App) error {
		for h, err := range a.Engine.AllSessions(c.Context(), sequent.Query{}) {
			if err != nil || len(ids) == 50 {
				return err
			}
			if strings.HasPrefix(string(h.ID), prefix) {
				ids = append(ids, cobra.CompletionWithDesc(string(h.ID), printable.Line(h.Title)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, none // a shell cannot show an error
	}
	return ids, none | cobra.ShellCompDirectiveKeepOrder
}
