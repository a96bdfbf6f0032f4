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
)

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
	if p.remote() && p.given("from") {
		return nil, &usageError{msg: "--from is for notes in a store: a server knows whose token it is", fix: "leave --from out"}
	}
	found, err := p.refer(ctx, p.engine, p.args[:1])
	if err != nil {
		return nil, err
	}
	id := found.session.ID()
	if !found.reference.NamesThought() {
		return nil, &usageError{
			msg: fmt.Sprintf("%s is a session, and a note belongs to a thought", id),
			fix: fmt.Sprintf("pass %s#N with the number of the thought", id),
		}
	}
	t, err := found.session.Resolve(found.reference)
	if err != nil {
		return nil, err
	}
	n.Seq = t.Seq
	if p.remote() {
		n, err = p.sendNote(ctx, found.session.Key(), n)
	} else {
		var s *sequent.Session
		s, err = found.engine.Update(ctx, id, func(c *sequent.Change) error { return c.AddNote(n) })
		if err == nil {
			notes := s.Notes()
			n = notes[len(notes)-1]
		}
	}
	return &noted{newJSONNote(found.session.Key(), n), t}, err
}

// sendNote adds a note to a session of the server, and returns what was recorded.
func (p *program) sendNote(ctx context.Context, k sequent.Key, n sequent.Note) (sequent.Note, error) {
	r, err := p.connect()
	if err != nil {
		return n, err
	}
	var made sequent.Note
	body := map[string]any{"id": k.ID, "seq": n.Seq, "kind": n.Kind, "text": n.Text}
	if err := r.call(ctx, http.MethodPost, "notes", url.Values{"owner": {k.Owner}}, body, &made); err != nil {
		return n, r.explain(err)
	}
	n.From, n.At = made.From, made.At
	return n, nil
}

// A noted is a note that was added to a thought.
type noted struct {
	jsonNote
	thought sequent.Thought
}

func (n *noted) text(pg *page) {
	pg.say("Noted at thought %s of session %s.", pg.one(brief.Name(n.thought)), pg.one(string(n.Session)))
}

// A jsonNote is a note in JSON output.
type jsonNote struct {
	Session sequent.ID `json:"session"`
	sequent.Note
	Owner string `json:"owner,omitempty"` // of the session; empty for the local user
}

func newJSONNote(k sequent.Key, n sequent.Note) jsonNote { return jsonNote{k.ID, n, k.Owner} }
