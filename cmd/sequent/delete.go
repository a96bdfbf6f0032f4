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
	var yes, all, withNote bool
	var dir string
	c := &cobra.Command{
		Use:   "delete [ID...]",
		Short: "Delete sessions for good",
		Long: `Delete sessions with all their thoughts. On a terminal it asks first; elsewhere it needs --yes. If
one of the sessions is not there, none is deleted.

A session of the dialect wiki has a note as well, from which the next sync would bring it back: with
--with-note that is deleted, too, and without it you are told where it is. Files of the dialect classic
are left where they are.

With --all it deletes all of your sessions, or of those of --owner, in small steps that do not hold up
others; what was deleted when it is stopped stays deleted. All notes are left.

With --json: {"deleted": [id], "notesLeft": [uri], if there are any}, and with --all {"sessions": n}.`,
		Example: "sequent delete 7k3m9q2xw4ht\n\n# without being asked\nsequent delete 7k3 9wd --yes\n\n# of the dialect wiki, with the note in your vault\nsequent delete session-1773500968000-12345 --with-note --vault ~/Notes\n\n# all that is kept of somebody\nsequent delete --owner alice --all",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case all && withNote:
				return misuse(c, "--all and --with-note do not go together")
			case all && len(args) > 0:
				return misuse(c, "%s takes either --all or IDs, but there is also %q", c.CommandPath(), args[0])
			case all:
				return nil
			}
			return arguments(1, -1, "the ID of a session, which sequent list has, or --all")(c, args)
		},
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			cfg := p.config()
			cfg.Vault, cfg.Model.Getenv = dir, p.getenv
			return p.readingWith(c.Context(), cfg, func(a *app.App) error {
				if all {
					return p.deleteAll(c.Context(), a, yes)
				}
				var doomed []*sequent.Session
				for _, id := range args {
					s, err := find(c.Context(), a.Engine, id)
					if err != nil {
						return err
					}
					if !slices.ContainsFunc(doomed, func(d *sequent.Session) bool { return d.ID() == s.ID() }) {
						doomed = append(doomed, s)
					}
				}
				if !yes {
					if err := p.confirm(c.Context(), doomed); err != nil {
						return err
					}
				}
				return p.deleteSessions(c.Context(), a, doomed, withNote)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "delete all sessions of the owner")
	c.Flags().BoolVar(&withNote, "with-note", false, "delete the note of a session of the dialect wiki as well")
	c.Flags().StringVar(&dir, "vault", "", "the folder of notes, a `DIR` (default: Documents/sequent-vault in your home directory)")
	if err := c.MarkFlagDirname("vault"); err != nil {
		panic(err) // there is no such flag
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	p.asJSON(c)
	p.hasOwner(c)
	return c
}

// deleteAll deletes the sessions of one owner.
func (p *program) deleteAll(ctx context.Context, a *app.App, yes bool) error {
	whose := "your"
	if p.owner != "" {
		whose = draw.One(p.owner, p.charset()) + "'s"
	}
	if !yes {
		page, err := a.Engine.Sessions(ctx, sequent.Query{Limit: 1000})
		if err != nil {
			return err
		}
		n := draw.Count(len(page.Headers), "session", "sessions")
		if page.Next != "" {
			n = "more than " + n
		}
		if err := p.ask(ctx, fmt.Sprintf("all of %s sessions (%s)", whose, n)); err != nil {
			return err
		}
	}
	n, err := a.Engine.DeleteAll(ctx)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, struct {
			Sessions int `json:"sessions"`
		}{n})
	}
	if err := p.say("Deleted all of %s sessions (%d).", whose, n); err != nil {
		return err
	}
	v, err := a.Vaults(false)
	if err != nil {
		return err
	}
	if folder, some := v.SessionNotes(ctx, p.owner); some {
		return p.say("Their notes are left, and the next sync brings them back: delete those in %s as well.", draw.One(folder, p.charset()))
	}
	return nil
}

func (p *program) deleteSessions(ctx context.Context, a *app.App, doomed []*sequent.Session, withNote bool) error {
	v, err := a.Vaults(false)
	if err != nil {
		return err
	}
	ids, left := []string{}, []string{}
	for _, s := range doomed {
		note, err := v.Note(ctx, p.owner, s.ID())
		if err != nil && withNote {
			return err
		}
		if withNote && note != "" { // first, as a note that is left brings its session back
			if err := v.DeleteNote(ctx, p.owner, note); err != nil {
				return err
			}
			note = ""
		}
		if err := a.Engine.Delete(ctx, s.ID()); err != nil {
			return err
		}
		ids = append(ids, string(s.ID()))
		if note != "" {
			left = append(left, string(note))
		}
		if p.json {
			continue
		}
		if err := p.say("Deleted %s (%s).", draw.One(string(s.ID()), p.charset()), draw.Count(s.Len(), "thought", "thoughts")); err != nil {
			return err
		}
		if note != "" {
			err := p.say("  Its note %s is left, and the next sync brings the session back from it.\n"+
				"  Delete the note as well; --with-note does both.", draw.One(string(note), p.charset()))
			if err != nil {
				return err
			}
		}
	}
	if !p.json {
		return nil
	}
	return writeJSON(p.out, struct {
		Deleted   []string `json:"deleted"`
		NotesLeft []string `json:"notesLeft,omitempty"`
	}{ids, left})
}

// confirm asks the person at the terminal. No answer is a no.
func (p *program) confirm(ctx context.Context, doomed []*sequent.Session) error {
	if err := p.someone(); err != nil {
		return err
	}
	for _, s := range doomed {
		line := draw.Line{
			{Text: draw.One(string(s.ID()), p.charset()) + "  ", Role: draw.Number},
			{Text: draw.Count(s.Len(), "thought", "thoughts") + "  ", Role: draw.Meta},
			{Text: draw.One(s.Title(), p.charset())},
		}
		fmt.Fprint(p.err, p.render([]draw.Line{draw.Cut(line, p.drawing())}))
	}
	what := "this session"
	if len(doomed) > 1 {
		what = fmt.Sprintf("these %d sessions", len(doomed))
	}
	return p.ask(ctx, what)
}

// someone tells whether there is anybody to be asked.
func (p *program) someone() error {
	if !isTerminal(p.in) || !isTerminal(p.err) {
		return &usageError{msg: "nobody is there to be asked whether to delete", fix: "say so with --yes"}
	}
	return nil
}

// ask asks whether to delete something.
func (p *program) ask(ctx context.Context, what string) error {
	if err := p.someone(); err != nil {
		return err
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
