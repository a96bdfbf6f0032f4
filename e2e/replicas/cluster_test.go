//go:build unix

// Package replicas tests several processes of the program with one PostgreSQL database, behind a
// load balancer that sends each call to any of them.
package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// database is the server of all tests that do not restart it.
var database pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if err := database.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// size is the number of replicas.
const size = 3

// A cluster is a number of replicas of the program with one store.
type cluster struct {
	program, store string
	patient        bool // a call that the store is too busy for is repeated

	mu       sync.Mutex // guards replicas
	replicas [size]*programtest.Server

	answered atomic.Int64 // answered calls
	lost     atomic.Int64 // requests that a replica did not answer
	strayed  atomic.Int64 // calls of older clients to a replica without their MCP session
}

// newCluster starts all replicas, which are stopped at the end of the test.
func newCluster(t *testing.T, program, store string) *cluster {
	c := &cluster{program: program, store: store}
	for i := range size {
		c.replicas[i] = c.start(t)
		t.Cleanup(func() { c.replicas[i].Stop(t) })
	}
	return c
}

func (c *cluster) start(t testing.TB) *programtest.Server {
	return programtest.StartHTTP(t, c.program, "--store", c.store, "--rate", "0")
}

// replace ends a replica with end, calls work, and starts a new one at another address.
func (c *cluster) replace(t testing.TB, i int, end func(*programtest.Server, testing.TB), work func()) {
	t.Helper()
	end(c.replicas[i], t)
	work()
	now := c.start(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replicas[i] = now
}

func (c *cluster) url(i int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replicas[i].URL
}

// A client calls replicas at random. Its methods are for one goroutine.
type client struct {
	cluster *cluster
	http    *http.Client
	rng     *rand.Rand
	at      []int // the replicas that it calls
	scope   string
	modern  bool   // protocol 2026-07-28, otherwise 2025-11-25
	session string // MCP session of the older protocol, at one of the replicas
}

// client returns a client of a scope that calls these replicas, or all.
func (c *cluster) client(modern bool, scope string, at ...int) *client {
	if at == nil {
		at = []int{0, 1, 2}
	}
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	return &client{cluster: c, http: &http.Client{Timeout: time.Minute}, rng: rng, at: at, modern: modern, scope: scope}
}

// errLost means that a replica did not answer.
var errLost = errors.New("no answer")

// ask sends a request. An older client whose MCP session is at
// another replica initializes a new one, as the protocol requires.
func (c *client) ask(ctx context.Context, method, name, params string) (json.RawMessage, error) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"replicas","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`
	url := c.cluster.url(c.at[c.rng.IntN(len(c.at))]) + "?scope=" + c.scope
	if c.modern {
		header := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
		_, result, _, err := c.post(ctx, url, header, request(method, meta+params))
		return result, err
	}
	for first := true; ; first = false {
		if c.session == "" {
			if err := c.initialize(ctx, url); err != nil {
				return nil, err
			}
		}
		header := map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": c.session}
		status, result, _, err := c.post(ctx, url, header, request(method, params))
		if status != http.StatusNotFound || !first {
			return result, err
		}
		c.cluster.strayed.Add(1)
		c.session = ""
	}
}

func (c *client) initialize(ctx context.Context, url string) error {
	_, _, session, err := c.post(ctx, url, nil, request("initialize",
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"replicas","version":"1"}`))
	if err != nil {
		return err
	}
	header := map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
	if _, _, _, err = c.post(ctx, url, header, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err == nil {
		c.session = session
	}
	return err
}

func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}

// post sends a message and returns the result in the answer.
func (c *client) post(ctx context.Context, url string, header map[string]string, body string) (
	status int, result json.RawMessage, session string, err error,
) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, "", fmt.Errorf("%w: %w", errLost, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return 0, nil, "", fmt.Errorf("%w: %w", errLost, err)
	case res.StatusCode == http.StatusServiceUnavailable: // the replica is draining
		return res.StatusCode, nil, "", fmt.Errorf("%w: %s", errLost, answer)
	case res.StatusCode == http.StatusAccepted:
		return res.StatusCode, nil, "", nil
	}
	var m struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(answer, &m); err != nil || m.Result == nil {
		return res.StatusCode, nil, "", fmt.Errorf("%.300s: got %s: %s", body, res.Status, answer)
	}
	return res.StatusCode, m.Result, res.Header.Get("Mcp-Session-Id"), nil
}

// A toolResult is the result of a tool call.
type toolResult struct {
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

// call calls a tool until a replica answers, and returns the text.
func (c *client) call(ctx context.Context, tool, arguments string) (string, error) {
	for {
		text, err := c.callOnce(ctx, tool, arguments)
		if err == nil {
			c.cluster.answered.Add(1)
		}
		if !errors.Is(err, errLost) || ctx.Err() != nil {
			return text, err
		}
		c.cluster.lost.Add(1)
	}
}

func (c *client) callOnce(ctx context.Context, tool, arguments string) (string, error) {
	result, err := c.ask(ctx, "tools/call", tool, `"name":"`+tool+`","arguments":`+arguments)
	if err != nil {
		return "", err
	}
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil || len(r.Content) != 1 {
		return "", fmt.Errorf("%s: got %s (%w)", tool, result, err)
	}
	text := r.Content[0].Text
	switch s := string(r.StructuredContent); {
	case r.IsError && (strings.Contains(text, "UNAVAILABLE") || c.cluster.patient && strings.Contains(text, "STORE_BUSY")):
		return "", fmt.Errorf("%w: the store is unavailable: %s", errLost, text)
	case r.IsError:
		return "", fmt.Errorf("%s %s was refused: %s", tool, arguments, text)
	case s != "" && s != text:
		return "", fmt.Errorf("text %s and structured content %s differ", text, s)
	}
	return text, nil
}

// A thought is one as its author sent it and the reply confirmed it, or as a replica shows it.
type thought struct {
	Seq, Number int
	Text        string
	Request     struct{ Key string }
}

// read returns the thoughts of a session, once its replica can reach the store.
func (c *client) read(ctx context.Context, id string) ([]thought, error) {
	uri := "sequent://sessions/" + id + "/json"
	result, err := c.ask(ctx, "resources/read", uri, `"uri":"`+uri+`"`)
	for err != nil && (errors.Is(err, errLost) || strings.Contains(err.Error(), "UNAVAILABLE")) && ctx.Err() == nil {
		result, err = c.ask(ctx, "resources/read", uri, `"uri":"`+uri+`"`)
	}
	if err != nil {
		return nil, err
	}
	var r struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(result, &r); err != nil || len(r.Contents) != 1 {
		return nil, fmt.Errorf("%s: got %s (%w)", uri, result, err)
	}
	var s struct{ Log []struct{ Thought thought } }
	err = json.Unmarshal([]byte(r.Contents[0].Text), &s)
	var thoughts []thought
	for _, e := range s.Log {
		thoughts = append(thoughts, e.Thought)
	}
	return thoughts, err
}
