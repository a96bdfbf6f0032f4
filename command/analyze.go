package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/analysis/summary"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) analyze() *cobra.Command {
	var q analysis.Query
	var since, idle span = 0, span(day)
	var model modelFlags
	q.Limit = 10
	c := &cobra.Command{
		Use:   "analyze [QUERY...]",
		Short: "Find what was left open, revised or repeated across sessions",
		Long: `Analyse the sessions of a project together: threads that were left, with the last question that they asked;
conclusions that a later session, a person's note or a decision revises or rejects; assumptions that several
sessions make; problems that came up before, with how they ended; and counts. Each finding cites the thoughts
that it is made of. The wordings that it understands are English.

A QUERY keeps the findings about sessions that sequent search finds with it, --since those with a part in
that time. They are compared with all other sessions of the project anyway.

--model NAME adds a summary that a language model writes from the findings. Each of its sentences cites
thoughts. A sentence that cites none, or not what the findings say, is left out and reported.

--json prints {"counts", "left", "revised", "assumptions", "problems", "more", "notice", "summary"}. Each
finding has citations {session, seq, ref, text, at, owner}.`,
		Example: "sequent analyze\n\n# the last week, in all projects\nsequent analyze --all-projects --since 7d\n\n# about one subject\nsequent analyze connection pool\n\n" +
			"# with a written summary\nsequent analyze --model gpt-4o",
		RunE: func(c *cobra.Command, args []string) error {
			if q.Limit < 1 {
				return invalid("limit", q.Limit, "a number of findings, at least 1")
			}
			if idle == 0 {
				return invalid("idle", "0", "a duration such as 1d")
			}
			q.Text, q.Idle = strings.Join(args, " "), time.Duration(idle)
			writer, err := model.config(p, c)
			if err != nil {
				return err
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				r, err := p.analysis(c.Context(), a, q, time.Duration(since))
				if err != nil {
					return err
				}
				var s *summary.Summary
				if writer.Name != "" {
					m, err := writer.Open()
					if err != nil {
						return err
					}
					if s, err = summary.Write(c.Context(), m, r); err != nil {
						return err
					}
				}
				if p.json {
					return writeJSON(p.out, struct {
						*analysis.Report
						Summary *summary.Summary `json:"summary,omitempty"`
					}{r, s})
				}
				return p.paged(func() error { return p.print(p.drawReport(r, s)...) })
			})
		},
	}
	f := c.Flags()
	f.Var(&since, "since", "maximum age of the latest part of a finding, such as 7d")
	f.Var(&idle, "idle", "time without a change after which an active session counts as left")
	f.IntVar(&q.Limit, "limit", q.Limit, "maximum number of findings of each kind")
	model.add(f, " that writes a summary")
	p.addPagerFlag(c)
	p.addJSONFlag(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	p.addProjectFlags(c)
	p.addWidthFlag(c)
	return c
}

