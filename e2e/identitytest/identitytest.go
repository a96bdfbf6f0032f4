// Package identitytest runs an identity provider for end-to-end tests: npm oidc-provider, with accounts
// that need no password.
package identitytest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A Provider is an identity provider. Its methods are for one goroutine.
type Provider struct {
	Node string            // path of Node.js
	Keys []jose.JSONWebKey // private; the first one signs

	// Flavour is one of flavours.mjs: the provider behaves as another one. Set it before Start.
	Flavour string
	// Secret is that of the client "sequent"; empty for a public client. Set it before Start.
	Secret string

	t              testing.TB
	port, resource string
	file           string // of the keys
	cmd            *exec.Cmd
}

// New returns a provider of tokens for a server at a URL, which has the client "sequent". It is
// not started. The test is skipped if the npm packages of e2e are missing.
func New(t testing.TB, server string) *Provider {
	t.Helper()
	modules := filepath.Join(folder(), "../node_modules")
	node := programtest.Node(t, modules)
	if _, err := os.Stat(filepath.Join(modules, "oidc-provider")); err != nil {
		needtest.Missing(t, "the npm packages of e2e are not installed", "run make npm")
	}
	p := &Provider{Node: node, t: t, port: programtest.FreePort(t), resource: server, file: filepath.Join(t.TempDir(), "keys.json")}
	p.Rotate("one")
	return p
}

// folder returns the folder of this package.
func folder() string {
	_, file, _, ok := runtime.Caller(0)
	if dir := filepath.Dir(file); ok && filepath.IsAbs(dir) {
		return dir
	}
	return "../identitytest" // built with -trimpath; tests run in their own folder
}

// paths are those of the issuers of flavours.
var paths = map[string]string{
	"keycloak": "/realms/acme", "auth0": "/", "okta": "/oauth2/default",
	"entra": "/7d3c9b1e-4f0a-4d57-9a86-2b1f60c2a9e1/v2.0", "entra-api": "/7d3c9b1e-4f0a-4d57-9a86-2b1f60c2a9e1/v2.0",
}

// Issuer returns the provider's URL.
func (p *Provider) Issuer() string { return "http://127.0.0.1:" + p.port + paths[p.Flavour] }

// Rotate adds a key that signs from the next start on. Those before it stay valid.
func (p *Provider) Rotate(id string) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Keys = append([]jose.JSONWebKey{{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}}, p.Keys...)
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: p.Keys})
	if err == nil {
		err = os.WriteFile(p.file, text, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Start starts the provider, which ends with the test at the latest. It has forgotten everything
// but its keys.
func (p *Provider) Start() {
	p.t.Helper()
	p.cmd = exec.Command(p.Node, "provider.mjs", p.Issuer(), p.resource, p.file, p.Flavour, p.Secret)
	p.cmd.Dir = folder()
	p.cmd.Stderr = io.Discard
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.Stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		p.t.Fatalf("the provider said %q, %v", line, err)
	}
}

// Stop kills the provider.
func (p *Provider) Stop() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}
