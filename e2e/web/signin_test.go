package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/oidc"
	"github.com/sequent-dev/sequent/e2e/identitytest"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// replicas serves one store from two servers behind a proxy that sends each request to the
// other one. People sign in through a provider. It returns the URL of the proxy.
func replicas(t *testing.T, file string) (public string, provider *identitytest.Provider) {
	t.Helper()
	port := programtest.FreePort(t)
	public = "http://localhost:" + port // browsers keep the cookies for names of this machine
	provider = identitytest.New(t, public)
	provider.Start()
	var servers []*url.URL
	for range 2 {
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		ready, done := make(chan string, 1), make(chan error, 1)
		a, err := app.Open(ctx, app.Config{Store: file, HTTP: app.HTTPConfig{
			Addr: "127.0.0.1:0", Ready: func(url string) { ready <- url },
			OIDC: app.OIDC{Config: oidc.Config{Issuer: provider.Issuer(), ClientID: "sequent"}, PublicURL: public},
		}})
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		go func() { done <- a.ServeHTTP(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			_ = a.Close() // the store is a file that the test has open
		})
		select {
		case text := <-ready:
			u, err := url.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			servers = append(servers, &url.URL{Scheme: u.Scheme, Host: u.Host})
		case err := <-done:
			done <- nil
			t.Fatal(err)
		}
	}
	var turn atomic.Int64
	proxy := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(servers[turn.Add(1)%2])
		r.Out.Host = r.In.Host
	}}}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	go proxy.Serve(l)
	t.Cleanup(func() { _ = proxy.Close() })
	return public, provider
}

// cookies returns the cookies of the viewer.
func (p *tab) cookies(public string) map[string]network.Cookie {
	p.t.Helper()
	all := make(map[string]network.Cookie)
	p.run(chromedp.Func(func(ctx context.Context, s *target) error {
		r, err := cdp.Call(ctx, s, network.GetCookies, network.GetCookiesParams{URLs: []string{public}})
		for _, c := range r.Cookies {
			all[c.Name] = *c
		}
		return err
	}))
	return all
}

// spoil replaces a cookie by one that the server refuses, as if its token had expired.
func (p *tab) spoil(public, name string) {
	p.t.Helper()
	call(p, network.SetCookie, network.SetCookieParams{Name: name, Value: "expired", URL: public + "/", Path: "/", Secure: new(true), HTTPOnly: new(true), SameSite: network.CookieSameSiteStrict})
}

// signIn presses the button of the viewer and signs in on the provider's pages.
func (p *tab) signIn(account string) {
	p.t.Helper()
	p.wait(`document.querySelector('.message button.main')`)
	p.run(clickOn(`.message button.main`))
	p.atProvider(account)
}

// atProvider signs in on the provider's pages, and allows what it asks.
func (p *tab) atProvider(account string) {
	p.t.Helper()
	p.wait(`location.hostname === '127.0.0.1' && document.querySelector('input[name=login]')`)
	eval[bool](p, `document.querySelector('input[name=login]').value = '`+account+`', document.querySelector('input[name=password]').value = 'any', true`)
	p.run(clickOn(`button[type=submit]`))
	p.wait(`location.hostname === '127.0.0.1' && document.querySelector('button[type=submit]') && !document.querySelector('input[name=login]')`)
	p.run(clickOn(`button[type=submit]`))
}

// looks checks a screen and takes pictures of it: light and dark, in a wide and in a narrow window.
func (p *tab) looks(name string) {
	p.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		p.size(1400, 900)
		p.accessible(name + ", " + theme)
		p.size(360, 740)
		if eval[bool](p, `document.scrollingElement.scrollWidth > innerWidth`) {
			p.t.Errorf("%s is wider than a narrow window", name)
		}
	}
	p.theme("light")
	p.size(1400, 900)
}