func (p *program) stats() *cobra.Command {
	var q analysis.Query
	var since span
	c := &cobra.Command{
		Use:   "stats [QUERY...]",
		Short: "Count sessions, thoughts, branches, revisions and time",
		Long: `Count the sessions of a project by state, their thoughts, branches, revisions and notes, the thoughts that
name another session, and how long sessions take. A QUERY counts the sessions that sequent search finds with
it, --since those that changed in that time. Sessions of sequent demo are left out.

--json prints {"sessions", "states", "thoughts", "branches", "revisions", "notes", "recalls",
"length": {median, p90, max}, "seconds": {median, p90, max}}.`,
		Example: "sequent stats\n\n# the last 30 days of all projects\nsequent stats --all-projects --since 30d",
		RunE: func(c *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			return p.withStore(c.Context(), func(a *app.App) error {
				r, err := p.analysis(c.Context(), a, q, time.Duration(since))
				if err != nil {
					return err
				}
				if p.json {
					return writeJSON(p.out, r.Counts)
				}
				return p.print(p.numbers(r)...)
			})
		},
	}
	c.Flags().Var(&since, "since", "maximum time since the last change, such as 7d")
	p.addJSONFlag(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	p.addProjectFlags(c)
	p.addWidthFlag(c)
	return c
}

// analysis runs an analysis of the sessions that the flags select.
func (p *program) analysis(ctx context.Context, a *app.App, q analysis.Query, since time.Duration) (*analysis.Report, error) {
	if err := p.checkOwner(ctx, a); err != nil {
		return nil, err
	}
	var err error
	if q.Project, err = p.inProject(); err != nil {
		return nil, err
	}
	q.AllOwners = p.allOwners
	if since > 0 {
		q.Since = a.Engine.Now().Add(-since)
	}
	r, err := analysis.Run(ctx, a.Engine, q)
	if err != nil || r.Counts.Sessions > 0 || p.owner != "" || p.allOwners {
		return r, err
	}
	if others := otherOwners(ctx, a.Engine); others != "" && r.Notice == "" {
		r.Notice = "You have no such sessions here. Owners with sessions: " + others + ". Pass --all-owners, or --owner NAME."
	}
	return r, nil
}

// numbers draws the counts of a report, after its notice.
func (p *program) numbers(r *analysis.Report) []draw.Line {
	o := p.drawing()
	var lines []draw.Line
	if r.Notice != "" {
		lines = append(lines, draw.Marked(draw.One(r.Notice, o.Charset), nil, o, 0)...)
	}
	for _, text := range r.Counts.Lines() {
		label, rest, ok := strings.Cut(text, "  ")
		if !ok {
			lines = append(lines, draw.Line{{Text: text, Role: draw.Text}})
			continue
		}
		const width = 11
		lead := draw.Line{{Text: fmt.Sprintf("%-*s", width, label), Role: draw.Meta}}
		lines = append(lines, draw.Beside(lead, strings.TrimLeft(rest, " "), draw.Text, o)...)
	}
	return lines
}

// drawReport draws a report.
func (p *program) drawReport(r *analysis.Report, s *summary.Summary) []draw.Line {
	o := p.drawing()
	text := func(t string) string { return draw.One(t, o.Charset) }
	lines := p.numbers(r)
	if s != nil {
		lines = append(lines, nil, draw.Line{{Text: "Summary by " + text(s.Model), Role: draw.Title}})
		for _, sentence := range s.Sentences {
			var refs []string
			for _, c := range sentence.Cites {
				refs = append(refs, c.Ref)
			}
			lines = append(lines, draw.Marked(text(sentence.Text+" ["+strings.Join(refs, ", ")+"]"), nil, o, 2)...)
		}
		for _, d := range s.Dropped {
			lines = append(lines, draw.Marked(text(fmt.Sprintf("Left out, because %s: %s", d.Why, d.Text)), nil, o, 2)...)
		}
		if len(s.Sentences)+len(s.Dropped) == 0 {
			lines = append(lines, draw.Line{{Text: "  There is nothing to summarise.", Role: draw.Meta}})
		}
	}
	sections := r.Sections()
	for _, section := range sections {
		lines = append(lines, nil, draw.Line{{Text: section.Title, Role: draw.Title}})
		for _, item := range section.Items {
			lines = append(lines, draw.Cut(draw.Line{{Text: "  " + text(item.Head), Role: draw.Text}}, o))
			for _, part := range item.Parts {
				ref := part.Ref
				if p.allOwners && part.Owner != "" {
					ref += " of " + part.Owner
				}
				lines = append(lines, draw.Cut(draw.Line{{Text: "    " + text(ref), Role: draw.Number}, {Text: "  " + text(part.Says), Role: draw.Meta}}, o))
				lines = append(lines, draw.Marked(text(part.Text), nil, o, 6)...)
			}
		}
		if section.More > 0 {
			lines = append(lines, draw.Line{{Text: fmt.Sprintf("  %d more; --limit shows them", section.More), Role: draw.Fold}})
		}
	}
	if len(sections) == 0 && r.Counts.Sessions > 0 {
		lines = append(lines, nil, draw.Line{{Text: "Nothing was left open, revised or repeated.", Role: draw.Text}})
	}
	return lines
}
