package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/web"
)

func runView(p *program, ctx context.Context) (result, error) {
	path := web.PagesPrefix
	if len(p.args) > 0 {
		s, _, err := p.session(ctx, p.args)
		if err != nil {
			return nil, err
		}
		path = pathOf(s.ID())
	}
	if p.remote != nil {
		return nil, p.viewServer(ctx, path)
	}
	return nil, p.app.View(ctx, app.ViewConfig{Commands: []string{p.next("demo"), p.next("setup")}, Ready: func(base string, k *web.Key) {
		// The list of processes shows the command line to other users, so it has a code that works once.
		if p.open(base+path+"#code="+k.Code(), base+path+"#key="+k.String()) && isTerminal(p.err) {
			p.tell("Serving %s. Press Ctrl-C to end.", base+path)
		}
	}})
}

// open opens a URL in the browser. With --print, or without a browser, it prints shown, which may be
// another URL of the same page.
func (p *program) open(target, shown string) (opened bool) {
	switch {
	case p.printURL:
		fmt.Fprintln(p.out, shown)
		return false
	case openBrowser(p.getenv, target) != nil:
		p.tell("No browser could be opened. Open this URL:\n%s", shown)
		return false
	}
	return true
}

// viewServer opens a page of a server, with a code that works once, for a minute.
func (p *program) viewServer(ctx context.Context, path string) error {
	page, err := url.Parse(path)
	if err != nil {
		return err
	}
	if p.owner != "" && p.owner != p.self {
		q := page.Query()
		q.Set("owner", p.owner)
		page.RawQuery = q.Encode()
	}
	whole := p.remote.base.ResolveReference(page).String()
	var made struct{ Code string }
	err = p.remote.call(ctx, http.MethodPost, "login/code", nil, struct{}{}, &made)
	if refused, ok := errors.AsType[*remoteError](err); ok && refused.Code == "no_login" {
		err = nil // a server without tokens needs no code
	}
	if err != nil {
		return p.remote.explain(err)
	}
	if made.Code != "" {
		whole += "#code=" + made.Code
	}
	p.open(whole, whole)
	return nil
}

// pathOf returns the path of a session's page.
func pathOf(id sequent.ID) string {
	if id == "." || id == ".." { // browsers resolve them in paths
		return web.PagesPrefix + "?id=" + string(id)
	}
	return web.PagesPrefix + "s/" + url.PathEscape(string(id))
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
			return errors.New("there is no display")
		}
		cmd = exec.Command("xdg-open", page)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // the process is not waited for otherwise
	return nil
}
