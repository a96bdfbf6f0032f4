//go:build linux

// Package recipes tests the recipes in packaging that docs/deploy.md shows: each proxy runs
// with its recipe in front of two servers that share a database.
package recipes

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// The recipes are for this site and these servers.
const (
	site    = "think.example.com"
	public  = "https://" + site
	serverA = "127.0.0.1:8080"
	serverB = "127.0.0.1:8081"
)

var database pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if err := database.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// A setup is a proxy in front of two servers.
type setup struct {
	program, store string
	url            string // what clients call
	proxy          string // HOST:PORT
	tokens         string // file
	replicas       [2]*programtest.Server
	flags          []string
	pool           *x509.CertPool
	avoid          avoider
}

// A starter runs a proxy until the end of the test: with a recipe whose addresses are
// replaced, on the given port.
type starter func(t *testing.T, port string, addresses *strings.Replacer, cert, key string) avoider

// An avoider is what an operator does before a server is restarted, and with "" after that; nil
// for a proxy that notices by itself.
type avoider func(address string)

// newSetup starts two servers and a proxy.
func newSetup(t *testing.T, program string, start starter, flags ...string) *setup {
	t.Helper()
	dir := t.TempDir()
	s := &setup{program: program, store: database.Schema(t), url: public, tokens: filepath.Join(dir, "tokens"), pool: x509.NewCertPool()}
	s.flags = append([]string{"--store", s.store, "--public-url", public, "--trusted-proxy", "127.0.0.1", "--drain", "5s"}, flags...)
	for i := range s.replicas {
		s.replicas[i] = programtest.StartHTTP(t, program, s.flags...)
		t.Cleanup(func() { s.replicas[i].Kill(t) })
	}
	cert, key := filepath.Join(dir, "site.crt"), filepath.Join(dir, "site.key")
	s.certify(t, cert, key)
	s.proxy = "127.0.0.1:" + programtest.FreePort(t)
	_, port, _ := net.SplitHostPort(s.proxy)
	s.avoid = start(t, port, strings.NewReplacer(serverA, address(s.replicas[0]), serverB, address(s.replicas[1])), cert, key)
	await(t, "the proxy serves", func() bool {
		res, err := s.client("127.0.0.1").Get(public + "/ui/")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return s
}

func address(s *programtest.Server) string {
	return strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/mcp")
}

// certify makes a certificate authority and a certificate of the site.
func (s *setup) certify(t *testing.T, certFile, keyFile string) {
	t.Helper()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "recipes"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: site}, DNSNames: []string{site},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, own.Public(), own)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), own)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	parsed, err := x509.ParseCertificate(root)
	if err != nil {
		t.Fatal(err)
	}
	s.pool.AddCert(parsed)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recipe returns a file of packaging.
func recipe(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// client returns an HTTP client at an address of this machine, to which the name of the site
// leads to the proxy. It trusts the test's authority only.
func (s *setup) client(from string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: s.pool},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, s.proxy)
		},
	}}
}

// newToken makes a token for a subject.
func newToken(t *testing.T, program, file, subject string) string {
	t.Helper()
	out := programtest.Output(t, exec.Command(program, "server", "token", "new", subject, "--file", file, "--json"))
	var made struct{ Token string }
	if err := json.Unmarshal(out, &made); err != nil || made.Token == "" {
		t.Fatalf("token new printed %s (%v)", out, err)
	}
	return made.Token
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for 30 s: %s", what)
		}
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"recipes","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// request returns a request of the modern protocol, whose params are members of an object.
func (s *setup) request(t *testing.T, token, method, name, params string) *http.Request {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,` + modernMeta + `}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Mcp-Name": {name},
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

func thinking(text, session string) string {
	args := map[string]any{"thought": text, "nextThoughtNeeded": true}
	if session != "" {
		args["sessionId"] = session
	}
	line, _ := json.Marshal(args) // strings
	return `"name":"sequentialthinking","arguments":` + string(line)
}

// do sends a request and returns the status, the header and the body of the reply.
func do(client *http.Client, req *http.Request) (int, http.Header, string, error) {
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, string(body), err
}

// replyOf matches the reply to a thought, which has its session if the call named none.
var replyOf = regexp.MustCompile(`"structuredContent":\{(?:"sessionId":"([0-9a-z]{12})",)?"thoughtNumber"`)

// think records a thought and returns its session.
func (s *setup) think(t *testing.T, client *http.Client, token, text, session string) string {
	t.Helper()
	status, _, body, err := do(client, s.request(t, token, "tools/call", "sequentialthinking", thinking(text, session)))
	m := replyOf.FindStringSubmatch(body)
	if err != nil || status != http.StatusOK || m == nil {
		t.Fatalf("a thought of %d bytes: got status %d, %.300s, %v", len(text), status, body, err)
	}
	return cmp.Or(session, m[1])
}

// A stream is a reply whose parts are read as they arrive.
type stream struct {
	t     *testing.T
	lines chan string
}

// open sends a request whose reply lasts.
func open(t *testing.T, client *http.Client, req *http.Request) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(req.Context())
	t.Cleanup(cancel)
	res, err := client.Do(req.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		t.Fatalf("%s %s: got %s: %s", req.Method, req.URL, res.Status, body)
	}
	s := &stream{t: t, lines: make(chan string, 100)}
	go func() {
		defer res.Body.Close()
		defer close(s.lines)
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			s.lines <- in.Text()
		}
	}()
	return s
}

// expect waits for a line that contains text, while the stream goes on.
func (s *stream) expect(text string) {
	s.t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("the stream ended before %q", text)
			}
			if strings.Contains(line, text) {
				return
			}
		case <-timeout:
			s.t.Fatalf("the stream lacks %q after 30 s", text)
		}
	}
}

// legacy sends a message of the older protocol.
func (s *setup) legacy(t *testing.T, client *http.Client, token, session, message string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, public+"/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	status, header, body, err := do(client, req)
	if err != nil {
		t.Fatal(err)
	}
	return status, header, body
}

// run starts a program that ends with the test, and logs what it printed if the test failed.
func run(t *testing.T, program string, args ...string) *os.Process {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 10 * time.Second // its children have its output, too
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // by a signal
		if t.Failed() {
			t.Logf("%s:\n%.4000s", program, &out)
		}
	})
	return cmd.Process
}
