//go:build linux

package recipes

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A starter runs a proxy until the end of the test: with a recipe whose addresses are
// replaced, on the given port.
type starter func(t *testing.T, port string, addresses *strings.Replacer, cert, key string) avoider

// An avoider is what an operator does before a server is restarted, and with "" after that; nil
// for a proxy that notices by itself.
type avoider func(address string)

func caddy(t *testing.T, port string, addresses *strings.Replacer, cert, key string) avoider {
	t.Helper()
	program := needtest.Program(t, "caddy", "install Debian's package caddy")
	file := filepath.Join(t.TempDir(), "Caddyfile")
	text := addresses.Replace(recipe(t, "caddy/Caddyfile"))
	if strings.Count(text, site+" {\n") != 1 {
		t.Fatalf("the recipe has no site %s", site)
	}
	// Instead of a certificate from an authority on the network.
	text = strings.Replace(text, site+" {\n", site+":"+port+" {\n\ttls "+cert+" "+key+"\n", 1)
	write(t, file, "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n"+text)
	run(t, program, "run", "--adapter", "caddyfile", "--config", file)
	return nil
}

func nginx(t *testing.T, port string, addresses *strings.Replacer, cert, key string) avoider {
	t.Helper()
	program := needtest.Program(t, "nginx", "install Debian's package nginx-light")
	dir := t.TempDir()
	text := addresses.Replace(recipe(t, "nginx/sequent.conf"))
	text = strings.NewReplacer(
		"listen 443 ", "listen 127.0.0.1:"+port+" ", "listen 80;", "listen unix:"+dir+"/plain.sock;",
		"/etc/nginx/sequent.crt", cert, "/etc/nginx/sequent.key", key,
	).Replace(text)
	write(t, filepath.Join(dir, "sequent.conf"), text)
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n" // who can read the test's directories
	}
	write(t, filepath.Join(dir, "nginx.conf"), user+"daemon off;\npid "+dir+"/pid;\nerror_log stderr;\nevents {}\nhttp {\n\taccess_log off;\n\t"+
		"client_body_temp_path "+dir+"/body;\n\tproxy_temp_path "+dir+"/proxy;\n\tfastcgi_temp_path "+dir+"/f;\n\tuwsgi_temp_path "+dir+"/u;\n\t"+
		"scgi_temp_path "+dir+"/s;\n\tinclude "+dir+"/sequent.conf;\n}\n")
	process := run(t, program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	return func(address string) {
		t.Helper()
		changed := text
		if address != "" {
			if changed = strings.Replace(text, "server "+address+" ", "server "+address+" down ", 1); changed == text {
				t.Fatalf("the recipe has no server %s", address)
			}
		}
		write(t, filepath.Join(dir, "sequent.conf"), changed)
		if err := process.Signal(syscall.SIGHUP); err != nil { // nginx -s reload
			t.Fatal(err)
		}
	}
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

// A setup is a proxy in front of two servers.
type setup struct {
	program  string
	proxy    string // HOST:PORT
	replicas [2]*programtest.Server
	flags    []string
	pool     *x509.CertPool
	avoid    avoider
}

// newSetup starts two servers and a proxy.
func newSetup(t *testing.T, start starter, flags ...string) *setup {
	t.Helper()
	dir := t.TempDir()
	s := &setup{program: programtest.Build(t), pool: x509.NewCertPool(), proxy: "127.0.0.1:" + programtest.FreePort(t)}
	s.flags = append([]string{"--store", database.Schema(t), "--public-url", public, "--trusted-proxy", "127.0.0.1", "--drain", "5s"}, flags...)
	for i := range s.replicas {
		s.replicas[i] = programtest.StartHTTP(t, s.program, s.flags...)
		t.Cleanup(func() { s.replicas[i].Kill(t) })
	}
	cert, key := filepath.Join(dir, "site.crt"), filepath.Join(dir, "site.key")
	certify(t, s.pool, cert, key)
	_, port, _ := net.SplitHostPort(s.proxy)
	addresses := strings.NewReplacer("127.0.0.1:8080", address(s.replicas[0]), "127.0.0.1:8081", address(s.replicas[1]))
	s.avoid = start(t, port, addresses, cert, key)
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

// client returns an HTTP client at an address of this machine, to which the name of the site
// leads to the proxy. It trusts the test's certificate only.
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

// Everything that a client needs from a proxy.
func TestProxies(t *testing.T) {
	for name, start := range map[string]starter{"caddy": caddy, "nginx": nginx} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens := filepath.Join(t.TempDir(), "tokens")
			token := programtest.Token(t, tokens, "user")
			s := newSetup(t, start, "--auth", tokens, "--oidc-issuer", "https://login.example.com", "--rate", "0")
			client := s.client("127.0.0.1")
			list := func(token, origin string) *http.Request {
				r := programtest.Request(t, public+"/mcp", token, "tools/list", "", "")
				r.Header.Set("Origin", origin)
				return r
			}
			thought := func(size int) *http.Request {
				return programtest.Request(t, public+"/mcp", token, "tools/call", "sequentialthinking", programtest.Thought(strings.Repeat("a", size), ""))
			}
			for _, c := range []struct {
				request *http.Request
				status  int
				want    string // in the header WWW-Authenticate or the body
			}{
				{get(t, "/metrics", token), http.StatusNotFound, ""},
				{get(t, "/metrics/", token), http.StatusNotFound, ""},
				{get(t, "/healthz", token), http.StatusNotFound, ""},
				{get(t, "/readyz", token), http.StatusNotFound, ""},
				{list("", public), http.StatusUnauthorized, `resource_metadata="` + public + "/.well-known/oauth-protected-resource/mcp" + `"`},
				{get(t, "/.well-known/oauth-protected-resource/mcp", ""), http.StatusOK, `"resource":"` + public + `/mcp"`},
				{list(token, public), http.StatusOK, "tools"},
				{list(token, "https://elsewhere.example"), http.StatusForbidden, ""},
				{thought(60_000), http.StatusOK, "thoughtNumber"},
				{thought(4<<20 - 1000), http.StatusOK, "the limit is 65536"}, // it arrives whole, and the server refuses it
			} {
				got, err := programtest.Do(client, c.request)
				if err != nil || got.Status != c.status || !strings.Contains(got.Header.Get("WWW-Authenticate")+got.Body, c.want) {
					t.Errorf("%s: got %d %.300s, %v; want %d %s", c.request.URL.Path, got.Status, got.Body, err, c.status, c.want)
				}
			}
			// More than the server reads is refused by it, or before it.
			if got, err := programtest.Do(client, thought(4<<20)); err == nil && got.Status < 400 {
				t.Errorf("a message over the limit: got %d %.300s", got.Status, got.Body)
			}
			t.Run("streams", func(t *testing.T) { s.testStreams(t, token) })
			t.Run("socket", func(t *testing.T) { s.testSocket(t, token) })
			t.Run("restart", func(t *testing.T) { s.testRestart(t, token) })
		})
	}
}

