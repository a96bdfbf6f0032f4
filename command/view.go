package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/web"
)

func (p *program) view() *cobra.Command {
	var printURL bool
	c := &cobra.Command{
		Use:   "view [ID]",
		Short: "Read sessions in a browser",
		Long: `Read sessions in a browser: how each ended, the branches that were weighed, what was revised, and new
thoughts as they are recorded. The command serves the pages on a free port of this machine and opens the
browser. The ID can be shortened to its first characters; without an ID the list of sessions is shown.

It ends with Ctrl-C, or an hour after the last page is closed. The URL holds a key in its fragment: other
users of the machine can connect to the port, but see nothing without the key.

sequent serve --http serves the same pages at /ui/. With --server the command opens those of a server, signed
in with the token of SEQUENT_TOKEN or sequent login: the URL has a code that works once, for a minute. A token
with the scope admin shows the sessions of other owners too; --owner chooses one.`,
		Example: "# all sessions\nsequent view\n\n# one session\nsequent view 7k3\n\n# only print the URL, for another browser\nsequent view --print\n\n" +
			"# a session of alice on a team's server\nsequent view --server https://think.example.com --owner alice 7k3",
		Args:              arguments(0, 1, "at most one ID"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			remote, err := p.fromServer()
			if err != nil {
				return err
			}
			if remote {
				return p.viewServer(c.Context(), args, printURL)
			}
			open := app.OpenExisting
			if p.store == "" { // a server may start to use the default store later
				open = app.Open
			}
			return p.withApp(c.Context(), open, p.config(), func(a *app.App) error {
				path := web.PagesPrefix
				if len(args) > 0 {
					s, err := find(c.Context(), a.Engine, args[0])
					if err != nil {
						return err
					}
					path = pathOf(s.ID())
				}
				return a.View(c.Context(), app.ViewConfig{Ready: func(base string, k *web.Key) { p.announceView(base+path, k, printURL) }})
			})
		},
	}
	c.Flags().BoolVar(&printURL, "print", false, "print the URL and open no browser")
	p.addOwnerFlag(c)
	p.addServerFlag(c)
	return c
}

// viewServer opens the pages of a server.
func (p *program) viewServer(ctx context.Context, args []string, printURL bool) error {
	r, err := p.connect(p.server)
	if err != nil {
		return err
	}
	path := web.PagesPrefix
	if err := p.withStore(ctx, func(a *app.App) error {
		if err := p.checkOwner(ctx, a); err != nil || len(args) == 0 {
			return err
		}
		s, err := find(ctx, a.Engine, args[0])
		if err == nil {
			path = pathOf(s.ID())
		}
		return err
	}); err != nil {
		return err
	}
	page, err := url.Parse(path)
	if err != nil {
		return err
	}
	if p.owner != "" && p.owner != p.self {
		q := page.Query()
		q.Set("owner", p.owner)
		page.RawQuery = q.Encode()
	}
	var code struct {
		Code string `json:"code"`
	}
	err = r.post(ctx, "login/code", nil, []byte("{}"), &code)
	if refused, ok := errors.AsType[*remoteError](err); ok && refused.Code == "no_login" {
		err = nil // a server without tokens needs no code
	}
	if err != nil {
		return r.explain(err)
	}
	whole := r.base.ResolveReference(page).String()
	if code.Code != "" {
		whole += "#code=" + code.Code
	}
	if printURL {
		return p.printf("%s", whole)
	}
	if err := openBrowser(p.getenv, whole); err != nil {
		fmt.Fprintf(p.err, "No browser could be opened. Open this URL within a minute:\n%s\n", whole)
	}
	return nil
}

// pathOf returns the path of a session's page.
func pathOf(id sequent.ID) string {
	if id == "." || id == ".." { // browsers resolve them in paths
		return web.PagesPrefix + "?id=" + string(id)
	}
	return web.PagesPrefix + "s/" + url.PathEscape(string(id))
}

// announceView opens the browser, or prints the URL.
func (p *program) announceView(page string, k *web.Key, printURL bool) {
	whole := page + "#key=" + k.String()
	if printURL {
		fmt.Fprintln(p.out, whole)
		return
	}
	// The list of processes shows the command line to other users, so it has a code
	// that works once.
	if err := openBrowser(p.getenv, page+"#code="+k.Code()); err != nil {
		fmt.Fprintf(p.err, "No browser could be opened. Open this URL:\n%s\n", whole)
		return
	}
	if isTerminal(p.err) {
		fmt.Fprintf(p.err, "Serving %s. Press Ctrl-C to end.\n", page)
	}
}

// openBrowser opens a page in the user's browser.
func openBrowser(getenv func(string) string, page string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", page)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", page)
	default:
		if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
			return fmt.Errorf("there is no display")
		}
		cmd = exec.Command("xdg-open", page)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // the process is not waited for otherwise
	return nil
}
