package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
)

const postToolUse = "post-tool-use"

var hooks = []string{"session-start", postToolUse}

// maxHookInput is the maximum size of what a client sends in bytes; it has the reply of a
// tool.
const maxHookInput = 16 << 20

// runHook is for clients, not for people: a mistake must not disturb a conversation, so
// the exit code is always 0.
func runHook(p *program, ctx context.Context) (result, error) {
	if !slices.Contains(hooks, p.args[0]) {
		return nil, invalid("hook", p.args[0], "session-start or post-tool-use")
	}
	text, err := p.remember(ctx, p.args[0])
	if err != nil {
		p.tell("sequent hook: %v", err)
	}
	if text == "" {
		return nil, nil
	}
	return document(printable.Text(text) + "\n"), nil
}

// remember notes which session a conversation thinks in, or returns what its sessions came to if the
// client has lost the context.
func (p *program) remember(ctx context.Context, name string) (text string, err error) {
	input, err := io.ReadAll(io.LimitReader(p.in, maxHookInput))
	if err != nil {
		return "", err
	}
	event, err := parseHookEvent(input)
	if err != nil {
		return "", err
	}
	dir, err := app.DataDir()
	if err != nil {
		return "", err
	}
	known := conversations{dir: dir, now: time.Now}
	if name == postToolUse {
		if id := event.session(); id != "" {
			return "", known.remember(event.Conversation, id)
		}
		return "", nil
	}
	if !event.lostContext() {
		return "", nil
	}
	ids, err := known.sessions(event.Conversation)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	err = p.withStore(ctx, func(a *app.App) error {
		text, err = reminder(ctx, a.Engine, ids)
		return err
	})
	return text, err
}

// reminder returns the brief of the first session that exists, and of the others a line, with the last
// thoughts of those that are unfinished.
func reminder(ctx context.Context, e *sequent.Engine, ids []sequent.ID) (text string, err error) {
	const room = 1500 * bytesPerToken
	for _, id := range ids {
		s, err := e.Session(ctx, id)
		switch {
		case sequent.CodeOf(err) == sequent.CodeSessionNotFound:
		case err != nil:
			return "", err
		case text == "":
			text = fmt.Sprintf("This conversation thinks in the session %s of the tool sequentialthinking: pass it as sessionId to go on, "+
				"and call recall_thinking with it for more. What it came to:\n", id)
			came, _, err := brief.Write(ctx, s, room-len(text)-200)
			if err != nil {
				return "", err
			}
			text += came
		default:
			const most = 160 // bytes of a thought
			if lines := "\nalso " + strings.Join(brief.Tail(s, most), "\n"); len(text)+len(lines) < room {
				text += lines
			}
		}
	}
	return text, nil
}
