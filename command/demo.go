package command

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/mcpserver/client"
)

// demoCalls is a list of calls of the tool sequentialthinking, without sessionId. The server numbers
// the thoughts.
//
//go:embed demo.json
var demoCalls []byte

// A demo sends the thoughts of an example to a server.
type demo struct {
	server  *client.Client
	session sequent.ID // empty before the first reply
	calls   []map[string]any
}

func runDemo(p *program, ctx context.Context) (result, error) {
	if p.app.Place.Memory {
		return nil, &usageError{
			msg: "the demo requires a store that two processes can share, not memory",
			fix: "omit --store, or pass a file",
		}
	}
	d := &demo{}
	if err := json.Unmarshal(demoCalls, &d.calls); err != nil {
		return nil, err
	}
	if err := p.play(ctx, d); err != nil || d.session == "" {
		return nil, err
	}
	// Read the session after the server has ended, to show that it is durable.
	s, err := p.engine.Session(context.WithoutCancel(ctx), d.session)
	return &played{s}, err
}

// play starts a server with the store, and sends it the thoughts.
func (p *program) play(ctx context.Context, d *demo) (err error) {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, "serve", "--dialect", "standard")
	cmd.Stderr = p.err
	place := p.app.Place
	if address, ok := place.Database(); ok { // hide its password from the list of processes
		cmd.Env = append(os.Environ(), "SEQUENT_STORE="+address)
	} else {
		cmd.Args = append(cmd.Args, "--store", place.String())
	}
	p.put(draw.Line{{Text: "Starting a server and connecting to it over MCP:"}}, draw.Line{{Text: "    " + p.next("serve")}}, nil)
	connecting, cancel := context.WithTimeout(ctx, app.ConnectTimeout)
	defer cancel()
	if d.server, err = client.Connect(connecting, cmd); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.server.Close()) }()
	if err := d.send(ctx); err != nil {
		return err
	}
	_, err = p.engine.Update(ctx, d.session, func(c *sequent.Change) error {
		c.SetLabel(sequent.LabelDemo, "1")
		return nil
	})
	if err != nil {
		return err
	}
	slow := !p.fast && isTerminal(p.out) && isTerminal(p.in)
	rest := func(ctx context.Context, _ func(string)) error {
		for len(d.calls) > 0 && ctx.Err() == nil {
			if text, _ := d.calls[0]["thought"].(string); slow { // as long as it takes to read
				_ = pause(ctx, time.Duration(len(text))*9*time.Millisecond)
			}
			if err := d.send(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if !slow {
		return rest(ctx, nil)
	}
	w, err := p.watcherOf(ctx, p.engine, d.session)
	if err != nil {
		return err
	}
	defer w.changes.Close()
	return (&screen{watcher: w}).run(ctx, rest)
}

// send sends the next thought. A canceled call is no error.
func (d *demo) send(ctx context.Context) error {
	call := d.calls[0]
	d.calls = d.calls[1:]
	call["nextThoughtNeeded"] = len(d.calls) > 0
	if d.session != "" {
		call["sessionId"] = d.session
	}
	args, err := json.Marshal(call)
	if err != nil {
		return err
	}
	reply, err := d.server.CallTool(ctx, "sequentialthinking", args)
	switch {
	case ctx.Err() != nil && d.session != "":
		return nil
	case err != nil:
		return err
	case reply.Failed:
		return fmt.Errorf("the server refused a thought: %s", reply.Text)
	}
	var answer struct {
		SessionID sequent.ID `json:"sessionId"`
	}
	if err := json.Unmarshal(reply.JSON, &answer); err != nil {
		return err
	}
	if answer.SessionID != "" {
		d.session = answer.SessionID
	}
	return nil
}

// A played is the session of a demo.
type played struct{ session *sequent.Session }

func (d *played) text(pg *page) {
	o, id := pg.Options, string(d.session.ID())
	o.Full = true
	pg.add(draw.Session(d.session, o).Lines...)
	pg.heading("Next steps")
	pg.columns([][2]string{
		{"  " + pg.next("show", id), "draw this session"},
		{"  " + pg.next("watch"), "follow new sessions live"},
		{"  " + pg.next("export", id), "export as md, json or mermaid"},
		{"  " + pg.next("search", "connection pool"), "search all sessions"},
	})
	pg.heading("Add it to your editor or agent")
	pg.add(draw.Line{{Text: "    " + pg.next("setup"), Role: draw.Number}})
}
