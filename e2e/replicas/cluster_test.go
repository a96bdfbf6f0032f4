//go:build unix

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

	mu       sync.Mutex
	replicas [size]*programtest.Server
	spans    []span // of the answered calls

	answered atomic.Int64 // answered calls
	lost     atomic.Int64 // requests that a replica did not answer
	strayed  atomic.Int64 // calls of older clients to a replica without their MCP session
}

// newCluster starts all replicas concurrently. They are stopped at the end of the
// test.
func newCluster(t *testing.T, program, store string) *cluster {
	c := &cluster{program: program, store: store}
	var wg sync.WaitGroup
	started := make(chan bool, size)
	for i := range size {
		wg.Go(func() {
			defer func() { started <- c.replicas[i] != nil }() // also if start calls t.FailNow
			c.replicas[i] = c.start(t)
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, r := range c.replicas {
			if r != nil {
				r.Stop(t)
			}
		}
	})
	for range size {
		if !<-started {
			t.FailNow()
		}
	}
	return c
}

func (c *cluster) start(t testing.TB) *programtest.Server {
	return programtest.StartHTTP(t, c.program, "--store", c.store, "--rate", "0")
}

// replace ends a replica with end, calls work, and starts a new replica at another
// address.
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

// A client calls random replicas. Its methods are for one goroutine.
type client struct {
	cluster *cluster
	http    *http.Client
	rng     *rand.Rand
	scope   string
	modern  bool   // protocol 2026-07-28, otherwise 2025-11-25
	session string // MCP session of the older protocol, at one of the replicas
}

func (c *cluster) client(rng *rand.Rand, modern bool, scope string) *client {
	return &client{cluster: c, http: &http.Client{Timeout: time.Minute}, rng: rng, modern: modern, scope: scope}
}

// twin returns a client of the same user for concurrent calls.
func (c *client) twin() *client {
	return c.cluster.client(rand.New(rand.NewPCG(c.rng.Uint64(), c.rng.Uint64())), c.modern, c.scope)
}

// errLost means that a replica did not answer.
var errLost = errors.New("no answer")

// askOf sends a request to a replica. An older client whose MCP session is at
// another replica initializes a new one, as the protocol requires.
func (c *client) askOf(ctx context.Context, replica int, method, name, params string) (json.RawMessage, error) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"replicas","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`
	url := c.cluster.url(replica) + "?scope=" + c.scope
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

// errRefused means that a tool answered with an error.
var errRefused = errors.New("the call was refused")

// errUnavailable means that the replica could not reach the database.
var errUnavailable = fmt.Errorf("%w: the store is unavailable", errLost)

// call calls a tool at random replicas until one answers, and returns the text.
func (c *client) call(ctx context.Context, tool, arguments string) (string, error) {
	begin := time.Now()
	for {
		text, err := c.callOf(ctx, c.rng.IntN(size), tool, arguments)
		if err == nil {
			c.cluster.answered.Add(1)
			c.cluster.observe(begin)
		}
		if !errors.Is(err, errLost) || ctx.Err() != nil {
			return text, err
		}
		c.cluster.lost.Add(1)
	}
}

// observe notes that a call was answered, with all its repetitions.
func (c *cluster) observe(begin time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans = append(c.spans, span{begin, time.Since(begin)})
}

// callOf calls a tool at one replica.
func (c *client) callOf(ctx context.Context, replica int, tool, arguments string) (string, error) {
	result, err := c.askOf(ctx, replica, "tools/call", tool, `"name":"`+tool+`","arguments":`+arguments)
	if err != nil {
		return "", err
	}
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil || len(r.Content) != 1 {
		return "", fmt.Errorf("%s: got %s (%w)", tool, result, err)
	}
	if text := r.Content[0].Text; r.IsError &&
		(strings.Contains(text, "UNAVAILABLE") || c.cluster.patient && strings.Contains(text, "STORE_BUSY")) {
		return "", fmt.Errorf("%w: %s %s: %s", errUnavailable, tool, arguments, r.Content[0].Text)
	}
	if r.IsError {
		return "", fmt.Errorf("%w: %s %s: %s", errRefused, tool, arguments, r.Content[0].Text)
	}
	if s := string(r.StructuredContent); s != "" && s != r.Content[0].Text {
		return "", fmt.Errorf("text %s and structured content %s differ", r.Content[0].Text, s)
	}
	return r.Content[0].Text, nil
}

// read reads a resource at one replica.
func (c *client) read(ctx context.Context, replica int, uri string) (string, error) {
	result, err := c.askOf(ctx, replica, "resources/read", uri, `"uri":"`+uri+`"`)
	if err != nil {
		return "", err
	}
	var r struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(result, &r); err != nil || len(r.Contents) != 1 {
		return "", fmt.Errorf("%s: got %s (%w)", uri, result, err)
	}
	return r.Contents[0].Text, nil
}
