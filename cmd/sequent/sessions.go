package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// A jsonSession is a session as --json lists it.
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
}

// A jsonThought is a thought as --json shows it beside its session.
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

// fieldID is the argument at fault in errors that say all there is to say.
const fieldID = "ID"

// latest returns the session that changed last, or an error that tells how to
// begin one.
func latest(ctx context.Context, e *sequent.Engine) (*sequent.Session, error) {
	for {
		page, err := e.Sessions(ctx, sequent.Query{Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(page.Headers) == 0 {
			return nil, &sequent.Error{
				Code: sequent.CodeSessionNotFound, Field: fieldID,
				Msg: "there are no sessions yet",
				Fix: "sequent demo makes one",
			}
		}
		s, err := e.Session(ctx, page.Headers[0].ID)
		if errors.Is(err, sequent.ErrNotFound) {
			continue // deleted just now
		}
		return s, err
	}
}

// find returns the session that a person means by an id or the beginning of one.
func find(ctx context.Context, e *sequent.Engine, id string) (*sequent.Session, error) {
	s, err := e.Session(ctx, sequent.ID(id))
	if err == nil || sequent.CodeOf(err) != sequent.CodeSessionNotFound {
		return s, err
	}
	matching, err := withPrefix(ctx, e, id, 6)
	if err != nil {
		return nil, err
	}
	switch len(matching) {
	case 0:
		return nil, &sequent.Error{
			Code: sequent.CodeSessionNotFound, Field: fieldID,
			Msg: fmt.Sprintf("there is no session %q, nor one whose id begins like that", id),
			Fix: "sequent list shows the sessions there are",
		}
	case 1:
		return e.Session(ctx, matching[0].ID)
	}
	var ids []string
	for _, h := range matching[:min(len(matching), 5)] {
		ids = append(ids, string(h.ID))
	}
	if len(matching) > 5 {
		ids = append(ids, "…")
	}
	return nil, &usageError{
		msg: fmt.Sprintf("several sessions begin with %q: %s", id, strings.Join(ids, ", ")),
		fix: "add a character or two",
	}
}

// withPrefix returns at most most sessions whose ids begin with prefix.
func withPrefix(ctx context.Context, e *sequent.Engine, prefix string, most int) ([]sequent.Header, error) {
	var matching []sequent.Header
	q := sequent.Query{Limit: 1000}
	for {
		page, err := e.Sessions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, h := range page.Headers {
			if strings.HasPrefix(string(h.ID), prefix) {
				if matching = append(matching, h); len(matching) == most {
					return matching, nil
				}
			}
		}
		if page.Next == "" {
			return matching, nil
		}
		q.Cursor = page.Next
	}
}

// completeIDs gives the shell the ids of sessions, the latest first.
func (p *program) completeIDs(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 && c.Name() != "delete" {
		return nil, none
	}
	var ids []string
	err := p.reading(c.Context(), func(a *app.App) error {
		matching, err := withPrefix(c.Context(), a.Engine, prefix, 50)
		for _, h := range matching {
			ids = append(ids, cobra.CompletionWithDesc(string(h.ID), draw.One(h.Title, p.charset())))
		}
		return err
	})
	if err != nil {
		return nil, none // a shell has no place for it
	}
	return ids, none | cobra.ShellCompDirectiveKeepOrder
}

// beginning is what a list without sessions says.
const beginning = `No sessions yet.

  sequent demo          see one come into being, over a real MCP connection
  sequent serve         the MCP server, for the configuration of your editor:

%s`
