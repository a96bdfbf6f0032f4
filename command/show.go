package command

import (
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) show() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "show [ID]",
		Short: "Draw a session as a tree",
		Long: `Draw a session as a tree. The main line runs straight down; each branch has its own lane, beginning after
the thought that it branches from. The ID can be shortened to its first characters. Without an ID the
latest session is drawn.

● is a thought, ○ a revised thought, ◆ a revision, and ■ a final thought. Long sessions are folded;
--full shows everything, and the head of the log for sequent verify --head.

--json prints the session with all its thoughts, like sequent export --format json.`,
		Example: "# the latest session\nsequent show\n\n# a session of sequent list\nsequent show 7k3\n\n" +
			"# a long session in a pager, in colour\nsequent show --full --color always | less -R",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withStore(c.Context(), func(a *app.App) error {
				s, err := p.wanted(c, a, args)
				if err != nil {
					return err
				}
				if p.json {
					h, entries, err := a.Engine.Entries(c.Context(), s.ID())
					if err != nil {
						return err
					}
					return p.write("", string(archive.Log(h, entries)))
				}
				o := p.drawingOf(s)
				o.Full = full
				d := draw.Session(s, o)
				if line := p.failure(s); line != "" {
					d.Lines = append(d.Lines, nil)
					d.Lines = append(d.Lines, draw.Beside(nil, line+" To resume: sequent "+s.Dialect()+" resume "+string(s.ID()), draw.Newest, o)...)
				}
				if d.Folded {
					d.Lines = append(d.Lines, nil, draw.Line{{Text: "Parts are folded. Pass --full to show everything.", Role: draw.Fold}})
				}
				if h := s.Header(); full && h.Entries > 0 {
					d.Lines = append(d.Lines, nil, draw.Line{{Text: "Head " + h.Head.String(), Role: draw.Meta}})
				}
				return p.print(d.Lines...)
			})
		},
	}
	c.Flags().BoolVar(&full, "full", false, "do not fold long sessions")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addWidthFlag(c)
	return c
}

// wanted returns the session that the arguments name, or the latest.
func (p *program) wanted(c *cobra.Command, a *app.App, args []string) (*sequent.Session, error) {
	if len(args) == 0 {
		return latest(c.Context(), a.Engine)
	}
	return find(c.Context(), a.Engine, args[0])
}
