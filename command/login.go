package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) login() *cobra.Command {
	var server, scope, clientID string
	var open bool
	c := &cobra.Command{
		Use:   "login",
		Short: "Sign in to a server",
		Long: `Sign in to a server with an account of its identity provider. The command prints the provider's page and a
code to enter there, in a browser on any machine, and waits. The token is kept in your data directory, in a
file that only you can read, and renewed when it expires. Commands with --server use it.

The server must run with --oidc-issuer. Its provider must offer the device flow (RFC 8628) to the client that
the server names, or to that of --client-id, which is a public client.

--json prints {"server", "owner", "expires", "renewed"}.`,
		Example: "sequent login --server https://think.example.com\nsequent watch --server https://think.example.com\n\n" +
			"# only to read, and open the page in a browser\nsequent login --server https://think.example.com --scope read --open",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			asked, err := token.ParseScope(scope)
			if err != nil {
				return invalid("scope", scope, "read, write or admin")
			}
			r, err := serverOf(c, server)
			if err != nil {
				return err
			}
			if err := r.mayCarryToken(); err != nil {
				return err
			}
			login, err := app.BeginLogin(c.Context(), r.base.String(), clientID, asked)
			if err != nil {
				return err
			}
			p.explainLogin(login, open)
			if r.token, err = login.Wait(c.Context()); err != nil {
				return err
			}
			return p.finishLogin(c.Context(), r, login)
		},
	}
	c.Flags().StringVar(&server, "server", "", "URL of the server; required")
	c.Flags().StringVar(&scope, "scope", "write", "what to ask for: read, write or admin")
	c.Flags().StringVar(&clientID, "client-id", "", "client id at the provider (default: the one that the server names)")
	c.Flags().BoolVar(&open, "open", false, "open the provider's page in the browser")
	p.addJSONFlag(c)
	return c
}

// explainLogin prints what the person does. The code stays on the screen also if the page has
// it: it tells the person's own sign-in from another's.
func (p *program) explainLogin(l *app.Login, open bool) {
	p.showCode(l.Page, l.Code)
	if open {
		page := l.Whole
		if page == "" {
			page = l.Page
		}
		if err := openBrowser(p.getenv, page); err != nil {
			fmt.Fprintf(p.err, "No browser could be opened (%v).\n", err)
		}
	}
	if isTerminal(p.err) {
		fmt.Fprintf(p.err, "Waiting for %s. Press Ctrl-C to cancel.\n", l.Host)
	}
}

// showCode prints the provider's page and the code to enter there.
func (p *program) showCode(page, code string) {
	fmt.Fprintf(p.err, "Open %s\nand enter the code %s\n", draw.One(page, p.charset()), draw.One(code, p.charset()))
}

// finishLogin keeps the token if the server accepts it.
func (p *program) finishLogin(ctx context.Context, r *remote, l *app.Login) error {
	if err := r.get(ctx, "sessions", nil, new(struct{})); err != nil {
		if refused, ok := errors.AsType[*remoteError](err); ok {
			return &usageError{
				msg: "you signed in, but the server does not accept the token: " + refused.Message,
				fix: "ask the operator of the server, who finds the cause in its log or with sequent doctor --oidc",
			}
		}
		return unreachable(err)
	}
	var about struct {
		Owner string `json:"owner"`
	}
	if err := r.get(ctx, "", nil, &about); err != nil {
		return err
	}
	expires, renewed, err := l.Keep(ctx)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, struct {
			Server  string    `json:"server"`
			Owner   string    `json:"owner"`
			Expires time.Time `json:"expires,omitzero"`
			Renewed bool      `json:"renewed"`
		}{r.base.String(), about.Owner, expires.UTC().Truncate(time.Second), renewed})
	}
	until := ""
	if !renewed && !expires.IsZero() {
		until = " until " + expires.Local().Format("15:04")
	}
	return p.printf("Signed in to %s as %s%s.", r.base.Host, draw.One(about.Owner, p.charset()), until)
}

func (p *program) logout() *cobra.Command {
	var server string
	c := &cobra.Command{
		Use:   "logout",
		Short: "Sign out of a server",
		Long: `Sign out of a server: remove the tokens of sequent login, and revoke them where the provider offers that
(RFC 7009). The tokens of clients and of the browser are others, and stay valid.`,
		Example: "sequent logout --server https://think.example.com",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := serverOf(c, server)
			if err != nil {
				return err
			}
			notRevoked, err := app.Logout(c.Context(), r.base.String())
			if err != nil {
				return err
			}
			if notRevoked != nil {
				fmt.Fprintf(p.err, "The provider did not revoke the token, which is valid until it expires: %v.\n", notRevoked)
			}
			return p.printf("Signed out of %s.", r.base.Host)
		},
	}
	c.Flags().StringVar(&server, "server", "", "URL of the server; required")
	return c
}

// serverOf returns the server of --server, which the command requires. It has no token yet.
func serverOf(c *cobra.Command, address string) (*remote, error) {
	if address == "" {
		return nil, misuse(c, "%s requires --server URL", c.CommandPath())
	}
	return newRemote(address, "")
}
