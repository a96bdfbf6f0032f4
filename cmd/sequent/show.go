package main

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
		Long: `Draw a session as a tree: the main line straight down, each branch in a lane of its own after the
thought that it leaves at. Without an ID it is the session that changed last; the beginning of an ID
will do.

A filled dot is a thought, a hollow one a thought that was revised, a diamond a revision, and a
square a thought after which none follows. Long sessions are folded; --full shows everything.

With --json: the session with all its thoughts, as sequent export --format json writes it.`,
		Example: "# the latest\nsequent show\n\n# one of sequent list\nsequent show 7k3m9q2xw4ht\nsequent show 7k3\n\n" +
			"# for a pager, with colours\nsequent show --full --color always | less -R",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return p.reading(c.Context(), func(a *app.App) error {
				s, err := p.wanted(c, a, args)
				if err != nil {
					return err
				}
				if p.json {
					return p.write("", string(archive.JSON(s)))
				}
				o := p.drawing()
				o.Full = full
				d := draw.Session(s, o)
				if d.Folded {
					d.Lines = append(d.Lines, nil, draw.Line{{Text: "Some of it is folded: --full shows everything.", Role: draw.Fold}})
				}
				return p.print(d.Lines...)
			})
		},
	}
	c.Flags().BoolVar(&full, "full", false, "fold nothing")
	p.asJSON(c)
	p.hasOwner(c)
	p.hasWidth(c)
	return c
}

// wanted returns the session that the arguments name, or the latest.
func (p *program) wanted(c *cobra.Command, a *app.App, args []string) (*sequent.Session, error) {
	if len(args) == 0 {
		return latest(c.Context(), a.Engine)
	}
	return find(c.Context(), a.Engine, args[0])
}
