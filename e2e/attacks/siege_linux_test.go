package attacks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// How much memory the server may take during the attack of one client, and of all.
const (
	maxMemory = 512 << 20
	maxOfAll  = 1 << 30
)

// long reports whether the figures are wanted: on a quiet machine, for longer, and
// against the goal.
func long() bool { return os.Getenv("SEQUENT_LONG") != "" }

// many returns how many connections an attack has: few are enough for the test of every day.
func many(daily, whole int) int {
	if long() {
		return whole
	}
	return daily
}

// goal is what 99 % of a client's calls must stay below during an attack. The test of
// every day only notices when a client is stopped.
func goal() time.Duration {
	if long() {
		return 20 * time.Millisecond
	}
	return 2 * time.Second
}

// terminateLimit is how long the server may take to end. Clients that send half a
// message or read no replies get a second; the rest is for a busy machine, which takes
// several times as long.
func terminateLimit(attack string) time.Duration {
	switch {
	case !long():
		return 30 * time.Second
	case attack == everything:
		return 15 * time.Second
	}
	return 5 * time.Second
}

func attackTime() time.Duration {
	if long() {
		return 10 * time.Second
	}
	return 2 * time.Second
}

// TestAttacks has one client attack the server in each of these ways. Another one, with
// a session and an open stream from before, thinks meanwhile.
func TestAttacks(t *testing.T) {
	program := programtest.Build(t) // SEQUENT_PROGRAM can name another version
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Run(name, func(t *testing.T) { run(t, program, name, goal(), maxMemory) })
	}
	if !long() {
		return // it takes a minute
	}
	// All attackers together may take the processors, but nothing else.
	t.Run(everything, func(t *testing.T) { run(t, program, everything, 10*time.Second, maxOfAll) })
}

// everything is the attack of all attackers at once, each from its own address and with
// its own token.
const everything = "everything"

// A siege is a server with a client who thinks, alice, and an attacker, mallory, who
// has another address and another token.
type siege struct {
	*testing.T
	server *programtest.Server
	addr   string // of the server

	alice   string   // her token
	mallory []string // tokens of attackers

	client  *http.Client // of alice
	n       int          // her requests
	id      string       // of her session
	mcp     string       // her MCP session
	waits   []time.Duration
	failure error // the first
}

// run attacks a server and checks what alice feels of it.
func run(t *testing.T, program, attack string, goal time.Duration, memory int64) {
	dir := t.TempDir()
	s := &siege{T: t}
	file := filepath.Join(dir, "tokens")
	var err error
	if s.alice, _, err = token.Add(file, token.Info{Subject: "alice"}); err != nil {
		t.Fatal(err)
	}
	for i := range len(attacks) {
		subject := "mallory" // of the only attack, or one more
		if i > 0 {
			subject += "-" + strconv.Itoa(i+1)
		}
		hostile, _, err := token.Add(file, token.Info{Subject: subject})
		if err != nil {
			t.Fatal(err)
		}
		s.mallory = append(s.mallory, hostile)
	}
	store := filepath.Join(dir, "store.db")
	flags := []string{"--auth", file, "--store", store}
	if attack == "appends" {
		flags = append(flags, "--quota-bytes", fmt.Sprint(appendQuota), "--rate", "0")
	}
	s.server = programtest.StartHTTP(t, program, flags...)
	u, err := url.Parse(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.addr = u.Host
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
	ended := false
	defer func() {
		if !ended {
			s.server.Kill(t)
		}
		if t.Failed() {
			t.Logf("the server logged:\n%.10000s", s.server.Log())
		}
	}()

	if err := s.handshake(); err != nil {
		t.Fatal(err)
	}
	stream := s.stream()
	defer stream.Close()
	s.think(attackTime() / 2)
	quiet := s.take()
	stop := s.attack(attack)
	s.think(attackTime())
	busy := s.take()
	peak := s.peak()
	if !s.alive(s.mcp) {
		t.Error("alice's MCP session was ended")
	}
	_ = stream.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := io.Copy(io.Discard, stream); err == nil {
		t.Error("alice's stream was ended")
	}
	took := s.server.Terminate(t, time.Minute)
	ended = true
	refused := stop()
	t.Logf("quiet:  %s", quiet)
	t.Logf("attack: %s; %s; peak memory %d MiB; SIGTERM took %.1f s", busy, refused, peak>>20, took.Seconds())
	if s.failure != nil {
		t.Errorf("a call of alice failed: %v", s.failure)
	}
	if busy.p99 > goal {
		t.Errorf("p99 of alice's calls is %v, want at most %v", busy.p99, goal)
	}
	if peak > memory {
		t.Errorf("the server took %d MiB, want at most %d", peak>>20, memory>>20)
	}
	if limit := terminateLimit(attack); took > limit {
		t.Errorf("the server ended %v after SIGTERM, want at most %v", took, limit)
	}
	if attack == "appends" {
		checkQuota(t, program, store)
		if limit := 20*quiet.p99 + 500*time.Millisecond; busy.p99 > limit {
			t.Errorf("p99 of alice's calls is %v, without the attack %v; want at most %v", busy.p99, quiet.p99, limit)
		}
	}
}

// attack starts an attack and returns when it is at its height. The caller must call
// stop, which returns what the attacker says in the end.
func (s *siege) attack(name string) (stop func() string) {
	s.Helper()
	args := []string{os.Args[0], "-test.run=^$"}
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "19"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), envAttack+"="+name, envAddr+"="+s.addr, envTokens+"="+strings.Join(s.mallory, ","))
	in, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	var once sync.Once
	lines := bufio.NewScanner(out)
	stop = func() (last string) {
		once.Do(func() {
			in.Close()
			for lines.Scan() {
				if last != "" {
					s.Log(last)
				}
				last = lines.Text()
			}
			if err := cmd.Wait(); err != nil {
				s.Errorf("the attacker ended with %v", err)
			}
		})
		return last
	}
	s.Cleanup(func() { stop() })
	for lines.Scan() && lines.Text() != "ready" {
		s.Log(lines.Text())
		if strings.HasPrefix(lines.Text(), "failed: ") {
			s.Error("the attack did not come about")
		}
	}
	return stop
}

