package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/web"
)

// A link is a link to a session that sequent server link has made.
type link struct{ web.Link }

func runLink(p *program, ctx context.Context) (result, error) {
	if p.lifetime < time.Second || p.lifetime > web.MaxLifetime {
		return nil, invalid("--expires", formatSpan(p.lifetime), "a duration such as 7d or 12h, at most 365d")
	}
	s, _, err := p.session(ctx, p.args)
	if err != nil {
		return nil, err
	}
	made := new(link)
	body := map[string]any{"id": s.ID(), "seconds": int64(p.lifetime / time.Second)}
	err = p.remote.explain(p.remote.call(ctx, http.MethodPost, "links", nil, body, made))
	made.URL = cmp.Or(made.URL, p.remote.base.String()+made.Path)
	return made, err
}

func (l *link) text(pg *page) {
	pg.say("%s", l.URL)
	pg.tell("Whoever has this link reads the session until %s. End it with: %s",
		l.Expires.Local().Format("2 Jan 2006 15:04"), pg.next("server", "link", "revoke", l.ID))
}

// A linkList is what sequent server link list has found.
type linkList struct {
	Links []web.Link `json:"links"`
}

func runLinks(p *program, ctx context.Context) (result, error) {
	query := url.Values{}
	if p.allOwners {
		query.Set("all", "true")
	}
	found := new(linkList)
	return found, p.remote.explain(p.remote.call(ctx, http.MethodGet, "links", query, nil, found))
}

func (l *linkList) text(pg *page) {
	if len(l.Links) == 0 {
		pg.say("No links.")
	}
	for _, s := range l.Links {
		line := s.ID + "  " + s.Expires.Local().Format("until 2006-01-02 15:04") + "  " + s.Session
		if s.Owner != "" {
			line += "  of " + s.Owner
		}
		if s.Token != "" {
			line += "  by token " + s.Token
		}
		if s.Ended {
			line += "  ended with its token"
		}
		pg.say("%s", line)
	}
}

// An endedLink is a link that sequent server link revoke has ended.
type endedLink struct{ web.Link }

func (l *endedLink) text(pg *page) { pg.say("Ended the link %s to %s.", l.ID, l.Session) }

