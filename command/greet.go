package command

import (
	"context"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// Limits of the greeting.
const (
	greetedElsewhere = 2 // sessions of other projects
	greetedRows      = 4 // of the last thought
)

// greet tells a person at a terminal who calls the program without arguments what was thought
// last, in this project and in others, and what to type; before the first session, how to
// begin.
func (p *program) greet(ctx context.Context) error {
	return p.withStore(ctx, func(a *app.App) error {
		project, err := p.inProject()
		if err != nil {
			return err
		}
		here, err := p.newest(ctx, a.Engine, sequent.Query{Project: project}, 1)
		if err != nil {
			return err
		}
		var elsewhere []sequent.Header
		if project != "" {
			if elsewhere, err = p.newest(ctx, a.Engine, sequent.Query{Elsewhere: project}, greetedElsewhere); err != nil {
				return err
			}
		}
		if len(here)+len(elsewhere) == 0 {
			return p.welcome(ctx, a.Engine)
		}
		var lines []draw.Line
		if len(here) > 0 {
			s, err := a.Engine.Session(ctx, here[0].ID)
			if err != nil {
				return err
			}
			lines = p.lastThought(s)
		} else {
			lines = append(p.titled("No sessions of "+project+" yet"), nil)
		}
		if len(elsewhere) > 0 {
			lines = append(lines, p.titled("Elsewhere")...)
			for _, h := range elsewhere {
				lines = append(lines, p.elsewhereLine(h))
			}
			lines = append(lines, nil)
		}
		show := "show"
		if len(here) == 0 {
			show += " " + string(elsewhere[0].ID)
		}
		return p.print(append(lines, p.nextCommands([][2]string{
			{show, "draw the session"},
			{"watch", "follow an agent while it thinks"},
			{"search WORDS", "find a thought in all sessions"},
		})...)...)
	})
}

// newest returns the sessions that changed last, without those of the demo.
func (p *program) newest(ctx context.Context, e *sequent.Engine, q sequent.Query, n int) ([]sequent.Header, error) {
	q.Limit = n + 1
	var list []sequent.Header
	for h, err := range e.AllSessions(ctx, q) {
		if err != nil {
			return nil, err
		}
		if !isDemo(h) {
			if list = append(list, h); len(list) == n {
				break
			}
		}
	}
	return list, nil
}

// lastThought draws a session in short: its title and facts, and the beginning of its last
// thought, or of what it concludes.
func (p *program) lastThought(s *sequent.Session) []draw.Line {
	o := p.drawingOf(s)
	lines := append(p.titled("Thought last"), nil)
	lines = append(lines, draw.Header(s, o)...)
	if last, ok := s.Last(); ok && s.Len() > 1 {
		rows := draw.List(s, []sequent.Thought{last}, o)
		if len(rows) > greetedRows+1 {
			rows = rows[:greetedRows+1]
			end := rows[greetedRows]
			rows[greetedRows] = append(end[:len(end):len(end)], draw.Span{Text: " " + ellipsis(o.Charset), Role: draw.Meta})
		}
		lines = append(append(lines, rows...), nil)
	}
	return lines
}

// elsewhereLine draws a session of another project in one row.
func (p *program) elsewhereLine(h sequent.Header) draw.Line {
	o := p.drawing()
	project := strings.TrimRight(h.Context.Project, `/\`)
	project = project[strings.LastIndexAny(project, `/\`)+1:] // its name, without where it is
	return draw.Cut(draw.Line{
		{Text: "    " + draw.One(string(h.ID), o.Charset), Role: draw.Number},
		{Text: "  " + draw.Ago(p.now().Sub(h.Updated)), Role: draw.Meta},
		{Text: "  " + draw.One(project, o.Charset), Role: draw.Meta},
		{Text: "  " + draw.One(h.Title, o.Charset)},
	}, o)
}

func (p *program) titled(text string) []draw.Line {
	return []draw.Line{draw.Cut(draw.Line{{Text: draw.One(text, p.charset()), Role: draw.Title}}, p.drawing())}
}

// welcome says how to begin.
func (p *program) welcome(ctx context.Context, e *sequent.Engine) error {
	demos, err := p.hasDemo(ctx, e)
	if err != nil {
		return err
	}
	lines := append(paragraphs("sequent keeps what AI agents think: numbered thoughts that branch and revise each other, "+
		"so that you can read them, and agents get them back.", p.drawing()), nil)
	rows := [][2]string{
		{"setup", "add it to your editor or agent"},
		{"demo", "record and draw an example, without an agent"},
	}
	if demos {
		rows[1] = [2]string{"show", "draw the example that sequent demo recorded"}
	}
	return p.print(append(lines, p.nextCommands(rows)...)...)
}

func (p *program) hasDemo(ctx context.Context, e *sequent.Engine) (bool, error) {
	page, err := e.Sessions(ctx, sequent.Query{Limit: 1})
	return len(page.Headers) > 0, err
}

// nextCommands lays out subcommands and what they are for, and where to find the others.
func (p *program) nextCommands(rows [][2]string) []draw.Line {
	self, options := selfName(), p.storeOption()
	for i := range rows {
		rows[i][0] = "  " + self + " " + rows[i][0] + options
	}
	return append(p.columnsIn(rows, p.drawing()), nil,
		draw.Line{{Text: "All commands: " + self + " --help", Role: draw.Meta}})
}

// storeOption returns the flag that a suggested command needs to read the same store, after
// a blank.
func (p *program) storeOption() string {
	if p.store == "" {
		return ""
	}
	return " --store " + quoted(p.shownStore())
}