// A figure is how long calls took.
type figure struct {
	calls         int
	p50, p99, max time.Duration
}

func (f figure) String() string {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("%d calls, p50 %.1f ms, p99 %.1f ms, max %.1f ms", f.calls, ms(f.p50), ms(f.p99), ms(f.max))
}

// take returns how long the calls since the last take took.
func (s *siege) take() figure {
	slices.Sort(s.waits)
	n := len(s.waits)
	if n == 0 {
		return figure{}
	}
	f := figure{n, s.waits[n/2], s.waits[n*99/100], s.waits[n-1]}
	s.waits = nil
	return f
}

// think has alice think for some time: a thought every few milliseconds, some of them
// over a new connection, and now and then in a new MCP session.
func (s *siege) think(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(4 * time.Millisecond) {
		begun := time.Now()
		err := s.thought()
		s.waits = append(s.waits, time.Since(begun))
		if s.n%20 == 0 {
			s.client.CloseIdleConnections()
		}
		if s.n%50 == 0 && err == nil {
			begun := time.Now()
			err = s.handshake()
			s.waits = append(s.waits, time.Since(begun))
		}
		if err != nil && s.failure == nil {
			s.failure = err
		}
	}
}

// thought records a thought.
func (s *siege) thought() error {
	args := `"thought":"what next?","nextThoughtNeeded":true`
	if s.id != "" {
		args += `,"sessionId":` + strconv.Quote(s.id)
	}
	body, _, err := s.post("", "tools/call", "sequentialthinking", `"name":"sequentialthinking","arguments":{`+args+`}`)
	if err != nil {
		return err
	}
	var reply struct {
		Result struct {
			StructuredContent struct {
				SessionID     string `json:"sessionId"`
				ThoughtNumber int    `json:"thoughtNumber"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &reply); err != nil || reply.Result.StructuredContent.ThoughtNumber == 0 {
		return fmt.Errorf("a thought got %s", body)
	}
	s.id = cmp.Or(s.id, reply.Result.StructuredContent.SessionID)
	return nil
}

// handshake opens an MCP session as older clients do.
func (s *siege) handshake() error {
	_, header, err := s.post("older", "initialize", "", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
	if err == nil && s.mcp == "" {
		s.mcp = header.Get("Mcp-Session-Id")
	}
	return err
}

// alive reports whether an MCP session of alice still exists.
func (s *siege) alive(session string) bool {
	_, _, err := s.post(session, "ping", "", "")
	return err == nil
}

// post sends a request of alice: with a session one of an older version, "older" for
// one that begins a session.
func (s *siege) post(session, method, name, params string) ([]byte, http.Header, error) {
	s.n++
	req, err := http.NewRequest(http.MethodPost, s.server.URL, strings.NewReader(message(session == "", method, params)))
	if err != nil {
		return nil, nil, err
	}
	req.Header = header(s.alice, session, method, name)
	res, err := s.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result"`))) {
		err = fmt.Errorf("%s got %s %.300s", method, res.Status, body)
	}
	return body, res.Header, err
}

// message returns a request, of 2026-07-28 or an older version.
func message(modern bool, method, params string) string {
	if modern {
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
}

func header(token, session, method, name string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + token},
	}
	switch session {
	case "":
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", method)
		if name != "" {
			h.Set("Mcp-Name", name)
		}
	case "older":
	default:
		h.Set("Mcp-Session-Id", session)
	}
	return h
}

// stream opens the stream of alice's MCP session.
func (s *siege) stream() net.Conn {
	s.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.Fatal(err)
	}
	_, err = fmt.Fprintf(c, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\n\r\n",
		s.addr, s.alice, s.mcp)
	if err != nil {
		s.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(c, status); err != nil || string(status) != "HTTP/1.1 200" {
		s.Fatalf("a stream got %q, %v", status, err)
	}
	return c
}

// peak returns the most memory that the server has had so far.
func (s *siege) peak() int64 {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.server.PID()))
	if err != nil {
		s.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		s.Fatal(err)
	}
	return kib << 10
}
