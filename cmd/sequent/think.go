package main

import (
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/agent/plan"
)

// thinkSteps is how often a model may answer when nobody says how often.
const thinkSteps = 20

func (p *program) think() *cobra.Command {
	w := &work{p: p, command: "think"}
	table := func() (plan.Table, error) {
		if w.steps < 1 || w.steps > 1000 {
			return plan.Table{}, usagef("--steps cannot be %d, only a number from 1 to 1000", w.steps)
		}
		return plan.Thinking(w.steps), nil
	}
	c := &cobra.Command{
		Use:   "think PROBLEM",
		Short: "Let a language model think a problem through",
		Long: `Let a language model think a problem through, one thought a call, in a session that is drawn as it
grows and stays in the store. A - stands for what is piped in, alone or beside a question.

The model is that of --model, else of LUX_MODEL_NORMAL or SEQUENT_MODEL in the environment; the key is
in the variable of its provider: OPENAI_API_KEY, OPENROUTER_API_KEY or ZAI_API_KEY. ollama:NAME is a
model on this machine, which needs none. docs/providers.md has all variables.

On a terminal the tree grows on the screen: q or Ctrl-C stops, and the session is kept. Elsewhere the
answer goes to standard output and a line for each thought to standard error; with --json there is
one object for each event: {event, session, state, step, …}, event being begin, answer, thought,
call, result, retry, move or end.`,
		Example: "# with a model on this machine\nsequent think --model ollama:qwen3 \"Why do orders time out at noon?\"\n\n" +
			"# about what is piped in\ngit diff | sequent think \"What can go wrong here?\" -\n\n" +
			"# with the tools of an MCP server\nsequent think --mcp \"npx -y @modelcontextprotocol/server-filesystem .\" \"Where is the timeout set?\"\n\n" +
			"# the answer alone\nsequent think \"Name three risks.\" 2>/dev/null",
		Args: arguments(1, 2, "a problem, or - to read it from standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := table()
			if err != nil {
				return err
			}
			problem, err := w.problem(args)
			if err != nil {
				return err
			}
			return w.begin(c, t, problem)
		},
	}
	resume := &cobra.Command{
		Use:   "resume [ID]",
		Short: "Go on with a problem that was stopped, or failed",
		Long: `Go on with a session of sequent think where it was stopped, in whatever way: no answer that the model
gave is asked for again. Without an ID it is the latest that is not done. The model is the one that it
was begun with, unless --model names another; other flags are not remembered.`,
		Example:           "sequent think resume\n\nsequent think resume 7k3",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			t, err := table()
			if err != nil {
				return err
			}
			return w.resume(c, t, args)
		},
	}
	for _, c := range []*cobra.Command{c, resume} {
		w.add(c)
		c.Flags().IntVar(&w.steps, "steps", thinkSteps, "let the model answer at most `N` times")
	}
	c.AddCommand(resume)
	return c
}
