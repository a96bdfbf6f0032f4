package oidc_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/identitytest"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// login runs sequent server login while a person enters its code.
func (s *site) login(t *testing.T, account string, args ...string) (out string) {
	t.Helper()
	cmd := s.command(append([]string{"server", "login", "--server", s.public}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := s.enterCode(t, stderr, account)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("sequent server login says %s: %v", said, err)
	}
	return stdout.String()
}

// enterCode reads what a command says, and enters the code that it shows, if it does.
func (s *site) enterCode(t *testing.T, stderr io.Reader, account string) (said string) {
	t.Helper()
	lines := bufio.NewReader(stderr)
	first, _ := lines.ReadString('\n')
	second, _ := lines.ReadString('\n')
	page, ok := strings.CutPrefix(strings.TrimSpace(first), "Open ")
	code, ok2 := strings.CutPrefix(strings.TrimSpace(second), "and enter the code ")
	if ok && ok2 {
		newPerson(t, map[string]string{"user_code": code, "login": account, "password": "any", "xsrf": ""}).visit(page)
	}
	rest, _ := io.ReadAll(lines)
	return first + second + string(rest)
}

// A site is a server with a provider, and a person's home directory.
type site struct {
	program, public, home, store string
	provider                     *identitytest.Provider
	server                       *programtest.Server
}

// newProvider starts a provider, and no server.
func newProvider(t *testing.T, flavour, secret string) *site {
	t.Helper()
	s := &site{program: programtest.Build(t), home: t.TempDir()}
	s.public, s.store = "http://127.0.0.1:"+programtest.FreePort(t), filepath.Join(s.home, "server.db")
	s.provider = identitytest.New(t, s.public)
	s.provider.Flavour, s.provider.Secret = flavour, secret
	s.provider.Start()
	return s
}

// newSite starts both. SERVER in an argument is the URL of the server.
func newSite(t *testing.T, flavour, secret string, args ...string) *site {
	t.Helper()
	s := newProvider(t, flavour, secret)
	args = append([]string{"--http", strings.TrimPrefix(s.public, "http://127.0.0.1:"), "--oidc-issuer", s.provider.Issuer(), "--public-url", s.public, "--oidc-client-id", "sequent", "--store", s.store}, args...)
	if secret != "" {
		file := filepath.Join(s.home, "secret")
		if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--oidc-client-secret-file", file)
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "SERVER", s.public)
	}
	s.server = programtest.StartHTTP(t, s.program, args...)
	t.Cleanup(func() {
		t.Helper()
		s.server.Stop(t)
		if log := s.server.Log(); strings.Contains(log, "eyJ") || secret != "" && strings.Contains(log, secret) {
			t.Errorf("the log has a token or the secret:\n%s", log)
		}
	})
	return s
}

// command returns a command of the person.
func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_DATA_HOME="+s.home, "SEQUENT_TOKEN=", "NO_COLOR=1")
	return cmd
}

// signIns returns the file of sign-ins and its entry, if it has one.
func (s *site) signIns(t *testing.T) (path, server string, entry map[string]any) {
	t.Helper()
	path = filepath.Join(s.home, "sequent", "credentials.json")
	var whole struct{ Servers map[string]map[string]any }
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	for server, entry = range whole.Servers {
	}
	return path, server, entry
}

// expire makes the token of the command line look expired.
func (s *site) expire(t *testing.T) {
	t.Helper()
	path, server, entry := s.signIns(t)
	entry["expires"] = time.Now().Add(-time.Hour).Format(time.RFC3339)
	text, err := json.Marshal(map[string]any{"version": 1, "servers": map[string]any{server: entry}})
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The command line signs in with the device flow. Its token is renewed once it has expired, by
// one of any number of processes, and revoked at the end.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	if out := s.login(t, "alice"); out != "Signed in to "+s.public+" as oidc:alice.\n" {
		t.Errorf("sequent server login prints %q", out)
	}
	path, _, entry := s.signIns(t)
	if state, err := os.Stat(path); err != nil || state.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v; want mode 0600", path, state.Mode(), err)
	}
	token := entry["access"].(string)
	if status, challenge := call(t, s.public+"/mcp", token); status != http.StatusOK {
		t.Errorf("the token is refused: %d %s", status, challenge)
	}

	// Watching needs a token; nothing is watched of a session that does not exist.
	watch := func() string {
		out, _ := s.command("watch", "--server", s.public, "nothing", "--until-complete").CombinedOutput()
		return string(out)
	}
	if out := watch(); !strings.Contains(out, "nothing") || strings.Contains(out, "login") {
		t.Errorf("watch prints %s", out)
	}
	s.expire(t)
	refresh := entry["refresh"]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if out := watch(); !strings.Contains(out, "nothing") || strings.Contains(out, "login") {
				t.Errorf("with an expired token watch prints %s", out)
			}
		})
	}
	wg.Wait()
	_, _, entry = s.signIns(t)
	if entry["access"] == token || entry["refresh"] == refresh {
		t.Error("the token was not renewed")
	}

	refresh = entry["refresh"]
	if out, err := s.command("server", "logout", "--server", s.public).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "Signed out of ") {
		t.Errorf("logout: %v, %s", err, out)
	}
	if _, _, entry := s.signIns(t); entry != nil {
		t.Errorf("after logout the file has %v", entry)
	}
	reply, err := http.PostForm(s.provider.Issuer()+"/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {"sequent"}, "refresh_token": {refresh.(string)}})
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusBadRequest {
		t.Errorf("the provider accepts the refresh token after logout: %s", reply.Status)
	}
	if out := watch(); !strings.Contains(out, "sequent server login --server "+s.public) {
		t.Errorf("after logout watch prints %s", out)
	}
}
