package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// bytesPerToken is the ratio that [dialect.Tokens] uses.
const bytesPerToken = 4

// A told is what a session came to.
type told struct {
	Session sequent.ID    `json:"session"`
	State   sequent.State `json:"state"`
	Brief   string        `json:"brief"`
	Left    int           `json:"left"` // thoughts that hold and are not in it whole

	owner string
}

func runBrief(p *program, ctx context.Context) (result, error) {
	s, _, err := p.session(ctx, p.args)
	if err != nil {
		return nil, err
	}
	text, left, err := brief.Write(ctx, s, p.tokens*bytesPerToken)
	return &told{s.ID(), s.State(), text, left, s.Owner()}, err
}

func (t *told) text(pg *page) {
	pg.prose(t.Brief)
	if t.Left > 0 {
		pg.say("%s not shown whole: %s",
			printable.Count(t.Left, "thought", "thoughts"), pg.nextFor(t.owner, "show", string(t.Session), "--view", "effective"))
	}
}

// prose adds what package brief has written. On a terminal it is wrapped at words, and code stays as
// it is.
func (pg *page) prose(text string) {
	fenced := !pg.tabular()
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		if fence || fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			pg.add(draw.Line{{Text: strings.Join(draw.Lines(line), "")}})
		} else {
			pg.beside("", line, draw.Text)
		}
		fenced = fenced != (fence && pg.tabular())
	}
}

func runAnalyze(p *program, ctx context.Context) (result, error) {
	in := p.query()
	q := analysis.Query{
		Text: strings.Join(p.args, " "), Limit: p.limit,
		AllOwners: in.AllOwners, Project: in.Project, Since: in.Since,
	}
	if p.counts {
		n, err := analysis.Count(ctx, p.engine, q)
		return &counts{n}, err
	}
	r, err := analysis.Run(ctx, p.engine, q)
	if err != nil {
		return nil, err
	}
	f := &findings{Report: r}
	if r.Counts.Sessions == 0 && q.Text == "" && p.since == 0 {
		f.hint = p.whereSessionsAre(ctx)
	}
	return f, nil
}

// A counts is the totals alone.
type counts struct {
	Counts analysis.Counts `json:"counts"`
}

func (c *counts) text(pg *page) { pg.numbers(c.Counts.Lines()) }

// numbers adds counts, each with a label.
func (pg *page) numbers(lines []string) {
	for _, text := range lines {
		label, rest, ok := strings.Cut(text, "  ")
		if !ok {
			pg.add(draw.Line{{Text: text, Role: draw.Text}})
			continue
		}
		lead := draw.Line{{Text: fmt.Sprintf("%-11s", label), Role: draw.Meta}}
		pg.add(draw.Beside(lead, strings.TrimLeft(rest, " "), draw.Text, pg.Options)...)
	}
}

// A findings is the totals and what was found in the sessions.
type findings struct {
	*analysis.Report
	hint string // where sessions are, if there are none here
}

func (f *findings) text(pg *page) {
	if f.hint != "" {
		pg.say("No sessions. %s", sentence(f.hint))
		return
	}
	if f.Notice != "" {
		pg.add(draw.Marked(printable.Line(f.Notice), nil, pg.Options, 0)...)
	}
	pg.numbers(f.Counts.Lines())
	for _, section := range f.Sections {
		pg.heading(section.Title)
		for _, item := range section.Findings {
			pg.add(draw.Cut(draw.Line{{Text: "  " + printable.Line(item.Title), Role: draw.Text}}, pg.Options))
			for _, part := range item.Parts {
				ref := part.Ref
				if pg.allOwners && part.Owner != "" {
					ref += " of " + part.Owner
				}
				pg.add(draw.Cut(draw.Line{
					{Text: "    " + printable.Line(ref), Role: draw.Number}, {Text: "  " + printable.Line(part.Says), Role: draw.Meta},
				}, pg.Options))
				pg.add(draw.Marked(printable.Line(part.Text), nil, pg.Options, 6)...)
			}
		}
		if section.More > 0 {
			pg.add(draw.Line{{Text: fmt.Sprintf("  %d more; --limit shows them", section.More), Role: draw.Fold}})
		}
	}
	if len(f.Sections) == 0 && f.Counts.Sessions > 0 {
		pg.add(nil, draw.Line{{Text: "Nothing was left open, revised or repeated.", Role: draw.Text}})
	}
}

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
	t, err := found.reference.Resolve(found.session)
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
