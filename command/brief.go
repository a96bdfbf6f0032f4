package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// bytesPerToken is the ratio that [sequent.Tokens] uses.
const bytesPerToken = 4

func (p *program) brief() *cobra.Command {
	tokens := 1000
	c := &cobra.Command{
		Use:   "brief [ID]",
		Short: "Tell what a session came to, to hand it over",
		Long: `Print what a session came to, for another agent or for a person who was not there: how it ended or where it
stands, the decision, where each line ends, people's notes, what was withdrawn, what changed the author's mind,
and then the thoughts that weigh most. The sentences are the author's; no language model is involved.

The ID can be shortened to its first characters. Without an ID the brief is of the latest session. --tokens sets how long it may be; a
token is counted as four bytes.

--json prints {"session", "state", "brief", "left"}: left is the number of thoughts that hold and are not
in it whole.`,
		Example: "# what did the latest session come to?\nsequent brief\n\n# in half as many words\nsequent brief 7k3 --tokens 500\n\n" +
			"# hand a problem to another agent\nsequent brief 7k3 | claude -p \"Go on with this problem:\"",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			if tokens < 100 {
				return invalid("tokens", fmt.Sprint(tokens), "100 or more")
			}
			return p.withSession(c, args, func(s *sequent.Session) error {
				text, left := brief.Write(s, tokens*bytesPerToken)
				if p.json {
					return writeJSON(p.out, struct {
						Session sequent.ID    `json:"session"`
						State   sequent.State `json:"state"`
						Brief   string        `json:"brief"`
						Left    int           `json:"left"`
					}{s.ID(), s.State(), text, left})
				}
				_, err := fmt.Fprintln(p.out, printable.Text(text))
				if err == nil && left > 0 {
					_, err = fmt.Fprintf(p.out, "%s not shown whole: sequent show %s --view effective\n", draw.Count(left, "thought", "thoughts"), s.ID())
				}
				return err
			})
		},
	}
	c.Flags().IntVar(&tokens, "tokens", tokens, "how long it may be, in `tokens` of four bytes")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addServerFlag(c)
	return c
}

func (p *program) compare() *cobra.Command {
	tokens := 1000
	c := &cobra.Command{
		Use:   "compare ID [LINE LINE]",
		Short: "Compare two lines of a session",
		Long: `Print where two lines of a session part, what each has of its own that still holds, and how each ends. A line is
the name of a branch, or main. One LINE is compared with the main line; without any, the session has one branch.`,
		Example: "# the branch warm-cache and the main line\nsequent compare 7k3 warm-cache\n\n# two branches\nsequent compare 7k3 warm-cache drop-cache",
		Args:    arguments(1, 3, "an ID and at most two lines"),
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return p.completeIDs(c, args, prefix)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[:1], func(s *sequent.Session) error {
				names := args[1:]
				if branches := s.Branches(); len(names) == 0 && len(branches) == 1 {
					names = branches
				}
				if len(names) == 1 {
					names = append(names, sequent.MainLine)
				}
				if len(names) == 0 {
					return &usageError{msg: "the session has " + draw.Count(len(s.Branches()), "branch", "branches"), fix: "name the lines to compare"}
				}
				var lines [2]string
				for i, name := range names {
					var err error
					if lines[i], err = s.LineNamed(name); err != nil {
						return err
					}
				}
				text, left := brief.Compare(s, lines[0], lines[1], tokens*bytesPerToken)
				_, err := fmt.Fprintln(p.out, printable.Text(text))
				if err == nil && left > 0 {
					_, err = fmt.Fprintf(p.out, "%s not shown whole: --tokens shows more\n", draw.Count(left, "thought", "thoughts"))
				}
				return err
			})
		},
	}
	c.Flags().IntVar(&tokens, "tokens", tokens, "how long it may be, in `tokens` of four bytes")
	p.addOwnerFlag(c)
	p.addServerFlag(c)
	return c
}

// withSession calls use with the session that the arguments name, or the latest.
func (p *program) withSession(c *cobra.Command, args []string, use func(*sequent.Session) error) error {
	return p.withStore(c.Context(), func(a *app.App) error {
		if err := p.checkOwner(c.Context(), a); err != nil {
			return err
		}
		found, err := p.refer(c.Context(), a.Engine, args)
		if err != nil {
			return err
		}
		return use(found.session)
	})
}
