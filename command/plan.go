package command

import (
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/agent/plan"
)

func (p *program) plan() *cobra.Command {
	w := &work{p: p, command: "plan"}
	mermaid := false
	c := &cobra.Command{
		Use:   "plan PROBLEM",
		Short: "Work out a plan with a language model, in phases",
		Long: `Work out a plan with a language model in three phases: analyze_code describes the situation (1 step),
research answers the open questions (at most 15 steps), and design works out the plan (at most 20 steps).
The result of each phase is the input of the next. One session records all of them.

Every answer and every result of a tool is stored before the next step. After Ctrl-C, a crash or a
failure, sequent plan resume continues. It does not request an answer again. It does not repeat a tool
call that may have changed something, but tells the model that the result is unknown.

--mcp COMMAND adds the tools of an MCP server to all phases, --mcp research=COMMAND to one phase. Models,
keys, the argument - and the output are the same as with sequent think.`,
		Example: "sequent plan \"Move the fraud check out of the payment transaction\"\n\n" +
			"# with access to files in the research phase\n" +
			"sequent plan --mcp research=\"npx -y @modelcontextprotocol/server-filesystem .\" \"Add a cache\"\n\n" +
			"# the phases as a diagram\nsequent plan --mermaid",
		Args: func(c *cobra.Command, args []string) error {
			if mermaid {
				return arguments(0, 0, "")(c, args)
			}
			return arguments(1, 2, "a problem, or - for standard input")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if mermaid {
				return p.write("", plan.Planning().Mermaid(""))
			}
			problem, err := w.problem(args)
			if err != nil {
				return err
			}
			return w.begin(c, plan.Planning(), problem)
		},
	}
	c.Flags().BoolVar(&mermaid, "mermaid", false, "print the phases as a Mermaid diagram and exit")
	resume := &cobra.Command{
		Use:   "resume [ID]",
		Short: "Resume an interrupted or failed plan",
		Long: `Resume a plan where it stopped, in any phase. Without an ID the latest incomplete plan of the project is resumed. The
model is the one that the plan began with, unless --model sets another. Pass other flags, such as --mcp,
again.`,
		Example:           "sequent plan resume\n\nsequent plan resume 7k3",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE:              func(c *cobra.Command, args []string) error { return w.resume(c, plan.Planning(), args) },
	}
	w.add(c)
	w.add(resume)
	c.AddCommand(resume)
	return c
}
