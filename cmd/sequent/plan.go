package main

import (
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/agent/plan"
)

func (p *program) plan() *cobra.Command {
	w := &work{p: p, command: "plan"}
	mermaid := false
	c := &cobra.Command{
		Use:   "plan PROBLEM",
		Short: "Let a language model work out a plan, in phases",
		Long: `Let a language model work out a plan in three phases, each with a budget of steps: analyze_code (1)
says what there is, research (15) finds out what is open, design (20) works out what to do. What a
phase comes to is what the next one begins with; all of it is one session.

Every answer and every result of a tool is stored before the next step. After Ctrl-C, a crash or a
failure sequent plan resume goes on where it was: no answer that the model gave is asked for again,
and no tool that may have changed something is called again without the model knowing.

The tools of an MCP server can be for all phases, --mcp COMMAND, or for one, --mcp research=COMMAND.
Models, keys, - for what is piped in, and what is shown are as with sequent think.`,
		Example: "sequent plan \"Move the fraud check out of the payment transaction\"\n\n" +
			"# with files to look at, in the first two phases\n" +
			"sequent plan --mcp analyze_code=\"files .\" --mcp research=\"files .\" \"Add a cache\"\n\n" +
			"# the phases as a diagram\nsequent plan --mermaid",
		Args: func(c *cobra.Command, args []string) error {
			if mermaid {
				return arguments(0, 0, "")(c, args)
			}
			return arguments(1, 2, "a problem, or - to read it from standard input")(c, args)
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
	c.Flags().BoolVar(&mermaid, "mermaid", false, "print the phases as a Mermaid diagram, and do nothing")
	resume := &cobra.Command{
		Use:   "resume [ID]",
		Short: "Go on with a plan that was stopped, or failed",
		Long: `Go on with a plan where it was stopped, in whatever way, and in whatever phase. Without an ID it is the
latest that is not done. The model is the one that it was begun with, unless --model names another;
other flags are not remembered: give --mcp again.`,
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
