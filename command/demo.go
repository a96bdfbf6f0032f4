package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/mcpserver/client"
)

func (p *program) demo() *cobra.Command {
	var fast bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Record and draw an example session",
		Long: `Record an example session and draw it as it grows. The command starts sequent serve as an editor does
and sends it, over MCP, the thoughts of an agent that hunts a bug, with a revision and two branches. It
needs no API key and no network. The session is kept in the store, with the label demo: sequent list
leaves it out once there are others.`,
		Example: "sequent demo\n\n# without pauses\nsequent demo --fast",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			place, err := app.Locate(p.store)
			if err != nil {
				return err
			}
			if place.Memory {
				return &usageError{
					msg: "the demo requires a store that two processes can share, not memory",
					fix: "omit --store, or pass a file",
				}
			}
			return p.withApp(ctx, app.Open, p.config(), func(a *app.App) error {
				return p.play(ctx, a, fast || !isTerminal(p.out) || !isTerminal(p.in))
			})
		},
	}
	c.Flags().BoolVar(&fast, "fast", false, "do not pause between thoughts")
	p.addWidthFlag(c)
	return c
}

// play runs the demo with the store of a.
func (p *program) play(ctx context.Context, a *app.App, fast bool) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, "serve", "--dialect", "standard")
	cmd.Stderr = p.err
	where := shortPath(a.Place.Path)
	if address, ok := a.Place.Database(); ok { // hide its password from the list of processes
		where = a.Place.String()
		cmd.Env = append(os.Environ(), "SEQUENT_STORE="+address)
	} else {
		cmd.Args = append(cmd.Args, "--store", a.Place.String())
	}
	if err := p.printf("Starting a server and connecting to it over MCP:\n    %s serve --store %s\n", shortPath(exe), where); err != nil {
		return err
	}
	connecting, cancel := context.WithTimeout(ctx, app.ConnectTimeout)
	defer cancel()
	server, err := client.Connect(connecting, cmd)
	if err != nil {
		return err
	}
	agent := &agent{server: server, begun: func(id sequent.ID) error {
		_, err := a.Engine.Update(ctx, id, func(c *sequent.Change) error {
			c.SetLabel(sequent.LabelDemo, "1")
			return nil
		})
		return err
	}}
	if fast {
		err = agent.think(ctx, func(context.Context, call) {})
	} else {
		err = p.playSlowly(ctx, a, agent)
	}
	// Read the session after the server has ended, to show that it is durable.
	err = errors.Join(err, server.Close())
	if err != nil || agent.session == "" {
		return err
	}
	s, err := a.Engine.Session(context.WithoutCancel(ctx), agent.session)
	if err != nil {
		return err
	}
	o := p.drawing()
	o.Full = true
	if err := p.print(draw.Session(s, o).Lines...); err != nil {
		return err
	}
	return p.nextSteps(s)
}

// playSlowly draws the session while it grows, with pauses to read the thoughts.
func (p *program) playSlowly(ctx context.Context, a *app.App, agent *agent) error {
	w := &watcher{engine: a.Engine}
	started := make(chan struct{})
	_, err := p.runScreen(ctx, &screen{p: p, watcher: w, started: started}, func(ctx context.Context, _ func(activity)) error {
		return agent.think(ctx, func(ctx context.Context, next call) {
			if w.id == "" && agent.session != "" {
				w.id = agent.session
				close(started)
			}
			pause := time.Duration(len(next.Thought)) * 9 * time.Millisecond
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		})
	})
	return err
}

// An agent sends the thoughts of the story to a server.
type agent struct {
	server  *client.Client
	session sequent.ID // empty before the first reply
	begun   func(sequent.ID) error
}

// think sends all thoughts. It calls pause after each one, with the next one. It
// returns nil early if ctx is done.
func (g *agent) think(ctx context.Context, pause func(ctx context.Context, next call)) error {
	steps := story()
	for i, step := range steps {
		step.SessionID = string(g.session)
		step.NextThoughtNeeded = i+1 < len(steps)
		args, err := json.Marshal(step)
		if err != nil {
			return err
		}
		reply, err := g.server.CallTool(ctx, "sequentialthinking", args)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if reply.Failed {
			return &sequent.Error{
				Code: sequent.CodeInternal, Msg: "the server refused a thought", Fix: "run sequent doctor",
				Err: errors.New(reply.Text),
			}
		}
		var answer struct {
			SessionID string `json:"sessionId"`
		}
		if err := json.Unmarshal(reply.JSON, &answer); err != nil {
			return err
		}
		if g.session == "" {
			if err := g.begun(sequent.ID(answer.SessionID)); err != nil {
				return err
			}
		}
		g.session = sequent.ID(cmp.Or(answer.SessionID, string(g.session)))
		next := call{Thought: step.Thought}
		if i+1 < len(steps) {
			next = steps[i+1]
		}
		if pause(ctx, next); ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// nextSteps suggests commands to run next.
func (p *program) nextSteps(s *sequent.Session) error {
	self := selfName()
	id, options := string(s.ID()), p.storeOption()
	rows := [][2]string{
		{"show " + id, "draw this session"},
		{"watch", "follow new sessions live"},
		{"export " + id, "export as md, json or mermaid"},
		{"search " + `"connection pool"`, "search all sessions"},
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	o := p.drawing()
	lines := []draw.Line{nil, {{Text: "Next steps", Role: draw.Title}}}
	for _, r := range rows {
		line := draw.Line{{Text: "    " + self + " " + r[0] + options, Role: draw.Number}}
		if draw.Width(self)+width+len(options)+len(r[1])+7 <= o.Width {
			line = append(line, draw.Span{Text: fmt.Sprintf("%*s%s", width-len(r[0])+2, "", r[1]), Role: draw.Meta})
		}
		lines = append(lines, line)
	}
	return p.print(append(lines, nil,
		draw.Line{{Text: "Add it to your editor or agent", Role: draw.Title}},
		draw.Line{{Text: "    " + self + " setup" + options, Role: draw.Number}},
	)...)
}

// shortPath replaces the home directory with ~.
func shortPath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	if rest, ok := cutPrefixPath(path, home); ok {
		return "~" + rest
	}
	return path
}

func cutPrefixPath(path, dir string) (string, bool) {
	if len(path) > len(dir) && path[:len(dir)] == dir && os.IsPathSeparator(path[len(dir)]) {
		return path[len(dir):], true
	}
	return "", false
}
