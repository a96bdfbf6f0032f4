package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
)

func (p *program) delete() *cobra.Command {
	var yes, all bool
	var which copiesFlag
	var dir, storage string
	c := &cobra.Command{
		Use:   "delete [ID...]",
		Short: "Delete sessions permanently",
		Long: `Delete sessions with all their thoughts. On a terminal the command asks for confirmation; otherwise it
requires --yes. If one of the sessions does not exist, none is deleted.

The text can also be outside the store: in the note of a session of the dialect wiki, from which the next
sync would restore the session, and in the session file of the dialect classic. The command names these
files. Pass --everywhere to delete them too, or --with-note to delete the note only. With the whole ID of a
session that is not in the store any more, --everywhere deletes what is left of it. Exports and backups keep
the text; sequent does not know where they are.

--all deletes all your sessions, or those of --owner, in small transactions, so that other users are not
blocked. An interruption keeps the sessions that are not deleted yet.

In a SQLite store the command also removes the text from the search index and the write-ahead log. It
reports what it cannot remove because another process uses it, and which.

--json prints {"deleted": [id], "copiesDeleted": [file], "notesLeft": [uri], "filesLeft": [path], "residue":
{"log": bytes, "index": bool, "heldBy": name, "oldLayout": bool}}, with --all {"sessions": n, …}. Empty
fields are omitted.`,
		Example: "sequent delete 7k3\n\n# without confirmation\nsequent delete 7k3 9wd --yes\n\n# with its note in the vault\nsequent delete session-1773500968000-12345 --with-note --vault ~/Notes\n\n# with its note and its session file\nsequent delete session-20260314-150928 --everywhere\n\n# all sessions of a token's subject\nsequent delete --owner alice --all",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case all && which.note:
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
			cfg.Vault, cfg.StoragePath, cfg.Model.Getenv = dir, storage, p.getenv
			return p.withApp(c.Context(), app.OpenExisting, cfg, func(a *app.App) error {
				d := &deletion{program: p, app: a, which: which}
				if all {
					return d.all(c.Context(), yes)
				}
				if err := d.find(c.Context(), args); err != nil {
					return err
				}
				if !yes {
					if err := d.confirm(c.Context()); err != nil {
						return err
					}
				}
				return d.sessions(c.Context())
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "delete all sessions of the owner")
	c.Flags().BoolVar(&which.note, "with-note", false, "delete the notes of the sessions too")
	c.Flags().BoolVar(&which.everywhere, "everywhere", false, "delete the notes and session files too")
	c.Flags().StringVar(&storage, "storage-path", "", "folder of classic's session files (default: Documents/thinking in your home directory)")
	completeDirs(c, "storage-path")
	c.Flags().StringVar(&dir, "vault", "", "folder of notes (default: Documents/sequent-vault in your home directory)")
	completeDirs(c, "vault")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	return c
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
	return p.confirm(ctx, "Delete "+what+" permanently?", "Nothing was deleted.")
}

// confirm asks a question. If the answer is neither y nor yes, it prints what that means
// and returns an error.
func (p *program) confirm(ctx context.Context, question, refused string) error {
	if err := p.requireTerminal(); err != nil {
		return err
	}
	fmt.Fprint(p.err, question+" [y/N] ")
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
	fmt.Fprintln(p.err, refused)
	return errReported
}
