package command

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/transfer"
)

func (p *program) ownerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "owner COMMAND",
		Short: "Change whose the sessions of a store are",
		Long: `Change whose the sessions of a store are. sequent owners shows who has sessions, and sequent delete --owner
NAME --all deletes those of one owner.`,
		Example: "sequent owner rename alice oidc:248289761001 --dry-run",
		Args:    onlySubcommands,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.ownerRename())
	return c
}

func (p *program) ownerRename() *cobra.Command {
	var dir, storage string
	var dryRun bool
	c := &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Give the sessions of an owner to another one",
		Long: `Give all sessions of the owner OLD to NEW, for example from the subject of a token to the account of an
identity provider. Their thoughts, times, proofs and ids stay as they are. The owner's notes of the dialect
wiki and session files of the dialect classic go along, if they are on this machine.

Servers may use the store meanwhile. Each session moves as a whole, with everything that was recorded until
then; for OLD it does not exist any more. After an interruption, run the command again. If both owners have a
session of the same id, or notes, the command changes nothing and says so.

The tokens of OLD stay valid, and begin with no sessions: revoke them with sequent token revoke. What quotas
have refused stays with OLD. Links with which the sessions were shared end.

--json prints {"from", "to", "dryRun", "sessions", "thoughts", "failed": [{session, error: {code, message,
fix}}], "vault", "files"}.`,
		Example: "# what would move\nsequent owner rename alice oidc:248289761001 --dry-run\n\nsequent owner rename alice oidc:248289761001",
		Args:    arguments(2, 2, "the owners OLD and NEW"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkOwners(args[0], args[1]); err != nil {
				return err
			}
			cfg := p.config()
			cfg.Vault, cfg.StoragePath, cfg.Model.Getenv = dir, storage, p.getenv
			return p.withApp(c.Context(), app.OpenExisting, cfg, func(a *app.App) error {
				return p.renameOwner(c.Context(), a, args[0], args[1], dryRun)
			})
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would move")
	c.Flags().StringVar(&dir, "vault", "", "folder of notes (default: Documents/sequent-vault in your home directory)")
	completeDirs(c, "vault")
	c.Flags().StringVar(&storage, "storage-path", "", "folder of classic's session files (default: Documents/thinking in your home directory)")
	completeDirs(c, "storage-path")
	p.addJSONFlag(c)
	return c
}

// checkOwners refuses what cannot be the subject of a token.
func checkOwners(names ...string) error {
	for _, name := range names {
		if name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return &usageError{
				msg: fmt.Sprintf("%q is no owner", name),
				fix: "use the subject of a token, such as alice or oidc:248289761001; sequent owners lists them",
			}
		}
	}
	if names[0] == names[1] {
		return usagef("OLD and NEW are the same owner, %q", names[0])
	}
	return nil
}

// jsonFailure is a session that could not be changed, in JSON output.
type jsonFailure struct {
	Session string    `json:"session"`
	Error   userError `json:"error"`
}

func (p *program) renameOwner(ctx context.Context, a *app.App, from, to string, dryRun bool) error {
	failed := []jsonFailure{}
	meter := p.newMeter()
	done, err := a.RenameOwner(ctx, transfer.RenameConfig{
		From: from, To: to, DryRun: dryRun,
		Failed: func(r transfer.Result) {
			failed = append(failed, jsonFailure{string(r.Key.ID), newUserError(r.Err, "")})
		},
		Progress: func(n int) { meter.show(draw.Count(n, "session", "sessions") + " moved") },
	})
	meter.clear()
	switch {
	case ctx.Err() != nil:
		return &sequent.Error{
			Code: sequent.CodeCanceled, Msg: fmt.Sprintf("canceled after %s had moved", draw.Count(done.Sessions, "session", "sessions")),
			Fix: "run the same command again to continue",
		}
	case err != nil:
		return err
	case done.Sessions == 0 && done.Failed == 0 && done.Vault == "" && done.Files == 0:
		p.owner = from
		owners, err := p.ownersOf(ctx, a)
		if err != nil {
			return err
		}
		return &sequent.Error{Code: sequent.CodeSessionNotFound, Field: fieldID, Msg: fmt.Sprintf("the owner %q has no sessions", from), Fix: owners}
	}
	if err := p.reportRenamed(from, to, dryRun, done, failed); err != nil {
		return err
	}
	if len(failed) > 0 {
		return errReported
	}
	return nil
}

func (p *program) reportRenamed(from, to string, dryRun bool, done app.RenamedOwner, failed []jsonFailure) error {
	if p.json {
		return writeJSON(p.out, struct {
			From     string        `json:"from"`
			To       string        `json:"to"`
			DryRun   bool          `json:"dryRun"`
			Sessions int           `json:"sessions"`
			Thoughts int           `json:"thoughts"`
			Failed   []jsonFailure `json:"failed"`
			Vault    string        `json:"vault,omitempty"`
			Files    int           `json:"files,omitempty"`
		}{from, to, dryRun, done.Sessions, done.Thoughts, failed, done.Vault, done.Files})
	}
	belong := "belong"
	if done.Sessions == 1 {
		belong = "belongs"
	}
	if dryRun {
		belong = "would belong"
	}
	from, to = draw.One(from, p.charset()), draw.One(to, p.charset())
	if err := p.printf("%s of %s with %s %s to %s.", draw.Count(done.Sessions, "session", "sessions"), from,
		draw.Count(done.Thoughts, "thought", "thoughts"), belong, to); err != nil {
		return err
	}
	if done.Vault != "" {
		if err := p.printf("Notes: %s", draw.One(done.Vault, p.charset())); err != nil {
			return err
		}
	}
	if done.Files > 0 {
		if err := p.printf("Session files: %d", done.Files); err != nil {
			return err
		}
	}
	for _, f := range failed {
		if err := p.printf("Not moved: %s: %s. %s", draw.One(f.Session, p.charset()), draw.One(f.Error.Message, p.charset()), draw.One(f.Error.Fix, p.charset())); err != nil {
			return err
		}
	}
	if !dryRun && len(failed) == 0 {
		return p.printf("The tokens of %s are still valid: sequent token list shows them.", from)
	}
	return nil
}
