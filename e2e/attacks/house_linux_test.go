package attacks

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// maxCost is how much memory the server may take above an idle one, whatever one client
// asks for: docs/operating.md and docs/security.md promise it.
const maxCost = 245 << 20

// TestCosts has one client ask again and again for what takes most memory and time. Another
// client thinks, searches and recalls meanwhile: no call of it fails, and none is refused.
// The table is that of docs/security.md.
func TestCosts(t *testing.T) {
	program := programtest.Build(t) // SEQUENT_PROGRAM can name another version
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "store.db")
	fill(t, store)
	for _, row := range costs {
		if want := fmt.Sprintf("| %v | `%s` |", row.cpu, row.name); !strings.Contains(string(page), want) {
			t.Errorf("docs/security.md has no row that ends in %q", want)
		}
		t.Run(row.name, func(t *testing.T) { row.run(t, program, store) })
	}
}

// A cost is a kind of request, in its most expensive form.
type cost struct {
	name string
	// notes are files of mallory's vault, by path.
	notes map[string]string
	// calls are the requests, each of which is sent again and again.
	calls []request
	// cpu is the processor time that one call may take on a quiet machine.
	cpu time.Duration
}

// A request is one of the attacker's: a call of a tool, of another method of MCP, or of the
// API of the viewer.
type request struct {
	endpoint     string // of MCP, such as /mcp/wiki; otherwise the path of the API
	method, name string // of MCP
	body         string // parameters, or the body of a request to the API; empty for GET
	refused      string // what the reply has if the call is refused; empty if it succeeds
}

func call(endpoint, tool, arguments string) request {
	return request{endpoint: endpoint, method: "tools/call", name: tool, body: fmt.Sprintf(`"name":%q,"arguments":{%s}`, tool, arguments)}
}

// long reports whether the figures are wanted: on a quiet machine, for longer, and against the
// goal that docs/security.md has.
func long() bool { return os.Getenv("SEQUENT_LONG") != "" }

const attackTime = 2 * time.Second

// A house is a server with mallory, who attacks it, and alice, who thinks.
type house struct {
	*testing.T
	server  *programtest.Server
	origin  string
	vault   string
	tokens  map[string]string
	clients map[string]*http.Client
}

func newHouse(t *testing.T, program string, args ...string) *house {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "tokens")
	h := &house{T: t, vault: filepath.Join(dir, "vault"), tokens: make(map[string]string), clients: make(map[string]*http.Client)}
	for _, who := range []string{"alice", "mallory"} {
		h.tokens[who] = programtest.Token(t, file, who)
		h.clients[who] = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	}
	args = append([]string{"--auth", file, "--vault", h.vault, "--storage-path", filepath.Join(dir, "files"), "--store", filepath.Join(dir, "store.db")}, args...)
	h.server = programtest.StartHTTP(t, program, args...)
	t.Cleanup(func() {
		// Clients that send half a message or read no replies get a second; the rest is for a busy machine.
		h.server.Terminate(t, 30*time.Second)
		if t.Failed() {
			t.Logf("the server logged:\n%.10000s", h.server.Log())
		}
	})
	h.origin = strings.TrimSuffix(h.server.URL, "/mcp")
	return h
}

func (h *house) address() string { return strings.TrimPrefix(h.origin, "http://") }

// dialer returns what connects from an address.
func (h *house) dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// follow returns the request for the stream of an MCP session.
func (h *house) follow(who, session string) string {
	return fmt.Sprintf("GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\n\r\n",
		h.address(), h.tokens[who], session)
}

// older opens an MCP session as older clients do, and its stream.
func (h *house) older(who string, from *net.Dialer) (session string, stream net.Conn) {
	h.Helper()
	got, err := programtest.Do(h.clients[who], programtest.Older(h, h.origin+"/mcp", h.tokens[who], "", initialize))
	if err != nil {
		h.Fatal(err)
	}
	session = got.Header.Get("Mcp-Session-Id")
	stream, err = from.Dial("tcp", h.address())
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { stream.Close() })
	if _, err := io.WriteString(stream, h.follow(who, session)); err != nil {
		h.Fatal(err)
	}
	_ = stream.SetReadDeadline(time.Now().Add(time.Minute))
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(stream, status); err != nil || string(status) != "HTTP/1.1 200" {
		h.Fatalf("a stream got %q, %v", status, err)
	}
	return session, stream
}

