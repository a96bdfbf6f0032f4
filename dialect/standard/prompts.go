package standard

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

func (d *server) prompts() []dialect.Prompt {
	session := dialect.Argument{
		Name: "session", Title: "Session", Description: "The id of the session.",
		Required: true, Complete: d.completeSession,
	}
	return []dialect.Prompt{
		{
			Name: "think", Title: "Think it through",
			Description: "Work on a problem step by step, on record.",
			Arguments: []dialect.Argument{
				{Name: "problem", Title: "Problem", Description: "What to think about.", Required: true},
				{Name: "steps", Title: "Steps", Description: "About how many thoughts it should take."},
			},
			Get: getThink,
		},
		{
			Name: "resume", Title: "Resume a session",
			Description: "Go on with a session where it stopped.",
			Arguments:   []dialect.Argument{session},
			Get:         d.promptWith(resumeText),
		},
		{
			Name: "review", Title: "Review a session",
			Description: "Find the weakest step of a session and revise it.",
			Arguments:   []dialect.Argument{session},
			Get:         d.promptWith(reviewText),
		},
	}
}

func getThink(_ context.Context, _ tool.Caller, args map[string]string) (string, error) {
	var b strings.Builder
	b.WriteString("Think this through with the tool sequentialthinking, one step a call. ")
	b.WriteString("Test each step before you build on it, revise those that turn out wrong, ")
	b.WriteString("and open a branch where two ways are worth following. ")
	if steps := strings.TrimSpace(args["steps"]); steps != "" {
		fmt.Fprintf(&b, "About %s thoughts should do; say so in totalThoughts and change it when you know better. ", steps)
	}
	b.WriteString("Put your answer into the last thought, and tell me the sessionId with it.\n\n")
	b.WriteString(args["problem"])
	return b.String(), nil
}

const (
	resumeText = "Go on with the thinking session %s: call sequentialthinking with that sessionId. " +
		"First say in one sentence where it stands and what is open; do not repeat what is settled. " +
		"This is what it holds:"

	reviewText = "Review the thinking session %s. Find its weakest step: an assumption nobody tested, a conclusion " +
		"that does not follow, an alternative that was passed over. Say which it is and why. Then revise it: " +
		"call sequentialthinking with that sessionId and revisesThought set to the step's number, and with a branch " +
		"if more than that step depends on it. If every step holds, say so and change nothing. " +
		"This is what the session holds:"
)

// promptWith returns the Get of a prompt about a session. The prompt includes the
// thoughts as recall_thinking shows them.
func (d *server) promptWith(text string) func(context.Context, tool.Caller, map[string]string) (string, error) {
	return func(ctx context.Context, c tool.Caller, args map[string]string) (string, error) {
		id := strings.TrimSpace(args["session"])
		p := &page{room: defaultTokens * bytesPerToken}
		s, err := d.engine.Owned(c.Owner).Session(ctx, sequent.ID(id))
		if err == nil {
			err = p.session(ctx, s, recallArgs{Session: id, Tokens: defaultTokens})
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(text, id) + "\n\n" + p.text(), nil
	}
}
