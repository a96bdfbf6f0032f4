package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// serve serves standard and classic on one engine and returns the URL of the
// endpoints.
func serve(t *testing.T, engine *sequent.Engine, cfg mcpserver.HTTPConfig) string {
	t.Helper()
	cfg.Servers = []*mcpserver.Server{
		mcpserver.New(mcpserver.Config{Dialect: standard.New(standard.Config{Engine: engine, Render: standard.Render{
			Markdown: archive.Markdown,
			JSON:     func(s *sequent.Session) string { return string(archive.JSON(s)) },
			Mermaid:  archive.Mermaid,
		}})}),
		mcpserver.New(mcpserver.Config{Dialect: classic.New(classic.Config{Engine: engine})}),
	}
	h, err := mcpserver.NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// An agent is a client of one endpoint, in the new era or, if it has a session,
// in an older one.
type agent struct {
	client  *http.Client
	url     string
	token   string
	session string
	n       int
}

// A result is what a tool or a resource gave.
type result struct {
	StructuredContent struct {
		SessionID     string `json:"sessionId"`
		ThoughtNumber int    `json:"thoughtNumber"`
	} `json:"structuredContent"`
	Content  []struct{ Text string } `json:"content"`
	Contents []struct{ Text string } `json:"contents"`
	IsError  bool                    `json:"isError"`
}

func (r *result) text() string {
	for _, c := range slices.Concat(r.Content, r.Contents) {
		return c.Text
	}
	return ""
}

// post sends a request and returns its result; an error of the protocol is an
// error.
func (a *agent) post(method, name, params string) (*result, error) {
	a.n++
	meta := ""
	if a.session == "" && method != "initialize" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, a.n, method, params, meta)
	req, err := http.NewRequest(http.MethodPost, a.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	switch {
	case a.session != "":
		req.Header.Set("Mcp-Session-Id", a.session)
	case meta != "":
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", method)
		req.Header.Set("Mcp-Name", name)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		a.session = id
	}
	var reply struct {
		ID     int
		Result *result
		Error  json.RawMessage
	}
	if err := json.Unmarshal(raw, &reply); err != nil || reply.Result == nil || reply.ID != a.n {
		return nil, fmt.Errorf("%s %s", res.Status, bytes.TrimSpace(raw))
	}
	return reply.Result, nil
}

// open shakes hands as older clients do.
func (a *agent) open() error {
	_, err := a.post("initialize", "", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
	return err
}

// think records a thought; number 0 leaves the number out.
func (a *agent) think(session string, number int, text string, more bool) (*result, error) {
	args := fmt.Sprintf(`"thought":%q,"nextThoughtNeeded":%v`, text, more)
	if number > 0 {
		args += fmt.Sprintf(`,"thoughtNumber":%d,"totalThoughts":%d`, number, number)
	}
	if session != "" {
		args += fmt.Sprintf(`,"sessionId":%q`, session)
	}
	return a.post("tools/call", "sequentialthinking", `"name":"sequentialthinking","arguments":{`+args+`}`)
}

func (a *agent) recall(args string) (*result, error) {
	return a.post("tools/call", "recall_thinking", `"name":"recall_thinking","arguments":{`+args+`}`)
}

func (a *agent) read(uri string) (*result, error) {
	return a.post("resources/read", uri, fmt.Sprintf(`"uri":%q`, uri))
}

// TestOwnersApart has two people with the same ids, scopes and words, in both
// eras and dialects. Neither sees a trace of the other.
func TestOwnersApart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	tokens := make(map[string]string)
	for _, subject := range []string{"alice", "bob"} {
		var err error
		if tokens[subject], _, err = token.Add(path, token.Info{Subject: subject}); err != nil {
			t.Fatal(err)
		}
	}
	file, err := token.Open(token.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, sequent.New(sequent.Config{}), mcpserver.HTTPConfig{Auth: file})
	must := func(r *result, err error) *result {
		t.Helper()
		if err != nil || r.IsError {
			t.Fatalf("got %v, %v; want a result", r, err)
		}
		return r
	}
	for _, older := range []bool{false, true} {
		as := func(subject, path string) *agent {
			a := &agent{client: http.DefaultClient, url: url + path, token: tokens[subject]}
			if older {
				if err := a.open(); err != nil {
					t.Fatal(err)
				}
			}
			return a
		}
		// One implicit scope for each subject, whatever it uses.
		alice, bob := as("alice", ""), as("bob", "")
		id := must(alice.think("", 1, "marmalade of alice", true)).StructuredContent.SessionID
		if got := must(alice.think("", 2, "more", true)).StructuredContent; got.SessionID != id || got.ThoughtNumber != 2 {
			t.Errorf("alice's second thought went to %+v, want session %s", got, id)
		}
		if got := must(bob.think("", 1, "bob's own", true)).StructuredContent; got.SessionID == id || got.ThoughtNumber != 1 {
			t.Errorf("bob's first thought went to %+v, want a session of his own", got)
		}
		// The id of another subject is refused like one that does not exist.
		mine, none := told(bob.think(id, 3, "intruding", true)), told(bob.think("000000000000", 3, "intruding", true))
		if want := strings.ReplaceAll(none, "000000000000", id); mine != want || !strings.Contains(mine, "SESSION_NOT_FOUND") {
			t.Errorf("alice's session is for bob\n%s\nwant it as one that there is not:\n%s", mine, want)
		}
		for _, uri := range []string{"sequent://sessions/%s", "sequent://sessions/%s/json", "sequent://sessions/%s/mermaid"} {
			if r, err := bob.read(fmt.Sprintf(uri, id)); err == nil {
				t.Errorf("bob read alice's %s: %v", uri, r)
			}
			must(alice.read(fmt.Sprintf(uri, id)))
		}
		for what, r := range map[string]*result{
			"the list":   must(bob.recall("")),
			"a search":   must(bob.recall(`"query":"marmalade"`)),
			"a resource": must(bob.read("sequent://sessions")),
		} {
			if strings.Contains(r.text(), id) || strings.Contains(r.text(), "of alice") {
				t.Errorf("%s shows bob alice's session: %s", what, r.text())
			}
		}
		if r := must(alice.recall(`"query":"marmalade"`)); !strings.Contains(r.text(), id) {
			t.Errorf("alice does not find her own: %s", r.text())
		}
		// The same scope name, two people.
		a, b := as("alice", "/classic?scope=work"), as("bob", "/classic?scope=work")
		first := must(a.think("", 1, "a", true)).StructuredContent.SessionID
		if got := must(b.think("", 1, "b", true)).StructuredContent.ThoughtNumber; got != 1 {
			t.Errorf("bob's scope has %d thoughts, want his one; alice's session is %s", got, first)
		}
		must(a.think("", 2, "end", false))
		must(b.think("", 2, "end", false))
	}
}

// told returns all of what a model is told.
func told(r *result, err error) string { return fmt.Sprint(r.text(), r.IsError, err) }

// TestManySessions has many clients think at once, each in a session of its own.
func TestManySessions(t *testing.T) {
	t.Parallel()
	engine := sequent.New(sequent.Config{})
	url := serve(t, engine, mcpserver.HTTPConfig{Rate: -1, Limits: mcpserver.Limits{Calls: 200}})
	l := load{url: url, clients: 200, rounds: 3}
	l.run(t, nil)
}

// TestLoad is TestManySessions for longer, on disk: no error, and memory that
// does not grow with the sessions that were.
func TestLoad(t *testing.T) {
	if os.Getenv("SEQUENT_LONG") == "" {
		t.Skip("SKIP: it takes half a minute; set SEQUENT_LONG=1")
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "store.db"), Sync: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	engine := sequent.New(sequent.Config{Store: store, CacheBytes: 8 << 20})
	url := serve(t, engine, mcpserver.HTTPConfig{Rate: -1})
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
	}
	l := load{url: url, clients: 1000}
	var sizes []float64
	begun := time.Now()
	l.run(t, func() {
		for range 6 {
			<-time.After(5 * time.Second)
			sizes = append(sizes, heap())
			t.Logf("after %2.0f s: %d calls, %.0f MiB in use", time.Since(begun).Seconds(), l.calls.Load(), sizes[len(sizes)-1])
		}
	})
	took := time.Since(begun)
	t.Logf("%d calls of %d clients in %.1f s: %.0f a second", l.calls.Load(), l.clients, took.Seconds(), float64(l.calls.Load())/took.Seconds())
	if first, last := sizes[0], sizes[len(sizes)-1]; last > 1.3*first+16 {
		t.Errorf("memory went from %.0f MiB to %.0f, want it flat", first, last)
	}
}

