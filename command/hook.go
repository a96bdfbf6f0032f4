package command

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/hook"
	"github.com/sequent-dev/sequent/internal/printable"
)

// hook is for clients, not for people: a mistake must not disturb a conversation, so
// the exit code is always 0.
func (p *program) hook() *cobra.Command {
	c := &cobra.Command{
		Use:   "hook NAME",
		Short: "Bring thoughts back after a client has compacted its context",
		Long: `Called by clients that have hooks, such as Claude Code and Codex, with their JSON on standard input:

  post-tool-use  after a call of a thinking tool: remembers which session this conversation thinks in
  session-start  after a compaction and when a conversation is resumed: prints what that session came to,
                 for the model, in at most 1,500 tokens

Nothing is printed for a conversation that has no session, after a start or a clear, or for another
conversation's session. Only the ids of sessions are kept, in the data directory, for 30 days. A mistake is written to standard error;
the exit code is always 0.`,
		Example: "# in .claude/settings.json, under \"hooks\"\n" +
			"# \"SessionStart\": [{\"matcher\": \"compact|resume\", \"hooks\": [{\"type\": \"command\", \"command\": \"sequent hook session-start\"}]}]\n" +
			"echo '{\"session_id\": \"1\", \"hook_event_name\": \"SessionStart\", \"source\": \"compact\"}' | sequent hook session-start",
		Args:      arguments(1, 1, "the name of a hook: session-start or post-tool-use"),
		ValidArgs: []string{hook.SessionStart, hook.PostToolUse},
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(c.ValidArgs, args[0]) {
				return invalid("hook", args[0], "session-start or post-tool-use")
			}
			if err := p.runHook(c.Context(), args[0]); err != nil {
				fmt.Fprintln(p.err, "sequent hook: "+printable.Text(err.Error()))
			}
			return nil
		},
	}
	return c
}

// maxHookInput is the maximum size of what a client sends in bytes; it has the reply of a
// tool.
const maxHookInput = 16 << 20

func (p *program) runHook(ctx context.Context, name string) error {
	input, err := io.ReadAll(io.LimitReader(p.in, maxHookInput))
	if err != nil {
		return err
	}
	event, err := hook.Parse(input)
	if err != nil {
		return err
	}
	dir, err := app.DataDir()
	if err != nil {
		return err
	}
	known := hook.Conversations{Dir: dir}
	if name == hook.PostToolUse {
		if id := event.Session(); id != "" {
			return known.Remember(event.Conversation, id)
		}
		return nil
	}
	if !event.LostContext() {
		return nil
	}
	ids, err := known.Sessions(event.Conversation)
	if err != nil || len(ids) == 0 {
		return err
	}
	return p.withStore(ctx, func(a *app.App) error { return p.remind(ctx, a.Engine, ids) })
}

// remind prints the brief of the first session that exists, and names the others.
func (p *program) remind(ctx context.Context, e *sequent.Engine, ids []sequent.ID) error {
	const room = 1500 * bytesPerToken
	text := ""
	for _, id := range ids {
		s, err := e.Session(ctx, id)
		switch {
		case sequent.CodeOf(err) == sequent.CodeSessionNotFound:
		case err != nil:
			return err
		case text == "":
			text = fmt.Sprintf("This conversation thinks in the session %s of the tool sequentialthinking: pass it as sessionId to go on, "+
				"and call recall_thinking with it for more. What it came to:\n", id)
			came, _ := brief.Write(s, room-len(text)-200)
			text += came
		default:
			if line := fmt.Sprintf("\nalso %s, %s: %s", id, s.State(), s.Title()); len(text)+len(line) < room {
				text += line
			}
		}
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(p.out, printable.Text(text))
	return err
}
