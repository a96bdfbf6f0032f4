package command

import (
	"context"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// whatItIs is the purpose of the program in one sentence.
const whatItIs = "sequent keeps what AI agents think, as numbered thoughts that branch and revise each other: " +
	"you read them, and agents get them back."

// greet tells a person who calls the program without arguments at a terminal what was thought last in
// the project, and what to type. In a pipe, and before the first session, it says how to begin.
func (p *program) greet(ctx context.Context) error {
	pg := p.page()
	if !p.tabular() {
		pg.welcome()
		return p.print(pg.lines...)
	}
	return p.withStore(ctx, func(a *app.App) error {
		s, err := p.latest(ctx, a.Engine)
		switch {
		case sequent.CodeOf(err) == sequent.CodeSessionNotFound:
			pg.welcome()
		case err != nil:
			return err
		default:
			pg.add(draw.Line{{Text: "Thought last", Role: draw.Title}}, nil)
			pg.add(draw.Header(s, pg.drawingOf(s))...)
			if last, ok := s.Last(); ok && s.Len() > 1 {
				pg.add(draw.Thought(last, pg.Options), nil)
			}
			pg.commands([][2]string{
				{p.next("show"), "draw the session"},
				{p.next("watch"), "follow an agent while it thinks"},
				{p.next("search", "WORDS"), "find a thought in all sessions"},
			})
		}
		return p.print(pg.lines...)
	})
}

// welcome says what the program is, and how to begin.
func (pg *page) welcome() {
	pg.paragraphs(whatItIs)
	pg.add(nil)
	pg.commands([][2]string{
		{pg.next("demo"), "record and draw an example, without an agent"},
		{pg.next("show"), "draw the latest session"},
		{pg.next("setup"), "add sequent to your editor or agent"},
	})
}

// commands adds commands and what they are for, and where to find the others.
func (pg *page) commands(rows [][2]string) {
	for i := range rows {
		rows[i][0] = "  " + rows[i][0]
	}
	pg.columns(rows)
	pg.add(nil, draw.Line{{Text: "All commands: " + selfName() + " help", Role: draw.Meta}})
}
