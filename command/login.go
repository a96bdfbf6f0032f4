package command

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A signedIn is the sign-in of sequent server login.
type signedIn struct {
	Server  string    `json:"server"`
	Owner   string    `json:"owner"`
	Expires time.Time `json:"expires,omitzero"`
	Renewed bool      `json:"renewed"`
	host    string
}

func runLogin(p *program, ctx context.Context) (result, error) {
	scope, err := token.ParseScope(p.scope)
	if err != nil {
		return nil, err
	}
	r, err := p.signInServer()
	if err == nil {
		err = r.mayCarryToken()
	}
	if err != nil {
		return nil, err
	}
	login, err := app.BeginLogin(ctx, r.base.String(), p.clientID, scope)
	if err != nil {
		return nil, err
	}
	p.tell("Open %s\nand enter the code %s", printable.Line(login.VerificationURI), printable.Line(login.UserCode))
	if p.openPage {
		// The code stays on the screen: it tells the person's own sign-in from another's.
		if err := openBrowser(p.getenv, cmp.Or(login.VerificationURIComplete, login.VerificationURI)); err != nil {
			p.tell("No browser could be opened (%v).", err)
		}
	}
	if isTerminal(p.err) {
		p.tell("Waiting for %s. Press Ctrl-C to cancel.", login.Host())
	}
	if r.token, err = login.Wait(ctx); err != nil {
		return nil, err
	}
	s := &signedIn{Server: r.base.String(), host: r.base.Host}
	if err := r.call(ctx, http.MethodGet, "sessions", nil, nil, new(struct{})); err != nil {
		if refused, ok := errors.AsType[*remoteError](err); ok {
			return nil, &usageError{
				msg: "you signed in, but the server does not accept the token: " + refused.Message,
				fix: "ask the operator of the server, to compare the client and the API at the provider with docs/teams.md",
			}
		}
		return nil, unreachable(err)
	}
	var about struct{ Owner string }
	if err := r.call(ctx, http.MethodGet, "", nil, nil, &about); err != nil {
		return nil, err
	}
	s.Owner = about.Owner
	s.Expires, s.Renewed, err = login.Keep(ctx)
	s.Expires = s.Expires.UTC().Truncate(time.Second)
	return s, err
}

func (s *signedIn) text(pg *page) {
	until := ""
	if !s.Renewed && !s.Expires.IsZero() {
		until = " until " + s.Expires.Local().Format("15:04")
	}
	pg.say("Signed in to %s as %s%s.", s.host, pg.one(s.Owner), until)
}

func runLogout(p *program, ctx context.Context) (result, error) {
	r, err := p.signInServer()
	if err != nil {
		return nil, err
	}
	notRevoked, err := app.Logout(ctx, r.base.String())
	if err != nil {
		return nil, err
	}
	if notRevoked != nil {
		p.tell("The provider did not revoke the token, which is valid until it expires: %v.", notRevoked)
	}
	return document("Signed out of " + r.base.Host + ".\n"), nil
}

// signInServer returns the server of --server, which the command requires. It has no token yet.
func (p *program) signInServer() (*remote, error) {
	if p.server == "" {
		return nil, misuse(p.cmd, "%s requires --server URL", p.cmd.CommandPath())
	}
	return newRemote(p.server, "")
}
