package guided

import (
	"context"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// prompt has the name of the tool, as in the program that the contract is from. It has a
// model look from several perspectives.
var prompt = dialect.Prompt{
	Name: "sequential-thinking", Title: "Think from several perspectives",
	Description: "Work on a problem step by step: from several perspectives, each on a branch, and then together.",
	Arguments: []dialect.Argument{
		{Name: "problem", Title: "Problem", Description: "What to think about.", Required: true},
	},
	Get: func(_ context.Context, _ tool.Caller, args map[string]string) (string, error) {
		return "Think this through with the tool sequentialthinking, one step a call. State the problem in step 1. Then look at it " +
			"from four perspectives, each on a branch from step 1 with the perspective as branchId: factual (what is known, and what " +
			"would have to be found out), critical (what is wrong, and how it could be tested), optimistic (what could go well, and what " +
			"would have to be true), creative (other ways). Then return to the main path and join them in one last step: answer, and say " +
			"which step of which branch each point rests on. After each reply read should_continue, and go on until it is false.\n\n" +
			args["problem"], nil
	},
}
