package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

// addOwnerFlag adds the flag --owner to a command.
func (p *program) addOwnerFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.owner, "owner", "", "owner of the sessions: a token's subject (default: you)")
}

// addOwnersFlags adds the flags --owner and --all-owners to a command that reads.
func (p *program) addOwnersFlags(c *cobra.Command) {
	p.addOwnerFlag(c)
	c.Flags().BoolVar(&p.allOwners, "all-owners", false, "sessions of all owners")
	c.PreRunE = func(*cobra.Command, []string) error {
		if !p.allOwners || p.owner == "" {
			return nil
		}
		if slices.Contains(p.inherited, "owner") { // the command line takes precedence
			p.owner = ""
			return nil
		}
		return usagef("--owner and --all-owners are mutually exclusive")
	}
}

// checkOwner refuses an owner without sessions, and names those that have some: a
// subject is easily misspelt.
func (p *program) checkOwner(ctx context.Context, a *app.App) error {
	if p.owner == "" {
		return nil
	}
	page, err := a.Engine.Sessions(ctx, sequent.Query{Limit: 1})
	if err != nil || len(page.Headers) > 0 {
		return err
	}
	owners, err := p.ownersOf(ctx, a)
	if err != nil {
		return err
	}
	return &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: fieldID,
		Msg: fmt.Sprintf("the owner %q has no sessions", p.owner), Fix: owners,
	}
}

// printNoSessions says that the owner has no sessions, and who has some, where an empty
// result is no failure.
func (p *program) printNoSessions(ctx context.Context, a *app.App) error {
	owners, err := p.ownersOf(ctx, a)
	if err != nil {
		return err
	}
	return p.printf("The owner %s has no sessions. %s.", draw.One(strconv.Quote(p.owner), p.charset()), strings.ToUpper(owners[:1])+owners[1:])
}

// ownersOf names the owners that have sessions.
func (p *program) ownersOf(ctx context.Context, a *app.App) (string, error) {
	owners, err := a.Engine.Owned("").Usage(ctx)
	if err != nil {
		return "", err
	}
	const most = 12
	var names []string
	for _, u := range owners {
		if u.Owner != "" && u.Sessions > 0 {
			names = append(names, draw.One(u.Owner, draw.Unicode))
		}
	}
	switch {
	case len(names) == 0:
		return "no owner has any; leave --owner out for your own sessions", nil
	case len(names) > most:
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return "owners with sessions: " + strings.Join(names, ", "), nil
}
