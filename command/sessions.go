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
	"github.com/sequent-dev/sequent/internal/draw"
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
	Demo     bool      `json:"demo,omitempty"`  // recorded by sequent demo

	Context sequent.Context `json:"context,omitzero"`
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
	More     bool      `json:"more"`
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
		Branch: t.Branch, From: ref(t.From), Revises: ref(t.Revises), Revision: t.Revision, More: t.More, At: t.At,
	}
}

// fieldID is the field of errors about an ID argument. They have a Fix already.
const fieldID = "ID"

// latest returns the session of a query that changed last.
func latest(ctx context.Context, e *sequent.Engine, q sequent.Query) (*sequent.Session, error) {
	for {
		k, err := latestKey(ctx, e, q)
		if err != nil {
			return nil, err
		}
		s, err := e.Owned(k.Owner).Session(ctx, k.ID)
		if errors.Is(err, sequent.ErrNotFound) {
			continue // deleted just now
		}
		return s, err
	}
}

// latestKey is latest for the key.
func latestKey(ctx context.Context, e *sequent.Engine, q sequent.Query) (sequent.Key, error) {
	q.Limit = 1
	page, err := e.Sessions(ctx, q)
	if err != nil {
		return sequent.Key{}, err
	}
	if len(page.Headers) == 0 {
		return sequent.Key{}, noSessions(ctx, e, q.Project)
	}
	return page.Headers[0].Key, nil
}

func noSessions(ctx context.Context, e *sequent.Engine, project string) error {
	if n, err := e.Elsewhere(ctx, project); err == nil && n > 0 {
		return &sequent.Error{
			Code: sequent.CodeSessionNotFound, Field: fieldID,
			Msg: "there are no sessions of the project " + project,
			Fix: "pass an ID, or --all-projects for the latest of " + counted(n) + " in other projects",
		}
	}
	if others := otherOwners(ctx, e); others != "" {
		return &sequent.Error{
			Code: sequent.CodeSessionNotFound, Field: fieldID,
			Msg: "you have no sessions here",
			Fix: "pass --owner NAME; owners with sessions: " + others,
		}
	}
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: fieldID,
		Msg: "there are no sessions yet",
		Fix: "run sequent demo to create one",
	}
}

// find returns the session with the given id or, if there is none, the only one
// whose id begins with it.
func find(ctx context.Context, e *sequent.Engine, id string) (*sequent.Session, error) {
	s, err := e.Session(ctx, sequent.ID(id))
	if err == nil || sequent.CodeOf(err) != sequent.CodeSessionNotFound {
		return s, err
	}
	full, err := idWithPrefix(ctx, e, id)
	if err != nil {
		return nil, err
	}
	return e.Session(ctx, full)
}

