package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/sequent-dev/sequent/e2e/identitytest"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A visit is what client.mjs prints.
type visit struct {
	Asked          []struct{ Scope, Resource, Challenge string }
	First          int
	Reply          struct{ ThoughtNumber int }
	Token, Refresh string
}

func signIn(t *testing.T, node, url, account, client string, scope ...string) visit {
	t.Helper()
	var v visit
	if err := json.Unmarshal(programtest.Output(t, exec.Command(node, append([]string{"client.mjs", url, account, client}, scope...)...)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A client that knows nothing but the server's URL signs a person in, by every way to become a
// client of the provider. Later it is asked for more than it has. Neither a restart of the
// provider nor a new key loses anybody.
func TestSignIn(t *testing.T) {
	t.Parallel()
	program, port := programtest.Build(t), programtest.FreePort(t)
	public := "http://127.0.0.1:" + port
	p := identitytest.New(t, public)
	store := filepath.Join(t.TempDir(), "sequent.db")
	// The server starts first: it asks the provider when somebody comes.
	server := programtest.StartHTTP(t, program, "--http", port, "--oidc-issuer", p.Issuer(), "--public-url", public, "--store", store)
	p.Start()
	url := public + "/mcp"
	var token string
	for mode, args := range map[string][]string{"register": {"register"}, "document": {"document"}, "stepup": {"document", "sequent:read"}} {
		v := signIn(t, p.Node, url, mode, args[0], args[1:]...)
		if v.Reply.ThoughtNumber != 1 {
			t.Errorf("%s: got the reply %+v", mode, v.Reply)
		}
		last := v.Asked[len(v.Asked)-1]
		if !strings.HasPrefix(last.Scope, "sequent:read sequent:write") || last.Resource != url || last.Challenge != "S256" {
			t.Errorf("%s: the provider was asked %+v", mode, v.Asked)
		}
		if mode == "stepup" && (v.First == 0 || len(v.Asked) != 2 || strings.Contains(v.Asked[0].Scope, "write")) {
			t.Errorf("stepup: the provider was asked %+v, and %d tools were listed before", v.Asked, v.First)
		}
		token = v.Token
	}
	out := string(programtest.Output(t, exec.Command(program, "list", "--all-owners", "--store", store)))
	for _, owner := range []string{"oidc:register", "oidc:document", "oidc:stepup"} {
		if !strings.Contains(out, "\t"+owner+"\t") {
			t.Errorf("no session of %s in\n%s", owner, out)
		}
	}
	t.Run("hostile", func(t *testing.T) { refuse(t, p, url) })

	p.Stop()
	if status, _ := call(t, url, token); status != http.StatusOK {
		t.Errorf("the provider is away: status %d for a token with a known key", status)
	}
	p.Rotate("two")
	p.Start()
	if v := signIn(t, p.Node, url, "later", "register"); v.Reply.ThoughtNumber != 1 || v.Token == "" {
		t.Errorf("with a new key: got %+v", v)
	}
	if status, _ := call(t, url, token); status != http.StatusOK {
		t.Errorf("after a rotation: status %d for a token with the former key", status)
	}
	server.Stop(t)
	if strings.Contains(server.Log(), "eyJ") {
		t.Errorf("the log has a token:\n%s", server.Log())
	}
}

// call lists the tools and returns the status and the challenge.
func call(t *testing.T, url, token string) (status int, challenge string) {
	t.Helper()
	got, err := programtest.Do(http.DefaultClient, programtest.Request(t, url, token, "tools/list", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	return got.Status, got.Header.Get("Www-Authenticate")
}

// refuse sends tokens that are wrong, and compares what the server asks for. auth/oidc has more.
func refuse(t *testing.T, p *identitytest.Provider, url string) {
	sign := func(key any, scope string) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, new(jose.SignerOptions).WithType("at+jwt").WithHeader("kid", "one"))
		if err != nil {
			t.Fatal(err)
		}
		jws, err := signer.Sign(fmt.Appendf(nil, `{"iss":%q,"sub":"mallory","aud":%q,"scope":%q,"exp":%d}`, p.Issuer(), url, scope, time.Now().Add(time.Hour).Unix()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := jws.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if status, challenge := call(t, url, sign(p.Keys[0].Key, "sequent:read")); status != http.StatusOK {
		t.Fatalf("the token that the others differ from: %d %s", status, challenge)
	}
	for _, c := range []struct {
		token, code, reason string
		status              int
	}{
		{sign(p.Keys[0].Key, "openid sequent:everything"), "insufficient_scope", "sequent:read", 403},
		{sign(other, "sequent:read"), "invalid_token", "not signed with a key", 401},
		{"opaque-token", "invalid_token", "not valid", 401},
	} {
		status, challenge := call(t, url, c.token)
		metadata := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, strings.TrimSuffix(url, "/mcp"))
		if status != c.status || !strings.HasPrefix(challenge, `Bearer realm="sequent", error="`+c.code+`", error_description="`) ||
			!strings.Contains(challenge, c.reason) || !strings.HasSuffix(challenge, metadata) {
			t.Errorf("%d %s; want %d, %s and %q", status, challenge, c.status, c.code, c.reason)
		}
	}
}
