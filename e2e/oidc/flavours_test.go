package oidc_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// Each of these providers issues other tokens, and wants to be asked in its own way
// (identitytest/flavours.mjs). With the flags of docs/teams.md people sign in to the viewer, on the
// command line and with an MCP client, which is asked for more when it needs it; their tokens are
// renewed; and their sessions have one owner.
func TestProviders(t *testing.T) {
	t.Parallel()
	const secret, api = "s&cret=of+the%viewer", "0b7c5a52-5f0e-4c1c-8f9e-3f1d2f9a6c10"
	cli := []string{"--oidc-login-client-id", "sequent-cli"}
	entra := append([]string{"--oidc-audience", api, "--oidc-owner-claim", "oid"}, cli...)
	for name, c := range map[string]struct {
		secret string
		args   []string
		client string // of the MCP client; empty if the provider refuses its requests
		read   string // scope
		owner  string // of alice
		reused bool   // a refresh token stays valid
		checks []check
	}{
		"keycloak": {
			client: "editor", read: "sequent:read", owner: "oidc:alice", reused: true,
			checks: []check{
				{args: []string{"--oidc-client-id", "sequent"}, want: "as that of oidc:alice, with the scope sequent:write"},
				{account: "unmapped", args: []string{"--oidc-client-id", "sequent"}, want: "for another server", fix: "--oidc-audience"},
				{args: []string{"--oidc-client-id", document}, want: "not allowed for this client", fix: "its grants"},
			},
		},
		"auth0": {
			secret: secret, args: append([]string{"--oidc-param", "audience=SERVER/mcp"}, cli...),
			client: "editor", read: "sequent:read", owner: "oidc:alice",
			checks: []check{{args: cli, want: "opaque", fix: "--oidc-param"}},
		},
		"okta": {
			secret: secret, args: append([]string{"--oidc-audience", "api://default", "--oidc-owner-claim", "uid"}, cli...),
			client: "editor", read: "sequent:read", owner: "oidc:00ualice",
		},
		"entra": {
			secret: secret, args: append([]string{"--oidc-scope-prefix", "SERVER/mcp/sequent."}, entra...),
			client: "editor", read: "SERVER/mcp/sequent.read", owner: "oidc:oid-alice",
			checks: []check{
				{args: cli, want: "does not allow this client the scopes", fix: "--oidc-scope-prefix"},
			},
		},
		"entra-api": {
			secret: secret, args: append([]string{"--oidc-scope-prefix", "api://" + api + "/sequent.", "--oidc-param", "resource="}, entra...),
			owner: "oidc:oid-alice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, name, c.secret, c.args...)
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.server.PID()))
			if err == nil && c.secret != "" && bytes.Contains(line, []byte(c.secret)) {
				t.Errorf("the command line of the server has the secret: %q", line)
			}
			b := &visitor{t: t, s: s, cookies: make(map[string]string)}
			if owner := b.signIn("alice"); owner != c.owner {
				t.Errorf("the viewer is that of %s, want %s", owner, c.owner)
			}
			before := b.cookies["__Host-sequent-refresh"]
			b.post("login/renew", "{}", http.StatusOK, nil)
			if after := b.cookies["__Host-sequent-refresh"]; before == "" || (after == before) != c.reused {
				t.Errorf("the viewer has the refresh token %q, after its use %q", before, after)
			}

			if out := s.login(t, "alice"); !strings.HasSuffix(out, " as "+c.owner+".\n") {
				t.Errorf("sequent server login prints %q, want the owner %s", out, c.owner)
			}
			_, _, entry := s.signIns(t)
			first := entry["access"]
			s.expire(t)
			if out, err := s.command("list", "--server", s.public).CombinedOutput(); err != nil {
				t.Errorf("with an expired token list says: %v, %s", err, out)
			}
			if _, _, entry = s.signIns(t); entry["access"] == first {
				t.Error("the token of the command line was not renewed")
			}

			if c.client != "" {
				v := signIn(t, s.provider.Node, s.public+"/mcp", "alice", c.client, strings.ReplaceAll(c.read, "SERVER", s.public))
				if v.First == 0 || v.Reply.ThoughtNumber != 1 || len(v.Asked) != 2 || strings.Contains(v.Asked[0].Scope, "write") || !strings.Contains(v.Asked[1].Scope, "write") || v.Refresh == "" {
					t.Errorf("the MCP client asked %+v, and got %d tools, then %+v", v.Asked, v.First, v.Reply)
				}
				s.recorded(t, c.owner)
			}
			for _, c := range c.checks {
				t.Run("doctor", func(t *testing.T) {
					t.Parallel() // each waits as long as the provider wants
					s.doctor(t, c)
				})
			}
		})
	}
}

