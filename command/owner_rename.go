package command

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A renaming is what sequent server owners rename has moved.
type renaming struct {
	From     string `json:"from"`
	To       string `json:"to"`
	DryRun   bool   `json:"dryRun"`
	Sessions int    `json:"sessions"`
	Vault    string `json:"vault,omitempty"`
	Files    int    `json:"files,omitempty"`
}

func runRename(p *program, ctx context.Context) (result, error) {
	from, to := p.args[0], p.args[1]
	for _, name := range p.args { // what cannot be the subject of a token
		if name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return nil, &usageError{
				msg: fmt.Sprintf("%q is no owner", name),
				fix: "use the subject of a token, such as alice or oidc:248289761001; sequent server owners lists them",
			}
		}
	}
	if from == to {
		return nil, usagef("OLD and NEW are the same owner, %q", from)
	}
	done, err := p.app.RenameOwner(ctx, from, to, p.dryRun)
	if err == nil && done == (app.RenamedOwner{}) {
		err = sequent.Errorf(sequent.CodeSessionNotFound, fieldID, "run sequent server owners for those that have some",
			"the owner %q has no sessions", from)
	}
	if err != nil {
		return nil, err
	}
	return &renaming{from, to, p.dryRun, done.Sessions, done.Vault, done.Files}, nil
}

func (r *renaming) text(pg *page) {
	belong := "belong"
	switch {
	case r.DryRun:
		belong = "would belong"
	case r.Sessions == 1:
		belong = "belongs"
	}
	pg.say("%s of %s %s to %s.", printable.Count(r.Sessions, "session", "sessions"), pg.one(r.From), belong, pg.one(r.To))
	if r.Vault != "" {
		pg.say("Notes: %s", pg.one(r.Vault))
	}
	if r.Files > 0 {
		pg.say("Session files: %d", r.Files)
	}
	if !r.DryRun {
		pg.say("The tokens of %s are still valid: sequent server token list shows them.", pg.one(r.From))
	}
}
