package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) delete() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete sessions for good",
		Long: `Delete sessions with all their thoughts. On a terminal it asks first; elsewhere it needs --yes. If
one of the sessions is not there, none is deleted.

With --json: {"deleted": [id]}.`,
		Example:           "sequent delete 7k3m9q2xw4ht\n\n# without being asked\nsequent delete 7k3 9wd --yes",
		Args:              arguments(1, -1, "the ID of a session; sequent list has them"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return p.reading(c.Context(), func(a *app.App) error {
				var doomed []*sequent.Session
				for _, id := range args {
					s, err := find(c.Context(), a.Engine, id)
					if err != nil {
						return err
					}
					if !slices.ContainsFunc(doomed, func(d *sequent.Session) bool { return d.ID == s.ID }) {
						doomed = append(doomed, s)
					}
				}
				if !yes {
					if err := p.confirm(c.Context(), doomed); err != nil {
						return err
					}
				}
				return p.deleteSessions(c.Context(), a, doomed)
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	p.asJSON(c)
	p.hasOwner(c)
	return c
}

func (p *program) deleteSessions(ctx context.Context, a *app.App, doomed []*sequent.Session) error {
	ids := []string{}
	for _, s := range doomed {
		if err := a.Engine.Delete(ctx, s.ID); err != nil {
			return err
		}
		ids = append(ids, string(s.ID))
		if !p.json {
			if err := p.say("Deleted %s (%s).", draw.One(string(s.ID), p.charset()), draw.Count(s.Len, "thought", "thoughts")); err != nil {
				return err
			}
		}
	}
	if !p.json {
		return nil
	}
	return writeJSON(p.out, struct {
		Deleted []string `json:"deleted"`
	}{ids})
}

// confirm asks the person at the terminal. No answer is a no.
func (p *program) confirm(ctx context.Context, doomed []*sequent.Session) error {
	if !isTerminal(p.in) || !isTerminal(p.err) {
		return &usageError{msg: "nobody is there to be asked whether to delete", fix: "say so with --yes"}
	}
	for _, s := range doomed {
		line := draw.Line{
			{Text: draw.One(string(s.ID), p.charset()) + "  ", Role: draw.Number},
			{Text: draw.Count(s.Len, "thought", "thoughts") + "  ", Role: draw.Meta},
			{Text: draw.One(s.Title, p.charset())},
		}
		fmt.Fprint(p.err, p.render([]draw.Line{draw.Cut(line, p.drawing())}))
	}
	what := "this session"
	if len(doomed) > 1 {
		what = fmt.Sprintf("these %d sessions", len(doomed))
	}
	fmt.Fprintf(p.err, "Delete %s for good? [y/N] ", what)
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(p.in).ReadString('\n')
		if err == io.EOF {
			fmt.Fprintln(p.err)
		}
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(p.err)
	case a := <-answer:
		if a == "y" || a == "yes" {
			return nil
		}
	}
	fmt.Fprintln(p.err, "Nothing is deleted.")
	return errQuiet
}
