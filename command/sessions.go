package command

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

// latest returns the session that changed last.
func latest(ctx context.Context, e *sequent.Engine) (*sequent.Session, error) {
	for {
		id, err := latestID(ctx, e)
		if err != nil {
			return nil, err
		}
		s, err := e.Session(ctx, id)
		if errors.Is(err, sequent.ErrNotFound) {
			continue // deleted just now
		}
		return s, err
	}
}

// latestID returns the id of the latest session.
func latestID(ctx context.Context, e *sequent.Engine) (sequent.ID, error) {
	page, err := e.Sessions(ctx, sequent.Query{Limit: 1})
	if err != nil {
		return "", err
	}
	if len(page.Headers) == 0 {
		return "", &sequent.Error{
			Code: sequent.CodeSessionNotFound, Field: fieldID,
			Msg: "there are no sessions yet",
			Fix: "run sequent demo to create one",
		}
	}
	return page.Headers[0].ID, nil
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

// idWithPrefix returns the only id that begins with prefix.
func idWithPrefix(ctx context.Context, e *sequent.Engine, prefix string) (sequent.ID, error) {
	matching, err := withPrefix(ctx, e, prefix, 6)
	if err != nil {
		return "", err
	}
	switch len(matching) {
	case 0:
		return "", &sequent.Error{
			Code: sequent.CodeSessionNotFound, Field: fieldID,
			Msg: fmt.Sprintf("no session has an id that begins with %q", prefix),
			Fix: "run sequent list for the ids of sessions",
		}
	case 1:
		return matching[0].ID, nil
	}
	var ids []string
	for _, h := range matching[:min(len(matching), 5)] {
		ids = append(ids, string(h.ID))
	}
	if len(matching) > 5 {
		ids = append(ids, "…")
	}
	return "", &usageError{
		msg: fmt.Sprintf("several sessions have an id that begins with %q: %s", prefix, strings.Join(ids, ", ")),
		fix: "pass more characters of the id",
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
