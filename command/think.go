package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/agent/plan"
)

// defaultThinkSteps is the default of --steps.
const defaultThinkSteps = 20

func (p *program) think() *cobra.Command {
	w := &work{p: p, command: "think"}
	table := func() (plan.Table, error) {
		if w.steps < 1 || w.steps > 1000 {
			return plan.Table{}, invalid("steps", w.steps, "a number from 1 to 1000")
		}
		return plan.Thinking(w.steps), nil
	}
	c := &cobra.Command{
		Use:   "think PROBLEM",
		Short: "Solve a problem with a language model, step by step",
		Long: `Solve a problem with a language model that records its thoughts step by step in a session. The argument
- is replaced by standard input; it can follow a question.

The API key comes from OPENAI_API_KEY, OPENROUTER_API_KEY or ZAI_API_KEY. With one of them set, --model
can be left out. --model selects the model; otherwise LUX_MODEL_NORMAL or SEQUENT_MODEL does, in that
order, and then the provider that has a key. ollama:NAME is a local model, which needs no key.
docs/providers.md describes all variables.

On a terminal the session is drawn as it grows; q or Ctrl-C stops the command and keeps the session.
Otherwise the answer goes to standard output and the thoughts go to standard error, one per line.

--panel has several perspectives look at the problem at the same time, each on a branch of the session:
factual, critical, optimistic and creative, or those of --perspective. Then the model joins them; each point
of the synthesis cites thoughts, such as critical#3, and one that cites none is left out and reported. An
estimate of the cost is printed first, and the cost at the end. --max-tokens, --max-calls, --panel-time and
--steps, here of each perspective, limit it. --mcp critical=COMMAND adds tools to one perspective. docs/panel.md
describes panels.

--json prints one object per event: {event, session, state, step, …}. The event is begin, answer,
thought, call, result, retry, move or end; with --panel it is begin, thought, call, retry, perspective or end.`,
		Example: "# a local model\nsequent think --model ollama:qwen3 \"Why do orders time out at noon?\"\n\n" +
			"# a question about standard input\ngit diff | sequent think \"What can go wrong here?\" -\n\n" +
			"# the tools of an MCP server\nsequent think --mcp \"npx -y @modelcontextprotocol/server-filesystem .\" \"Where is the timeout set?\"\n\n" +
			"# four perspectives, and what they come to together\nsequent think --panel \"Should we shard the database?\"\n\n" +
			"# only the answer\nsequent think \"Name three risks.\" 2>/dev/null",
		Args: arguments(1, 2, "a problem, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := table()
			if err != nil {
				return err
			}
			problem, err := w.problem(args)
			if err != nil {
				return err
			}
			if w.panel.on {
				return w.beginPanel(c, problem)
			}
			for _, f := range []string{"perspective", "panel-time", "max-calls"} {
				if c.Flags().Changed(f) {
					return &usageError{msg: fmt.Sprintf("--%s requires --panel", f), fix: "pass --panel as well"}
				}
			}
			return w.begin(c, t, problem)
		},
	}
	resume := &cobra.Command{
		Use:   "resume [ID]",
		Short: "Resume an interrupted or failed session",
		Long: `Resume a session of sequent think where it stopped. Answers that the model has given are not requested
again. Without an ID the latest incomplete session of the project is resumed. The model is the one that
the session began with, unless --model sets another. Pass other flags again.`,
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
		w.panel.add(c)
		c.Flags().IntVar(&w.steps, "steps", defaultThinkSteps, "maximum number of answers of the model")
	}
	w.panel.begins(c)
	c.AddCommand(resume)
	return c
}