// A visitor is a browser without scripts at the API of the viewer.
type visitor struct {
	t       *testing.T
	s       *site
	cookies map[string]string
}

// signIn signs in as the viewer does, and returns the owner.
func (b *visitor) signIn(account string) string {
	b.t.Helper()
	var begun struct{ Page string }
	b.post("login/begin", "{}", http.StatusOK, &begun)
	p := newPerson(b.t, map[string]string{"login": account, "password": "any"})
	p.until = b.s.public + "/ui/signin"
	if last := p.visit(begun.Page); p.answer == nil {
		b.t.Fatalf("the provider did not come back, but said %s", last)
	}
	answer, err := json.Marshal(map[string]string{"answer": p.answer.Encode()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.post("login/finish", string(answer), http.StatusOK, nil)
	var about struct{ Owner string }
	b.ask("GET", "", "", http.StatusOK, &about)
	return about.Owner
}

func (b *visitor) post(path, body string, status int, into any) {
	b.t.Helper()
	b.ask("POST", "/"+path, body, status, into)
}

// ask sends a request to the API, and keeps the cookies of the reply.
func (b *visitor) ask(method, path, body string, status int, into any) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.s.public+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Origin", b.s.public)
	r.Header.Set("Content-Type", "application/json")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range reply.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	if reply.StatusCode != status {
		b.t.Fatalf("%s %s: %s, want %d\n%s\n%s", method, path, reply.Status, status, text, b.s.server.Log())
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			b.t.Fatalf("%s: %v", text, err)
		}
	}
}

// A check is a run of sequent doctor --sign-in, which names what is wrong where a sign-in works and
// the server still refuses the token.
type check struct {
	account   string // empty means alice
	args      []string
	want, fix string // parts of the finding; without fix it is a good one
}

func (s *site) doctor(t *testing.T, c check) {
	t.Helper()
	args := append([]string{"doctor", "--store", s.store, "--oidc", s.provider.Issuer(), "--public-url", s.public, "--sign-in", "--json"}, c.args...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "SERVER", s.public)
	}
	cmd := s.command(args...)
	cmd.Env = append(cmd.Env, "SEQUENT_OIDC_CLIENT_SECRET="+s.provider.Secret)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := s.enterCode(t, stderr, cmp.Or(c.account, "alice"))
	_ = cmd.Wait() // fails if a check does
	if secret := s.provider.Secret; secret != "" && strings.Contains(out.String()+said, secret) {
		t.Errorf("doctor prints the secret: %s%s", said, out.String())
	}
	var report struct {
		Findings []struct{ Check, Status, Detail, Fix string }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("doctor %q: %v: %s%s", c.args, err, said, out.String())
	}
	for _, f := range report.Findings {
		if f.Check == "provider" && strings.Contains(f.Detail, c.want) && strings.Contains(f.Fix, c.fix) && (f.Status == "fail") == (c.fix != "") {
			return
		}
	}
	t.Errorf("doctor %q has no finding with %q and %q: %s%s", c.args, c.want, c.fix, said, out.String())
}