func runUnlink(p *program, ctx context.Context) (result, error) {
	for _, id := range p.args {
		ended := new(endedLink)
		if err := p.remote.call(ctx, http.MethodDelete, "links/"+url.PathEscape(id), nil, nil, ended); err != nil {
			return nil, p.remote.explain(err)
		}
		p.printResult(ended)
	}
	return nil, nil
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
	login, err := app.BeginLogin(ctx, r.base.String(), scope)
	if err != nil {
		return nil, err
	}
	p.tell("Open %s\nand enter the code %s", printable.Line(login.VerificationURI), printable.Line(login.UserCode))
	if isTerminal(p.err) {
		p.tell("Waiting for %s. Press Ctrl-C to cancel.", login.Host())
	}
	if r.token, err = login.Wait(ctx); err != nil {
		return nil, err
	}
	if err := r.call(ctx, http.MethodGet, "sessions", nil, nil, new(struct{})); err != nil {
		if refused, ok := errors.AsType[*remoteError](err); ok {
			return nil, &usageError{
				msg: "you signed in, but the server does not accept the token: " + refused.Message,
				fix: "ask the operator of the server, to compare the client and the API at the provider with docs/teams.md",
			}
		}
		return nil, r.explain(err)
	}
	var about struct{ Owner string }
	if err := r.call(ctx, http.MethodGet, "", nil, nil, &about); err != nil {
		return nil, r.explain(err)
	}
	expires, renewed, err := login.Keep(ctx)
	until := ""
	if !renewed && !expires.IsZero() {
		until = " until " + expires.Local().Format("15:04")
	}
	return document(fmt.Sprintf("Signed in to %s as %s%s.\n", r.base, printable.Line(about.Owner), until)), err
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

// An ownerList is what each owner has.
type ownerList struct {
	Owners []sequent.Usage `json:"owners"`
	hint   string          // where sessions are, if there are none here
}

func runOwners(p *program, ctx context.Context) (result, error) {
	owners, err := p.engine.Usage(ctx, sequent.Query{AllOwners: true})
	if err != nil {
		return nil, err
	}
	l := &ownerList{Owners: append([]sequent.Usage{}, owners...)}
	if len(owners) == 0 {
		l.hint = p.whereSessionsAre(ctx)
	}
	return l, nil
}

func (l *ownerList) text(pg *page) {
	if len(l.Owners) == 0 {
		pg.say("No sessions. %s", sentence(l.hint))
		return
	}
	rows := [][]cell{head("SESSIONS", "THOUGHTS", "BYTES", "LAST SEEN", "OWNER")}
	for _, u := range l.Owners {
		seen := "never"
		switch {
		case u.Updated.IsZero():
		case pg.tabular():
			seen = printable.Age(pg.now().Sub(u.Updated))
		default:
			seen = u.Updated.Format(time.RFC3339)
		}
		rows = append(rows, []cell{
			{text: strconv.Itoa(u.Sessions)}, {text: strconv.Itoa(u.Thoughts)}, {text: strconv.FormatInt(u.Bytes, 10)}, {text: seen},
			{text: printable.Line(cmp.Or(u.Owner, pg.nobody()))},
		})
	}
	pg.table(rows)
}

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
	if from == "" || to == "" || from == to || to != printable.Line(to) {
		return nil, &usageError{
			msg: fmt.Sprintf("OLD and NEW must be two subjects of tokens, not %q and %q", from, to),
			fix: "use names such as alice or oidc:248289761001; sequent server owners lists them",
		}
	}
	done, err := p.app.RenameOwner(ctx, from, to, p.dryRun)
	if err == nil && done == (app.RenamedOwner{}) {
		err = sequent.Errorf(sequent.CodeSessionNotFound, fieldID, "run sequent server owners for those that have some",
			"the owner %q has no sessions", from)
	}
	return &renaming{from, to, p.dryRun, done.Sessions, done.Vault, done.Files}, err
}

func (r *renaming) text(pg *page) {
	belong := "now belong"
	if r.DryRun {
		belong = "would belong"
	}
	pg.say("%s of %s %s to %s.", printable.Count(r.Sessions, "session", "sessions"), printable.Line(r.From), belong, printable.Line(r.To))
	if r.Vault != "" {
		pg.say("Notes: %s", printable.Line(r.Vault))
	}
	if r.Files > 0 {
		pg.say("Session files: %d", r.Files)
	}
	if !r.DryRun {
		pg.say("The tokens of %s are still valid: sequent server token list shows them.", printable.Line(r.From))
	}
}

// runHealth asks the server at a URL whether it is ready, or the one on this machine that listens at an address.
// The certificate of a loopback address is not checked: it is made for other names, and nothing secret is sent.
func runHealth(p *program, ctx context.Context) (result, error) {
	target := serverAt(p.address)
	if len(p.args) > 0 {
		target = p.args[0]
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &usageError{msg: fmt.Sprintf("%q is not the URL of a server", target), fix: "use a URL such as http://127.0.0.1:8080"}
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/mcp")+"/readyz", "", ""
	answer, err := askReady(ctx, u)
	if err != nil {
		return nil, &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the server at " + u.Host + " is not ready",
			Fix: "read its log; sequent doctor checks its store", Err: err,
		}
	}
	return document(printable.Line(answer) + "\n"), nil
}

// serverAt returns the URL of the server on this machine that listens at addr.
func serverAt(addr string) string {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// askReady returns the answer of a server that is ready, at most 4 KiB of it, within five seconds.
func askReady(ctx context.Context, u *url.URL) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ip := net.ParseIP(u.Hostname())
	client := &http.Client{Transport: &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: ip != nil && ip.IsLoopback()},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if answer := strings.TrimSpace(string(body)); err != nil || res.StatusCode == http.StatusOK {
		return answer, err
	}
	return "", errors.New(res.Status + " " + strings.TrimSpace(string(body)))
}
