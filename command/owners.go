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
	return p.printf("The owner %s has no sessions. %s", draw.One(strconv.Quote(p.owner), p.charset()), sentence(owners))
}

// sentence returns text as a sentence.
func sentence(text string) string {
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// printBeginning says that there are no sessions yet, and how to record some.
func (p *program) printBeginning() error {
	if remote, err := p.fromServer(); !remote || err != nil {
		return p.printf(beginning)
	}
	return p.printf("The server has no sessions of yours yet.\n\n  sequent setup --team %s/mcp   connect your editor or agent to it", strings.TrimRight(p.serverShown(), "/"))
}

// printNone says that there are no sessions of who asks, and whose there are.
func (p *program) printNone(ctx context.Context, a *app.App) error {
	others := otherOwners(ctx, a.Engine)
	if others == "" {
		return p.printBeginning()
	}
	return p.printf("You have no sessions here. Owners with sessions: %s.\nPass --all-owners to list them, or --owner NAME.", draw.One(others, p.charset()))
}

// otherOwners names the owners that have sessions, with their numbers, beside the engine's.
// It is empty if there are none, or if a server does not tell.
func otherOwners(ctx context.Context, e *sequent.Engine) string {
	owners, err := e.Owned("").Usage(ctx)
	if err != nil {
		return ""
	}
	var names []string
	for _, u := range owners {
		if u.Owner != "" && u.Owner != e.Owner() && u.Sessions > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", draw.One(u.Owner, draw.Unicode), u.Sessions))
		}
	}
	return strings.Join(some(names), ", ")
}

// some returns the first of names, and how many more there are.
func some(names []string) []string {
	const most = 12
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
}

// ownersOf names the owners that have sessions: those with a name near that of --owner, or
// else all.
func (p *program) ownersOf(ctx context.Context, a *app.App) (string, error) {
	owners, err := a.Engine.Owned("").Usage(ctx)
	if err != nil {
		return "", err
	}
	var names, near []string
	for _, u := range owners {
		if u.Owner == "" || u.Sessions == 0 {
			continue
		}
		name := draw.One(u.Owner, draw.Unicode)
		if names = append(names, name); similar(p.owner, u.Owner) {
			near = append(near, "--owner "+quoted(name))
		}
	}
	switch {
	case len(names) == 0:
		return "no owner has any; leave --owner out for your own sessions", nil
	case len(near) > 0:
		return "did you mean " + strings.Join(some(near), " or ") + "?", nil
	}
	return "owners with sessions: " + strings.Join(some(names), ", "), nil
}

// similar reports whether a person may have meant the name by what was typed: it contains
// that, in any case, or differs from it by two letters at most.
func similar(typed, name string) bool {
	a, b := []rune(strings.ToLower(typed)), []rune(strings.ToLower(name))
	const minPart, maxEdits = 3, 2
	if len(a) >= minPart && strings.Contains(string(b), string(a)) {
		return true
	}
	if len(a) <= maxEdits || max(len(a)-len(b), len(b)-len(a)) > maxEdits {
		return false
	}
	row := make([]int, len(b)+1) // distances of the first letters of a to those of b
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)] <= maxEdits
}