// A load is many clients, half of each era, of which each thinks in sessions of
// its own and checks that nothing else gets in.
type load struct {
	url     string
	clients int
	rounds  int // sessions of each client; 0 means until told
	calls   atomic.Int64
}

func (l *load) run(t *testing.T, wait func()) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: l.clients, MaxConnsPerHost: l.clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range l.clients {
		all.Go(func() {
			a := &agent{client: client, url: l.url}
			path := []string{"", "/classic"}[i/2%2]
			if i%2 == 0 {
				a.url += path
				if err := a.open(); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
			} else {
				a.url += fmt.Sprintf("%s?scope=agent-%d", path, i)
			}
			for round := 0; l.rounds == 0 || round < l.rounds; round++ {
				select {
				case <-stop:
					return
				default:
				}
				for n := 1; n <= 5; n++ {
					r, err := a.think("", n, fmt.Sprintf("client %d, round %d, thought %d", i, round, n), n < 5)
					if err != nil || r.IsError || r.StructuredContent.ThoughtNumber != n {
						t.Errorf("client %d, round %d: thought %d got %v, %v; want %d thoughts", i, round, n, r, err, n)
						return
					}
					l.calls.Add(1)
				}
			}
		})
	}
	if wait != nil {
		wait()
		close(stop)
	}
	all.Wait()
}
