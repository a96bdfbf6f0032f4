package oidc_test

import (
	"bytes"
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
	}{
		"keycloak": {
			client: "editor", read: "sequent:read", owner: "oidc:alice", reused: true,
		},
		"auth0": {
			secret: secret, args: append([]string{"--oidc-param", "audience=SERVER/mcp"}, cli...),
			client: "editor", read: "sequent:read", owner: "oidc:alice",
		},
		"okta": {
			secret: secret, args: append([]string{"--oidc-audience", "api://default", "--oidc-owner-claim", "uid"}, cli...),
			client: "editor", read: "sequent:read", owner: "oidc:00ualice",
		},
		"entra": {
			secret: secret, args: append([]string{"--oidc-scope-prefix", "SERVER/mcp/sequent."}, entra...),
			client: "editor", read: "SERVER/mcp/sequent.read", owner: "oidc:oid-alice",
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
