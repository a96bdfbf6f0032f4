package command

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
	"github.com/sequent-dev/sequent/store/sqlite"
)

func (p *program) delete() *cobra.Command {
	var yes, all, withNote bool
	var dir string
	c := &cobra.Command{
		Use:   "delete [ID...]",
		Short: "Delete sessions permanently",
		Long: `Delete sessions with all their thoughts. On a terminal the command asks for confirmation; otherwise it
requires --yes. If one of the sessions does not exist, none is deleted.

A session of the dialect wiki also has a note, and the next sync would restore the session from it. Pass
--with-note to delete the note too; without it the command prints where the note is. Session files of the
dialect classic are kept.

--all deletes all your sessions, or those of --owner, in small transactions, so that other users are not
blocked. An interruption keeps the sessions that are not deleted yet. --all keeps all notes.

In a SQLite store the command also removes the text from the search index and the write-ahead log. It
reports what it cannot remove because another process uses it. Backups keep the text.

--json prints {"deleted": [id], "notesLeft": [uri], "residue": {"log": bytes, "index": bool, "oldLayout":
bool}}, or {"sessions": n, "residue": {…}} with --all. Empty fields are omitted.`,
		Example: "sequent delete 7k3\n\n# without confirmation\nsequent delete 7k3 9wd --yes\n\n# with its note in the vault\nsequent delete session-1773500968000-12345 --with-note --vault ~/Notes\n\n# all sessions of a token's subject\nsequent delete --owner alice --all",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case all && withNote:
				return misuse(c, "--all and --with-note are mutually exclusive")
			case all && len(args) > 0:
				return misuse(c, "unexpected argument %q: %s takes either --all or IDs", args[0], c.CommandPath())
			case all:
				return nil
			}
			return arguments(1, -1, "the ID of a session, as printed by sequent list, or --all")(c, args)
		},
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			cfg := p.config()
			cfg.Vault, cfg.Model.Getenv = dir, p.getenv
			return p.withStoreConfig(c.Context(), cfg, func(a *app.App) error {
				if all {
					return p.deleteAll(c.Context(), a, yes)
				}
				var targets []*sequent.Session
				for _, id := range args {
					s, err := find(c.Context(), a.Engine, id)
					if err != nil {
						return err
					}
					if !slices.ContainsFunc(targets, func(d *sequent.Session) bool { return d.ID() == s.ID() }) {
						targets = append(targets, s)
					}
				}
				if !yes {
					if err := p.confirm(c.Context(), targets); err != nil {
						return err
					}
				}
				return p.deleteSessions(c.Context(), a, targets, withNote)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "delete all sessions of the owner")
	c.Flags().BoolVar(&withNote, "with-note", false, "delete the notes of the sessions too")
	c.Flags().StringVar(&dir, "vault", "", "folder of notes (default: Documents/sequent-vault in your home directory)")
	completeDirs(c, "vault")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	return c
}

// deleteAll deletes all sessions of the owner.
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
		if err := p.ask(ctx, fmt.Sprintf("all %s sessions (%s)", whose, n)); err != nil {
			return err
		}
	}
	n, err := a.Engine.DeleteAll(ctx)
	if err != nil {
		return err
	}
	left, err := a.Erase(ctx)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, struct {
			Sessions int             `json:"sessions"`
			Residue  *sqlite.Residue `json:"residue,omitempty"`
		}{n, someResidue(left)})
	}
	if err := p.printf("Deleted all %s sessions (%d).", whose, n); err != nil {
		return err
	}
	if err := p.printResidue(left); err != nil {
		return err
	}
	v, err := a.Vaults(false)
	if err != nil {
		return err
	}
	if folder, some := v.SessionNotes(ctx, p.owner); some {
		return p.printf("Their notes are kept, and the next sync would restore the sessions. To prevent it, delete the notes in %s.", draw.One(folder, p.charset()))
	}
	return nil
}

func (p *program) deleteSessions(ctx context.Context, a *app.App, targets []*sequent.Session, withNote bool) error {
	v, err := a.Vaults(false)
	if err != nil {
		return err
	}
	ids, left := []string{}, []string{}
	for _, s := range targets {
		note, err := v.Note(ctx, p.owner, s.ID())
		if err != nil && withNote {
			return err
		}
		if withNote && note != "" { // first, because a remaining note restores its session
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
		if err := p.printf("Deleted %s (%s).", draw.One(string(s.ID()), p.charset()), draw.Count(s.Len(), "thought", "thoughts")); err != nil {
			return err
		}
		if note != "" {
			err := p.printf("  The note %s is kept, and the next sync would restore the session from it.\n"+
				"  To prevent it, delete the note. --with-note deletes both.", draw.One(string(note), p.charset()))
			if err != nil {
				return err
			}
		}
	}
	residue, err := a.Erase(ctx)
	if err != nil {
		return err
	}
	if !p.json {
		return p.printResidue(residue)
	}
	return writeJSON(p.out, struct {
		Deleted   []string        `json:"deleted"`
		NotesLeft []string        `json:"notesLeft,omitempty"`
		Residue   *sqlite.Residue `json:"residue,omitempty"`
	}{ids, left, someResidue(residue)})
}

// confirm lists the sessions and asks for confirmation.
func (p *program) confirm(ctx context.Context, targets []*sequent.Session) error {
	if err := p.requireTerminal(); err != nil {
		return err
	}
	for _, s := range targets {
		line := draw.Line{
			{Text: draw.One(string(s.ID()), p.charset()) + "  ", Role: draw.Number},
			{Text: draw.Count(s.Len(), "thought", "thoughts") + "  ", Role: draw.Meta},
			{Text: draw.One(s.Title(), p.charset())},
		}
		fmt.Fprint(p.err, p.render([]draw.Line{draw.Cut(line, p.drawing())}))
	}
	what := "this session"
	if len(targets) > 1 {
		what = fmt.Sprintf("these %d sessions", len(targets))
	}
	return p.ask(ctx, what)
}

// requireTerminal returns an error without a terminal on which to ask.
func (p *program) requireTerminal() error {
	if !isTerminal(p.in) || !isTerminal(p.err) {
		return &usageError{msg: "cannot ask for confirmation without a terminal", fix: "pass --yes"}
	}
	return nil
}

// ask asks whether to delete something. Only y and yes confirm.
func (p *program) ask(ctx context.Context, what string) error {
	if err := p.requireTerminal(); err != nil {
		return err
	}
	fmt.Fprintf(p.err, "Delete %s permanently? [y/N] ", what)
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
	fmt.Fprintln(p.err, "Nothing was deleted.")
	return errReported
}