// TestSignIn signs in through a provider, reads sessions while the token expires and is renewed,
// and signs out. Each request goes to another replica.
func TestSignIn(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sequent.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, owner := range []string{"oidc:alice", "oidc:brief", "oidc:bob"} {
		record(t, sequent.New(sequent.Config{Store: store}).Owned(owner), "one",
			sequent.Draft{Number: 1, Text: "What " + owner + " thinks."}, sequent.Draft{Number: 2, Text: "And more."})
	}
	public, provider := replicas(t, file)
	b := newBrowser(t)

	// The way leads back to the thought from which it began.
	p := b.open(t, public+"/ui/s/one?at=2")
	p.wait(`document.activeElement.textContent.startsWith('Sign in with 127.0.0.1:')`)
	p.looks("signin")
	p.signIn("alice")
	p.wait(`document.querySelector('.thought.here')?.id === 't2' && document.querySelector('.account bdi')?.textContent === 'oidc:alice'`)
	if got := eval[string](p, `location.pathname + location.search + document.cookie`); got != "/ui/s/one?at=2" {
		t.Errorf("after the sign-in the page is at %s", got)
	}
	p.looks("signin-session")
	kept := p.cookies(public)
	if len(kept) != 2 || kept["__Host-sequent"].Value == "" || kept["__Host-sequent-refresh"].Value == "" {
		t.Errorf("the browser has the cookies %v", kept)
	}
	for name, c := range kept {
		if !c.HTTPOnly || !c.Secure || c.SameSite != network.CookieSameSiteStrict || c.Path != "/" {
			t.Errorf("the cookie %s is %+v", name, c)
		}
	}
	if c := kept["__Host-sequent"]; c.Session || c.Expires > float64(time.Now().Add(11*time.Minute).Unix()) {
		t.Errorf("the cookie with the token, which is valid for ten minutes, expires at %v", c.Expires)
	}

	// An expired token is renewed once, also if two pages need it.
	p.spoil(public, "__Host-sequent")
	ctx, cancel := chromedp.NewContext(p.ctx)
	defer cancel()
	if err := chromedp.Do(ctx); err != nil { // with a context that lasts, or the page does not
		t.Fatal(err)
	}
	other := &tab{t: t, ctx: ctx}
	other.run(navigate(public + "/ui/s/one"))
	p.run(reload())
	for _, page := range []*tab{p, other} {
		page.wait(`document.querySelectorAll('.thought').length === 2 && document.querySelector('.account')`)
	}
	renewed := p.cookies(public)
	if renewed["__Host-sequent"].Value == "expired" || renewed["__Host-sequent-refresh"].Value == kept["__Host-sequent-refresh"].Value {
		t.Error("the token was not renewed")
	}
	cancel()

	// Signing out ends the visit and the refresh token, and leads to the end at the provider.
	p.run(clickOn(`.account button`))
	p.wait(`document.querySelector('.message')?.textContent.includes('You are signed out')`)
	p.looks("signout")
	if left := p.cookies(public); len(left) != 0 {
		t.Errorf("after signing out the browser has the cookies %v", left)
	}
	reply, err := http.PostForm(provider.Issuer()+"/token", url.Values{
		"grant_type": {"refresh_token"}, "client_id": {"sequent"}, "refresh_token": {renewed["__Host-sequent-refresh"].Value},
	})
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusBadRequest {
		t.Errorf("the provider accepts the refresh token after the end: %s", reply.Status)
	}
	p.run(clickOn(`a.link`))
	p.wait(`location.pathname.startsWith('/session/end') && document.querySelector('button[name=logout]')`)
	p.run(clickOn(`button[name=logout]`))
	p.wait(`!document.querySelector('button[name=logout]')`)

	// Each person sees their own sessions. A token that really expires is renewed, and the page
	// goes on where it was.
	p.run(navigate(public + "/ui/s/one"))
	p.signIn("brief")
	p.wait(`document.querySelector('.thought')?.textContent.includes('oidc:brief')`)
	before := p.cookies(public)["__Host-sequent"].Value
	for until := time.Now().Add(time.Minute); p.cookies(public)["__Host-sequent"].Value == before; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			p.fatal("the token was not renewed within a minute")
		}
	}
	record(t, sequent.New(sequent.Config{Store: store}).Owned("oidc:brief"), "one", sequent.Draft{Number: 3, Text: "Recorded after the token had expired."})
	p.wait(`document.querySelectorAll('.thought').length === 3`)

	// Without a refresh token the visit ends with its token.
	call(p, network.DeleteCookies, network.DeleteCookiesParams{Name: "__Host-sequent-refresh", URL: public + "/"})
	p.wait(`document.querySelector('.banner')?.textContent.includes('signed out') || document.querySelector('.message button.main')`)
	p.run(reload())
	p.wait(`document.querySelector('.message button.main')`)
	// Before the sign-in, and when a token has expired; and of the provider's pages.
	p.clean("401 (Unauthorized)", "fonts.googleapis.com", "/favicon.ico")
}