func (row cost) run(t *testing.T, program, store string) {
	h := newHouse(t, program, "--store", store)
	for name, text := range row.notes {
		path := filepath.Join(h.vault, ownersFolder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	h.settle()
	idle := h.memory("VmRSS:")

	var took time.Duration // of the call that takes most
	for _, r := range row.calls {
		begun := h.processor()
		if err := h.send(t.Context(), "mallory", r); err != nil {
			t.Fatal(err)
		}
		took = max(took, h.processor()-begun)
	}

	busy := h.together(attackTime/2, h.besiege(row.calls))
	peak := h.memory("VmHWM:")

	h.settle() // notes that were written meanwhile are indexed
	// Callers that leave: what was computed for them ends.
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_ = h.send(ctx, "mallory", row.calls[0])
		cancel()
	}
	if left := h.settle(); left > 2*row.allowed()+2*time.Second {
		t.Errorf("after four callers have left, the server computed for %v", left)
	}
	t.Logf("at most %d ms of the processor a call, %d MiB above the idle server, alice: %s", took.Milliseconds(), (peak-idle)>>20, busy)
	if peak-idle > maxCost {
		t.Errorf("the server took %d MiB above the idle one, want at most %d", (peak-idle)>>20, maxCost>>20)
	}
	if took > row.allowed() {
		t.Errorf("a call took %v of the processor, want at most %v", took, row.allowed())
	}
	if long() && busy.p99 > 20*time.Millisecond {
		t.Errorf("p99 of alice's calls is %v, want at most 20 ms", busy.p99)
	}
}

// allowed is the processor time of a call on this machine, which may be busy: a call then
// takes more of it.
func (row cost) allowed() time.Duration {
	if long() {
		return row.cpu
	}
	return 5 * row.cpu
}

// settle waits until the server computes nothing, and returns how much of the processor it
// has used meanwhile. It resets the peak of its memory.
func (h *house) settle() time.Duration {
	h.Helper()
	begun := h.processor()
	for last := begun; ; {
		time.Sleep(200 * time.Millisecond)
		now := h.processor()
		if now-last < 40*time.Millisecond {
			break
		}
		if last = now; now-begun > time.Minute {
			h.Fatal("the server does not stop computing")
		}
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", h.server.PID()), []byte("5"), 0); err != nil {
		h.Fatal(err)
	}
	return h.processor() - begun
}

// processor returns the processor time of the server so far.
func (h *house) processor() time.Duration {
	h.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", h.server.PID()))
	if err != nil {
		h.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond
	ticks := 0
	for _, i := range []int{user, system} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			h.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// memory returns a line of what the kernel says of the server's memory, in bytes.
func (h *house) memory(line string) int64 {
	h.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.server.PID()))
	if err != nil {
		h.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), line)
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		h.Fatal(err)
	}
	return kib << 10
}

// send sends a request and checks its reply.
func (h *house) send(ctx context.Context, who string, r request) error {
	var req *http.Request
	if body := strings.ReplaceAll(r.body, "{n}", rand.Text()); r.method != "" {
		req = programtest.Request(h, h.origin+r.endpoint, h.tokens[who], r.method, r.name, body)
	} else {
		req = programtest.Older(h, h.origin+r.endpoint, h.tokens[who], "", body)
		if body == "" {
			req.Method = http.MethodGet
		}
	}
	got, err := programtest.Do(h.clients[who], req.WithContext(ctx))
	said := r.refused
	if said == "" && r.method != "" {
		said = `"result"`
	}
	bad := r.refused == "" && (got.Status != http.StatusOK || strings.Contains(got.Body, `"isError":true`))
	if err == nil && (bad || !strings.Contains(got.Body, said)) {
		err = &wrongReply{got.Status, fmt.Sprintf("%s %s %s got %d %.300s, want %q", r.endpoint, r.method, r.name, got.Status, got.Body, said)}
	}
	return err
}

// A wrongReply is the error for a reply that is not the wanted one.
type wrongReply struct {
	status int
	text   string
}

func (e *wrongReply) Error() string { return e.text }

// besiege sends the requests on some connections until stop is called. Mallory may be told
// that it asks too much.
func (h *house) besiege(calls []request) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	var all sync.WaitGroup
	var n atomic.Int64
	for range 6 {
		all.Go(func() {
			for ctx.Err() == nil {
				err := h.send(ctx, "mallory", calls[int(n.Add(1))%len(calls)])
				wrong, ok := errors.AsType[*wrongReply](err)
				if ok && wrong.status != http.StatusTooManyRequests && ctx.Err() == nil {
					h.Error(err)
					return
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// A figure is how long calls took.
type figure struct {
	calls    int
	p99, max time.Duration
}

func (f figure) String() string {
	return fmt.Sprintf("%d calls, p99 %v, max %v", f.calls, f.p99, f.max)
}

// together has alice think, search, recall and look at her sessions in the viewer, some of it over
// new connections, and then calls stop. No call of hers fails.
func (h *house) together(d time.Duration, stop func()) figure {
	h.Helper()
	calls := []request{
		call("/mcp", "sequentialthinking", `"thought":"what next?","nextThoughtNeeded":true,"thoughtNumber":1`),
		call("/mcp", "recall_thinking", `"query":"next"`),
		call("/mcp", "recall_thinking", ``),
		{endpoint: "/api/v1/sessions?limit=5"},
	}
	var waits []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(4 * time.Millisecond) {
		begun := time.Now()
		err := h.send(h.Context(), "alice", calls[len(waits)%len(calls)])
		if waits = append(waits, time.Since(begun)); len(waits)%20 == 0 {
			h.clients["alice"].CloseIdleConnections()
		}
		if err != nil {
			h.Errorf("a call of alice: %v", err)
			break
		}
	}
	if stop != nil {
		stop()
	}
	slices.Sort(waits)
	return figure{len(waits), waits[len(waits)*99/100], waits[len(waits)-1]}
}
