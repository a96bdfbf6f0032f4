package oidc_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// document is the metadata document of a client that nobody has registered.
const document = "https://editor.example.com/client.json"

// Clients that know nothing but the server's URL sign a person in: the Go SDK in this process, and
// the MCP Inspector, each by every way to become a client of the provider.
func TestClients(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	t.Run("go-sdk", func(t *testing.T) {
		t.Parallel()
		const redirect = "http://127.0.0.1:9/callback"
		for name, cfg := range map[string]*auth.AuthorizationCodeHandlerConfig{
			"registration": {DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "e2e", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
			}}},
			"document": {ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: document}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.goSDK(t, "go-"+name, redirect, cfg)
			})
		}
	})
	t.Run("inspector", func(t *testing.T) {
		t.Parallel()
		for name, args := range map[string][]string{"registration": nil, "document": {"--client-metadata-url", document}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.inspector(t, "inspector-"+name, args...)
			})
		}
	})
}

// goSDK connects, is allowed to read only, and is asked for more when it records a thought.
func (s *site) goSDK(t *testing.T, account, redirect string, cfg *auth.AuthorizationCodeHandlerConfig) {
	t.Helper()
	var asked []string
	var narrowed atomic.Bool
	cfg.RedirectURL = redirect
	cfg.ScopeFilter = func(found []string) []string {
		if narrowed.CompareAndSwap(false, true) {
			return found[:1]
		}
		return found
	}
	cfg.AuthorizationCodeFetcher = func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		asked = append(asked, args.URL)
		p := newPerson(t, map[string]string{"login": account, "password": "any"})
		p.until = redirect
		p.visit(args.URL)
		return &auth.AuthorizationResult{Code: p.answer.Get("code"), State: p.answer.Get("state"), Iss: p.answer.Get("iss")}, nil
	}
	handler, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.public + "/mcp", OAuthHandler: handler, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if tools, err := session.ListTools(ctx, nil); err != nil || len(tools.Tools) == 0 {
		t.Errorf("ListTools: %v, %v", tools, err)
	}
	if len(asked) != 1 || strings.Contains(asked[0], "write") {
		t.Errorf("before the first thought the person was asked by %q", asked)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "sequentialthinking", Arguments: map[string]any{"thought": account + " signs in", "nextThoughtNeeded": true}})
	if err != nil || result.IsError {
		t.Errorf("CallTool: %+v, %v", result, err)
	}
	if len(asked) != 2 || !strings.Contains(asked[1], "sequent%3Awrite") {
		t.Errorf("for the first thought the person was asked by %q", asked)
	}
	s.recorded(t, "oidc:"+account)
}

// authorizationPattern matches the page that a client wants a person to open.
var authorizationPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+/auth\?\S+`)

// inspector calls a tool with the command line of the MCP Inspector, which waits for the person at
// a callback of its own, and lists the tools with the token that it has kept.
func (s *site) inspector(t *testing.T, account string, args ...string) {
	t.Helper()
	path, err := filepath.Abs("../node_modules/.bin/mcp-inspector")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		needtest.Missing(t, "the npm packages of internal/e2e are not installed", "run make npm")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	home := t.TempDir()
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, s.provider.Node, append([]string{path, "--cli", "--server-url", s.public + "/mcp", "--transport", "http", "--connect-timeout", "60000"}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "NO_COLOR=1", "DISPLAY=", "MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file") // it has no terminal and no keychain
		return cmd
	}
	callback := "http://127.0.0.1:" + programtest.FreePort(t) + "/oauth/callback"
	cmd := run(append(args, "--callback-url", callback, "--method", "tools/call", "--tool-name", "sequentialthinking",
		"--tool-args-json", `{"thought":"`+account+` signs in","nextThoughtNeeded":true}`)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if page := authorizationPattern.FindString(lines.Text()); page != "" {
			newPerson(t, map[string]string{"login": account, "password": "any"}).visit(page)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "thoughtHistoryLength") {
		t.Fatalf("the Inspector: %v\n%s\n%s", err, out.String(), said.String())
	}
	s.recorded(t, "oidc:"+account)
	again, err := run("--use-stored-auth", "--stored-auth-only", "--method", "tools/list").CombinedOutput()
	if err != nil || !strings.Contains(string(again), "sequentialthinking") {
		t.Errorf("with the token that it has kept, the Inspector: %v\n%s", err, again)
	}
}

// recorded fails the test if an owner has no session.
func (s *site) recorded(t *testing.T, owner string) {
	t.Helper()
	out, err := s.command("list", "--owner", owner, "--all-projects", "--store", s.store).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "signs in") {
		t.Errorf("the sessions of %s: %v, %s", owner, err, out)
	}
}
