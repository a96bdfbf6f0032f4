package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A noted is a note that was added to a thought.
type noted struct {
	jsonNote
	thought sequent.Thought
}

// A jsonNote is a note in JSON output.
type jsonNote struct {
	Session sequent.ID `json:"session"`
	sequent.Note
	Owner string `json:"owner,omitempty"` // of the session; empty for the local user
}

func runNote(p *program, ctx context.Context) (result, error) {
	n := sequent.Note{
		Kind: sequent.Remark, Text: strings.Join(p.args[1:], " "),
		From: cmp.Or(p.from, app.Person(""), p.getenv("USER"), p.getenv("USERNAME")),
	}
	switch {
	case p.wrong && p.approve:
		return nil, usagef("--wrong and --approve are mutually exclusive")
	case p.wrong:
		n.Kind = sequent.Wrong
	case p.approve:
		n.Kind = sequent.Approval
	case strings.TrimSpace(n.Text) == "":
		return nil, misuse(p.cmd, "%s requires a text, --wrong or --approve", p.cmd.CommandPath())
	}
	if p.remote != nil && p.given("from") {
		return nil, &usageError{msg: "--from is for notes in a store: a server knows whose token it is", fix: "leave --from out"}
	}
	found, err := p.refer(ctx, p.args[:1])
	if err != nil {
		return nil, err
	}
	k := found.session.Key()
	if !found.reference.NamesThought() {
		return nil, &usageError{
			msg: fmt.Sprintf("%s is a session, and a note belongs to a thought", k.ID),
			fix: fmt.Sprintf("pass %s#N with the number of the thought", k.ID),
		}
	}
	t, err := found.session.Resolve(found.reference)
	if err != nil {
		return nil, err
	}
	if n.Seq = t.Seq; p.remote != nil {
		body := map[string]any{"id": k.ID, "seq": n.Seq, "kind": n.Kind, "text": n.Text}
		err = p.remote.explain(p.remote.call(ctx, http.MethodPost, "notes", url.Values{"owner": {k.Owner}}, body, &n))
	} else {
		var s *sequent.Session
		if s, err = found.engine.Update(ctx, k.ID, func(c *sequent.Change) error { return c.AddNote(n) }); err == nil {
			notes := s.Notes()
			n = notes[len(notes)-1]
		}
	}
	return &noted{jsonNote{k.ID, n, k.Owner}, t}, err
}

func (n *noted) text(pg *page) {
	pg.say("Noted at thought %s of session %s.", printable.Line(brief.Name(n.thought)), printable.Line(string(n.Session)))
}