// wanted returns the session that the arguments name, or the latest of the project.
func (p *program) wanted(ctx context.Context, e *sequent.Engine, args []string) (*sequent.Session, error) {
	if len(args) == 0 {
		project, err := p.inProject()
		if err != nil {
			return nil, err
		}
		return latest(ctx, e, sequent.Query{Project: project})
	}
	return find(ctx, e, args[0])
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

// refer returns the session that an argument refers to; without one, the latest. The ID
// in the argument may be shortened to its first characters if no reading of the argument
// has a whole one. With --all-owners it finds the sessions of every owner.
func (p *program) refer(ctx context.Context, e *sequent.Engine, args []string) (referred, error) {
	if len(args) == 0 {
		return p.referLatest(ctx, e)
	}
	text := args[0]
	s, r, err := e.Refer(ctx, text)
	if sequent.CodeOf(err) != sequent.CodeSessionNotFound {
		return referred{e, s, r}, err
	}
	matches := []func(h *sequent.Header, id sequent.ID) bool{
		func(h *sequent.Header, id sequent.ID) bool { return h.ID == id },
		func(h *sequent.Header, id sequent.ID) bool { return strings.HasPrefix(string(h.ID), string(id)) },
	}
	if !p.allOwners {
		matches = matches[1:] // Refer has looked for whole ids
	}
	for _, match := range matches {
		for r := range sequent.References(text) {
			var matching []sequent.Header
			for h, err := range e.AllSessions(ctx, sequent.Query{AllOwners: p.allOwners}) {
				if err != nil {
					return referred{}, err
				}
				if match(&h, r.Session) {
					if matching = append(matching, h); len(matching) == maxMatching+1 {
						break
					}
				}
			}
			if len(matching) == 0 {
				continue
			}
			h, err := only(matching, string(r.Session))
			if err != nil {
				return referred{}, err
			}
			r.Session = h.ID
			owned := e.Owned(h.Owner)
			s, err := owned.Session(ctx, h.ID)
			return referred{owned, s, r}, err
		}
	}
	shortest := ""
	for r := range sequent.References(text) {
		shortest = string(r.Session)
	}
	err = noPrefix(shortest)
	if !p.allOwners && p.owner == "" {
		if others := ownersWith(ctx, e, shortest); others != "" {
			err = &sequent.Error{
				Code: sequent.CodeSessionNotFound, Field: fieldID,
				Msg: fmt.Sprintf("you have no session whose id begins with %q", shortest), Fix: "pass the owner who has: " + others,
			}
		}
	}
	return referred{}, err
}

// maxOthers limits how many sessions of other owners are looked at for a mistyped id.
const maxOthers = 10_000

// ownersWith returns the flags for the owners that have sessions whose ids begin with prefix,
// among the maxOthers sessions that were changed last. It is empty if there are none, or if a
// server does not tell.
func ownersWith(ctx context.Context, e *sequent.Engine, prefix string) string {
	var flags []string
	looked := 0
	for h, err := range e.Owned("").AllSessions(ctx, sequent.Query{AllOwners: true, Limit: 1000}) {
		if looked++; err != nil || looked > maxOthers {
			break
		}
		if flag := "--owner " + quoted(draw.One(h.Owner, draw.Unicode)); h.Owner != "" && strings.HasPrefix(string(h.ID), prefix) && !slices.Contains(flags, flag) {
			if flags = append(flags, flag); len(flags) == maxMatching {
				break
			}
		}
	}
	return strings.Join(flags, " or ")
}

// referLatest returns the session that changed last.
func (p *program) referLatest(ctx context.Context, e *sequent.Engine) (referred, error) {
	project, err := p.inProject()
	if err != nil {
		return referred{}, err
	}
	s, err := latest(ctx, e, sequent.Query{AllOwners: p.allOwners, Project: project})
	if err != nil {
		return referred{}, err
	}
	return referred{engine: e.Owned(s.Owner()), session: s}, nil
}

// maxMatching is the number of sessions that an error about an ambiguous id names.
const maxMatching = 5

// only returns the only one of the sessions whose ids begin with prefix, or an error that
// names some of them.
func only(matching []sequent.Header, prefix string) (sequent.Header, error) {
	if len(matching) == 1 {
		return matching[0], nil
	}
	var ids, owners []string
	for _, h := range matching[:min(len(matching), maxMatching)] {
		ids = append(ids, string(h.ID))
		owners = append(owners, cmp.Or(h.Owner, "you"))
	}
	if len(matching) > maxMatching {
		ids, owners = append(ids, "…"), append(owners, "…")
	}
	if same(ids[:min(len(ids), maxMatching)]) {
		return sequent.Header{}, &usageError{
			msg: fmt.Sprintf("several owners have a session %q: %s", ids[0], strings.Join(owners, ", ")),
			fix: "pass one of them with --owner",
		}
	}
	return sequent.Header{}, &usageError{
		msg: fmt.Sprintf("several sessions have an id that begins with %q: %s", prefix, strings.Join(ids, ", ")),
		fix: "pass more characters of the id",
	}
}

// idWithPrefix returns the only id that begins with prefix.
func idWithPrefix(ctx context.Context, e *sequent.Engine, prefix string) (sequent.ID, error) {
	matching, err := withPrefix(ctx, e, prefix, maxMatching+1)
	if err != nil {
		return "", err
	}
	if len(matching) == 0 {
		if others := ownersWith(ctx, e, prefix); others != "" {
			return "", &sequent.Error{
				Code: sequent.CodeSessionNotFound, Field: fieldID,
				Msg: fmt.Sprintf("no session here has an id that begins with %q", prefix), Fix: "pass the owner who has: " + others,
			}
		}
		return "", noPrefix(prefix)
	}
	h, err := only(matching, prefix)
	return h.ID, err
}

func noPrefix(prefix string) error {
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: fieldID,
		Msg: fmt.Sprintf("no session has an id that begins with %q", prefix),
		Fix: "run sequent list for the ids of sessions",
	}
}

// withPrefix returns at most limit sessions whose ids begin with prefix, the latest
// first.
func withPrefix(ctx context.Context, e *sequent.Engine, prefix string, limit int) ([]sequent.Header, error) {
	var matching []sequent.Header
	for h, err := range e.AllSessions(ctx, sequent.Query{}) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(h.ID), prefix) {
			if matching = append(matching, h); len(matching) == limit {
				break
			}
		}
	}
	return matching, nil
}

// completeIDs returns completions of session ids, the latest first.
func (p *program) completeIDs(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 && c.Name() != "delete" {
		return nil, none
	}
	var ids []string
	err := p.withStore(c.Context(), func(a *app.App) error {
		matching, err := withPrefix(c.Context(), a.Engine, prefix, 50)
		for _, h := range matching {
			ids = append(ids, cobra.CompletionWithDesc(string(h.ID), draw.One(h.Title, p.charset())))
		}
		return err
	})
	if err != nil {
		return nil, none // a shell cannot show an error
	}
	return ids, none | cobra.ShellCompDirectiveKeepOrder
}

// beginning is the output of sequent list without sessions.
const beginning = `No sessions yet.

  sequent demo          record and draw an example session
  sequent setup         add the server to your editor or agent`