// TestHostileSignIn sends the viewer answers that are not those of its own sign-in.
func TestHostileSignIn(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sequent.db")
	public, provider := replicas(t, file)
	p := newBrowser(t).open(t, public+"/ui/")
	p.wait(`document.querySelector('.message button.main')`)

	// begin begins a sign-in and returns its state.
	begin := func() string {
		t.Helper()
		return eval[string](p, `fetch('/api/v1/login/begin', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}).then((r) => r.json()).then((r) => new URL(r.page).searchParams.get('state'))`)
	}
	page := begin()
	if page == "" {
		t.Fatal("the page of the provider has no state")
	}
	iss := "&iss=" + url.QueryEscape(provider.Issuer())
	for _, c := range []struct {
		name, answer string // STATE is that of the sign-in that has begun
		want         string
		without      bool // cookies
	}{
		{name: "no cookie", answer: "code=abc&state=STATE" + iss, want: "not begun in this browser", without: true},
		{name: "wrong state", answer: "code=abc&state=other" + iss, want: "not begun in this browser"},
		{name: "a text of another site", answer: "error=PHISH&error_description=PHISH&state=other" + iss, want: "not begun in this browser"},
		{name: "another provider", answer: "code=abc&state=STATE&iss=https%3A%2F%2Fevil.example", want: "not from the provider"},
		{name: "refused", answer: "error=access_denied&error_description=%E2%80%AEno&state=STATE" + iss, want: "refused the sign-in (access_denied"},
		{name: "way back", answer: "code=abc&state=other&to=https%3A%2F%2Fevil.example", want: "not begun in this browser"},
	} {
		call(p, network.DeleteCookies, network.DeleteCookiesParams{Name: "__Host-sequent-signin", URL: public + "/"})
		p.run(navigate(public + "/ui/"))
		p.wait(`document.querySelector('.message button.main')`)
		state := "none"
		if !c.without {
			state = begin()
		}
		p.run(navigate(public + "/ui/signin?" + strings.ReplaceAll(c.answer, "STATE", state)))
		p.wait(`document.querySelector('.message [role=alert]')`)
		text := eval[string](p, `document.body.innerText`)
		if !strings.Contains(text, c.want) || strings.Contains(text, "PHISH") || strings.Contains(text, "\u202e") {
			t.Errorf("%s: the page says %s; want %q", c.name, text, c.want)
		}
		if at := eval[string](p, `location.href`); at != public+"/ui/" {
			t.Errorf("%s: the page is at %s", c.name, at)
		}
		if c.name == "refused" {
			p.looks("signin-refused")
		}
		if _, in := p.cookies(public)["__Host-sequent"]; in {
			t.Fatalf("%s: the browser is signed in", c.name)
		}
	}

	// A person who cancels is told so in the viewer.
	p.run(clickOn(`.message button.main`))
	p.wait(`location.hostname === '127.0.0.1' && document.querySelector('a[href$="/abort"]')`)
	p.run(clickOn(`a[href$="/abort"]`))
	p.wait(`location.hostname === 'localhost' && document.querySelector('[role=alert]')?.textContent.includes("refused the sign-in (access_denied")`)

	// The way back is a page of the viewer, whatever the storage of the tab has.
	eval[bool](p, `fetch('/api/v1/login/begin', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}).then((r) => r.json()).then((r) => {
		sessionStorage.setItem('sequent.back', '//evil.example/ui/'); // the button would replace it
		setTimeout(() => location.assign(r.page));
		return true;
	})`)
	p.wait(`location.hostname === '127.0.0.1'`)
	p.mu.Lock()
	p.requests = nil
	p.mu.Unlock()
	p.atProvider("alice")
	p.wait(`document.querySelector('.account') || location.protocol === 'chrome-error:'`)
	at := eval[string](p, `location.href`)
	p.mu.Lock()
	var answer string
	for _, r := range p.requests {
		if strings.HasPrefix(r, public+"/ui/signin?") {
			answer = r
		}
		if strings.Contains(r, "evil") {
			t.Errorf("the page asked for %s", r)
		}
	}
	p.mu.Unlock()
	if at != public+"/ui/" {
		t.Fatalf("the sign-in leads to %s", at)
	}

	// The answer is of no use again: not here, and not with a sign-in of its own.
	u, err := url.Parse(answer)
	if err != nil || u.Query().Get("code") == "" {
		t.Fatalf("the provider answered %q, %v", answer, err)
	}
	for _, again := range []bool{false, true} {
		for _, name := range []string{"__Host-sequent", "__Host-sequent-refresh"} {
			call(p, network.DeleteCookies, network.DeleteCookiesParams{Name: name, URL: public + "/"})
		}
		query, want := u.Query(), "not begun in this browser"
		if again {
			query.Set("state", begin())
			want = "(invalid_grant"
		}
		p.run(navigate(public + "/ui/signin?" + query.Encode()))
		p.wait(`document.querySelector('.message [role=alert]')`)
		if text := eval[string](p, `document.body.innerText`); !strings.Contains(text, want) {
			t.Errorf("the answer again (%v): the page says %s", again, text)
		}
	}
}
