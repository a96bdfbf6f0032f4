package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// alternating returns the URL of a proxy without affinity: it sends each request to another
// replica than the one before, and exchanges a code at another replica than the one that made it.
func alternating(t *testing.T, replicas [2]*url.URL) string {
	t.Helper()
	var n atomic.Int64
	var logins atomic.Bool
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			i := n.Add(1) % 2
			switch r.In.URL.Path {
			case "/api/v1/login/code":
				i = 0
			case "/api/v1/login":
				i = 1
				logins.Store(true)
			}
			r.SetURL(replicas[i])
			r.Out.Host = r.In.Host
		},
	})
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		if !logins.Load() {
			t.Error("nobody has signed in with a code")
		}
	})
	return strings.Replace(proxy.URL, "127.0.0.1", "localhost", 1) // browsers keep the cookie for names of this machine
}

// TestLead opens the pages of two replicas behind a proxy with sequent view --server, signed in, and
// reads the sessions of two people.
func TestLead(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	dir := t.TempDir()
	e, cfg, secret := newTeam(t, dir, token.Info{Subject: "lead", Scope: auth.Admin})
	story(t, e.Owned("alice"))
	if _, err := e.Owned("bob").Begin(t.Context(), "other", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Text: "What Bob thinks."})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	program := programtest.Build(t)
	var replicas [2]*url.URL
	for i := range replicas {
		u, err := url.Parse(strings.TrimSuffix(programtest.ServeHTTP(t, program, "--store", cfg.Store, "--auth", cfg.HTTP.Tokens), "/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		replicas[i] = u
	}
	address := alternating(t, replicas)
	view := exec.Command(program, "view", "--server", address, "--owner", "alice", "story", "--print")
	view.Dir = dir
	view.Env = append(view.Environ(), "SEQUENT_TOKEN="+secret)
	printed := strings.TrimSpace(string(programtest.Output(t, view)))
	if strings.Contains(printed, secret) || !strings.Contains(printed, "/ui/s/story?owner=alice#code=") {
		t.Errorf("the URL is %s", printed)
	}
	_, code, _ := strings.Cut(printed, "#code=")
	p := b.open(t, printed)
	p.wait(`document.querySelectorAll('.thought').length === 9`)
	if got := eval[string](p, `document.cookie + JSON.stringify(sessionStorage) + location.href`); strings.Contains(got, secret) || strings.Contains(got, "code=") {
		t.Errorf("scripts can read the token: %s", got)
	}
	for _, replica := range replicas { // the code was used
		reply, err := http.Post(replica.String()+"/api/v1/login", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != http.StatusUnauthorized || len(reply.Cookies()) > 0 {
			t.Errorf("the code is taken again: %s", reply.Status)
		}
	}
	p.wait(`[...document.querySelector('select[aria-label=Owner]').options].map((o) => o.value).join() === ',alice,bob'`)
	if got := eval[string](p, `document.querySelector('a.session').getAttribute('href')`); !strings.HasSuffix(got, "?owner=alice") {
		t.Errorf("the session has the address %s", got)
	}
	p.run(clickOn("a.session"))
	p.run(clickOn("select[aria-label=Owner]"))
	p.keys("b", "\r")
	p.wait(`location.search === '?owner=bob' && document.querySelectorAll('a.session').length === 1`)
	p.run(clickOn("a.session"))
	p.wait(`document.querySelector('.thought')?.textContent && document.body.textContent.includes('What Bob thinks.')`)
}
