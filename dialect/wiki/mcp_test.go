package wiki_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// A client calls a server over its standard input and output.
type client struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
	id  int
}

// A result is the reply to a call.
type result struct {
	Content    []struct{ Text string }
	IsError    bool
	Structured struct {
		SessionID string
		Error     struct{ Code, Message string }
	} `json:"structuredContent"`
}

func (c *client) request(method, params string) json.RawMessage {
	c.t.Helper()
	c.id++
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params)
	if !c.out.Scan() {
		c.t.Fatalf("the server is gone: %v", c.out.Err())
	}
	var reply struct {
		ID     int
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(c.out.Bytes(), &reply); err != nil || reply.ID != c.id || reply.Error != nil {
		c.t.Fatalf("%s %s is answered with %s (%v)", method, params, c.out.Bytes(), err)
	}
	return reply.Result
}

func (c *client) call(tool, args string) result {
	c.t.Helper()
	var r result
	raw := c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) != 1 {
		c.t.Fatalf("%s %s is answered with %s (%v)", tool, args, raw, err)
	}
	return r
}

// serve serves the dialect over a store and a folder, which servers may share.
func serve(t *testing.T, store, dir string) *client {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: store})
	if err != nil {
		t.Fatal(err)
	}
	v := vaults.New(vaults.Config{Dir: dir, Engine: sequent.New(sequent.Config{Store: db}), Maintain: true})
	s := mcpserver.New(mcpserver.Config{Dialect: wiki.New(wiki.Config{Vaults: v})})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.ServeStdio(t.Context(), inR, outW); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		outW.Close()
	})
	t.Cleanup(func() {
		inW.Close()
		_, _ = io.Copy(io.Discard, outR)
		wg.Wait()
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &client{t: t, in: inW, out: bufio.NewScanner(outR)}
	c.out.Buffer(nil, 1<<20)
	c.request("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// notes returns the files of a folder, except .sequent.
func notes(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".sequent" {
				return fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s\n%s\n", name, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sessions returns the sessions of a store.
func sessions(t *testing.T, store string) string {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: store})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	page, err := db.List(t.Context(), sequent.Query{AllOwners: true, ByCreated: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range page.Headers {
		_, log, err := db.Load(t.Context(), h.Key, sequent.Position{})
		fmt.Fprintf(&b, "%+v %+v %v\n", h, log, err)
	}
	return b.String()
}

// Each error of the contract over MCP. Nothing is written.
func TestErrorsOverMCP(t *testing.T) {
	dir := t.TempDir()
	store, vault := filepath.Join(dir, "s.db"), filepath.Join(dir, "vault")
	c := serve(t, store, vault)
	id := c.call("sequential_thinking", `{"response":"[[a]]","nextThoughtNeeded":true,"totalThoughts":3}`).Structured.SessionID
	done := c.call("sequential_thinking", `{"response":"[[a]]","conclusion":"Found [[a]]."}`).Structured.SessionID
	open := c.call("workflow", `{"workflowId":"research"}`).Structured.SessionID
	closed := c.call("workflow", `{"steps":["one"]}`).Structured.SessionID
	c.call("workflow", fmt.Sprintf(`{"sessionId":%q,"status":"cancelled"}`, closed))

	rows := []struct{ code, args string }{
		{"WIKILINK_REQUIRED", `{"response":"none","nextThoughtNeeded":true}`},
		{"WIKILINK_REQUIRED", `{"response":"[[a]]","thoughts":"none","nextThoughtNeeded":true}`},
		{"CONCLUSION_REQUIRED", `{"sessionId":"ID","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":false}`},
		{"CONCLUSION_WIKILINK_REQUIRED", `{"sessionId":"ID","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":false,"conclusion":"done"}`},
		{"INVALID_SESSION_ID", `{"sessionId":"abc","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":true}`},
		{"SESSION_NOT_FOUND", `{"sessionId":"session-1756610546730-48291","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":true}`},
		{"SESSION_MISSING", `{"response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":true}`},
		{"SESSION_EXISTS", `{"sessionId":"ID","response":"[[b]]","thoughtNumber":0,"nextThoughtNeeded":true}`},
		{"BRANCH_ID_REQUIRED", `{"sessionId":"ID","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":true,"branchFromThought":0}`},
		{"INVALID_PARENT_WORKFLOW", `{"sessionId":"ID","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":true,"parentWorkflowId":"OPEN"}`},
		{"PARENT_WORKFLOW_NOT_FOUND", `{"response":"[[b]]","nextThoughtNeeded":true,"parentWorkflowId":"workflow-1"}`},
		{"PARENT_WORKFLOW_CLOSED", `{"response":"[[b]]","nextThoughtNeeded":true,"parentWorkflowId":"CLOSED"}`},
		{"INVALID_ANALYSIS_TYPE", `{"response":"[[b]]","nextThoughtNeeded":true,"analysisType":"feature"}`},
		{"SESSION_CLOSED", `{"sessionId":"DONE","response":"[[b]]","thoughtNumber":1,"nextThoughtNeeded":true}`},
		{"INVALID_ARGUMENT", `{"response":"[[b]]","nextThoughtNeeded":"maybe"}`},
		{"LIMIT_EXCEEDED", `{"response":"[[b]] ` + strings.Repeat("x", 64<<10) + `","nextThoughtNeeded":true}`},
	}
	names := strings.NewReplacer("ID", id, "DONE", done, "OPEN", open, "CLOSED", closed)
	before, thought := notes(t, vault), sessions(t, store)
	for _, row := range rows {
		args := row.args
		for _, name := range []string{`"ID"`, `"DONE"`, `"OPEN"`, `"CLOSED"`} {
			args = strings.ReplaceAll(args, name, names.Replace(name))
		}
		r := c.call("sequential_thinking", args)
		e := r.Structured.Error
		if !r.IsError || e.Code != row.code || e.Message == "" || r.Content[0].Text != "ERROR: "+row.code+": "+e.Message {
			t.Errorf("%.200s\nis answered with %+v, want %s", args, r, row.code)
		}
		if after := notes(t, vault); after != before {
			t.Errorf("%.200s\nhas changed the vault from\n%s\nto\n%s", args, before, after)
		}
		if after := sessions(t, store); after != thought {
			t.Errorf("%.200s\nhas changed the store from\n%s\nto\n%s", args, thought, after)
		}
	}
}

// Several servers on one store and one vault, with agents on branches of one session at
// once: each thought is once in the log and once in the note.
//
// covers: 001/persistent 001/multi-agent
func TestServersShareASession(t *testing.T) {
	const servers, agents, steps = 2, 3, 8
	dir := t.TempDir()
	store, vault := filepath.Join(dir, "s.db"), filepath.Join(dir, "vault")
	first := serve(t, store, vault)
	id := first.call("sequential_thinking", `{"response":"[[begin]]","nextThoughtNeeded":true,"totalThoughts":9}`).Structured.SessionID
	clients := []*client{first}
	for range servers*agents - 1 {
		clients = append(clients, serve(t, store, vault))
	}
	var wg sync.WaitGroup
	for n, c := range clients {
		wg.Go(func() {
			for step := range steps {
				r := c.call("sequential_thinking", fmt.Sprintf(
					`{"sessionId":%q,"response":"[[agent-%d]] says step-%d-%d.","nextThoughtNeeded":true,"thoughtNumber":%d,"totalThoughts":9,"branchFromThought":0,"branchId":"agent-%d"}`,
					id, n, n, step, step+1, n))
				if r.IsError || strings.Contains(r.Content[0].Text, "⚠️") {
					t.Errorf("agent %d is answered %s", n, r.Content[0].Text)
				}
			}
		})
	}
	wg.Wait()
	note, err := os.ReadFile(filepath.Join(vault, "thinking", "sequential", id+".md"))
	if err != nil {
		t.Fatal(err)
	}
	log := sessions(t, store)
	for n := range clients {
		for step := range steps {
			text := fmt.Sprintf("[[agent-%d]] says step-%d-%d.", n, n, step)
			if got := strings.Count(string(note), text); got != 1 {
				t.Errorf("%q is in the note %d times", text, got)
			}
			if !strings.Contains(log, text) {
				t.Errorf("%q is not in the store", text)
			}
		}
	}
	if got, want := strings.Count(string(note), "\n## Thought "), servers*agents*steps+1; got != want {
		t.Errorf("the note has %d thoughts, want %d", got, want)
	}
}