// A WebSocket begins as HTTP/1.1.
func (s *setup) testSocket(t *testing.T, token string) {
	client := s.client("127.0.0.1")
	client.Timeout = 0
	client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request := programtest.Request(t, public, token, "tools/call", "sequentialthinking", programtest.Thought("by socket", ""))
	ws, res, err := websocket.Dial(ctx, "wss://"+site+"/ws", &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: http.Header{"Authorization": request.Header["Authorization"]}, Subprotocols: []string{"mcp"},
	})
	if err != nil {
		t.Fatalf("%v, %v", err, res)
	}
	defer ws.CloseNow() //nolint:errcheck // the test is over
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = ws.Write(ctx, websocket.MessageText, body)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, reply, err := ws.Read(ctx); err != nil || !bytes.Contains(reply, []byte(`"id":1`)) || !bytes.Contains(reply, []byte("thoughtNumber")) {
		t.Errorf("got %s, %v", reply, err)
	}
}

// Events arrive while a stream is open, of both eras and of the viewer. An MCP session of an older
// client stays at its server.
func (s *setup) testStreams(t *testing.T, token string) {
	client := &http.Client{Transport: s.client("127.0.0.1").Transport} // streams last
	id := think(t, client, public+"/mcp", token, "watched", "")
	uri := "sequent://sessions/" + id
	subscription := open(t, client, programtest.Request(t, public+"/mcp", token, "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`))
	subscription.expect("notifications/subscriptions/acknowledged")

	session := ""
	older := func(message string) programtest.Reply {
		t.Helper()
		r, err := programtest.Do(client, programtest.Older(t, public+"/mcp", token, session, message))
		if err != nil || r.Status >= 300 {
			t.Fatalf("%s: got %d %s, %v", message, r.Status, r.Body, err)
		}
		return r
	}
	session = older(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`).Header.Get("Mcp-Session-Id")
	older(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	following := get(t, "/mcp", token)
	following.Header.Set("Accept", "text/event-stream")
	following.Header.Set("Mcp-Session-Id", session)
	following.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	stream := open(t, client, following)
	stream.expect(": still here")
	for range 20 {
		older(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`)
	}
	viewer := open(t, client, get(t, "/api/v1/events?id="+id, token))
	viewer.expect("event: ")

	think(t, client, public+"/mcp", token, "second", id)
	subscription.expect("notifications/resources/updated")
	stream.expect("notifications/resources/updated")
	viewer.expect("second")
}

// A stream is a reply whose parts are read as they arrive.
type stream struct {
	t     *testing.T
	lines chan string
}

// open sends a request whose reply lasts.
func open(t *testing.T, client *http.Client, req *http.Request) *stream {
	t.Helper()
	res, err := client.Do(req) // with the context of the test
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

// testRestart restarts one server and then the other while clients call. None of the calls
// fails.
func (s *setup) testRestart(t *testing.T, token string) {
	var calls atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 8 {
		wg.Go(func() {
			client, session := s.client("127.0.0.1"), ""
			for ctx.Err() == nil && !t.Failed() {
				session = think(t, client, public+"/mcp", token, rand.Text(), session)
				calls.Add(1)
			}
		})
	}
	pause := func() {
		was := calls.Load()
		await(t, "calls are answered", func() bool { return calls.Load() >= was+100 || t.Failed() })
	}
	for i, r := range s.replicas {
		pause()
		at := address(r)
		if s.avoid != nil {
			s.avoid(at)
		}
		if took := r.Terminate(t, 30*time.Second); took < 5*time.Second {
			t.Errorf("the server ended after %v, before its --drain", took)
		}
		pause()
		s.replicas[i] = programtest.StartHTTP(t, s.program, append([]string{"--http", at}, s.flags...)...)
		if s.avoid != nil {
			s.avoid("")
		} else {
			time.Sleep(3 * time.Second) // until a health check has seen that the server is back
		}
	}
	pause()
}

// Clients without tokens are limited one by one, also one that claims to be another.
func TestAddresses(t *testing.T) {
	for name, start := range map[string]starter{"caddy": caddy, "nginx": nginx} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, start, "--rate", "0.001", "--burst", "3")
			var got []int
			for _, from := range append(slices.Repeat([]string{"127.0.0.5"}, 8), "127.0.0.6") { // two servers let the first one through 6 times
				req := programtest.Request(t, public+"/mcp", "", "tools/list", "", "")
				req.Header.Set("X-Forwarded-For", rand.Text())
				req.Header.Set("Forwarded", "for=192.0.2."+fmt.Sprint(len(got)))
				client := s.client(from)
				reply, err := programtest.Do(client, req)
				if err != nil {
					t.Fatal(err)
				}
				client.CloseIdleConnections()
				got = append(got, reply.Status)
			}
			if !slices.Contains(got[:8], http.StatusTooManyRequests) || got[8] != http.StatusOK {
				t.Errorf("eight calls of one client and one of another: got %d, want a 429 among the first eight and 200 at last", got)
			}
		})
	}
}
