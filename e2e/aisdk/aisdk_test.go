// Package aisdk tests the program with agents of the Vercel AI SDK, in both
// supported major versions. Only the model is scripted.
package aisdk

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// script holds the thoughts of two runs of an agent. The second continues the
// session of the first. All dialects accept these arguments.
const script = `[
	[
		{"thought": "Orders fail at noon.", "thoughtNumber": 1, "totalThoughts": 4, "nextThoughtNeeded": true},
		{"thought": "The database is slow.", "thoughtNumber": 2, "totalThoughts": 4, "nextThoughtNeeded": true},
		{"thought": "It is idle; the pool is empty.", "thoughtNumber": 3, "totalThoughts": 4, "nextThoughtNeeded": true, "isRevision": true, "revisesThought": 2},
		{"thought": "Enlarge the pool.", "thoughtNumber": 4, "totalThoughts": 4, "nextThoughtNeeded": false}
	],
	[
		{"thought": "Or move the reports.", "thoughtNumber": 5, "totalThoughts": 5, "nextThoughtNeeded": false}
	]
]`

// A run is the result of a run, as agent.mjs prints it.
type run struct {
	Protocol  string
	Text      string
	SessionID string
	Steps     int
	Tools     []string // names of tools with a description
	Sent      []string // sessionId of each call
	Replies   []struct {
		SessionID            string
		ThoughtHistoryLength int
	}
}

// An agent passes the session id of the first reply with each later call. A second
// run, with a new connection, continues the session.
func TestSession(t *testing.T) {
	t.Parallel()
	server, node := programtest.Build(t), ready(t)
	// Each pair of a version, a transport and a dialect.
	for _, way := range [][3]string{{"v7", "stdio", "standard"}, {"v7", "http", "history"}, {"v6", "stdio", "history"}, {"v6", "http", "standard"}} {
		version, transport, dialect := way[0], way[1], way[2]
		t.Run(version+" "+transport+" "+dialect, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "sequent.db")
			args := []string{"agent.mjs", version, transport}
			if transport == "http" {
				args = append(args, programtest.ServeHTTP(t, server, "--store", store, "--dialect", dialect))
			} else {
				args = append(args, server, "serve", "--store", store, "--dialect", dialect)
			}
			cmd := exec.Command(node, args...)
			cmd.Stdin = strings.NewReader(script)
			id := checkRuns(t, version, dialect, programtest.Output(t, cmd))
			checkStored(t, dialect, id, programtest.Output(t, exec.Command(server, "export", id, "--format", "json", "--store", store)))
			list := programtest.Output(t, exec.Command(server, "list", "--json", "--store", store))
			if n := strings.Count(string(list), `"id":`); n != 1 {
				t.Errorf("got %d sessions, want 1: %s", n, list)
			}
		})
	}
}

// TestToken tests the recipe with a bearer token.
func TestToken(t *testing.T) {
	t.Parallel()
	server, node := programtest.Build(t), ready(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	token := programtest.Token(t, tokens, "alice")
	url := programtest.ServeHTTP(t, server, "--store", "memory", "--auth", tokens)
	for _, version := range []string{"v7", "v6"} {
		t.Run(version, func(t *testing.T) {
			cmd := exec.Command(node, "agent.mjs", version, "http", url, token)
			cmd.Stdin = strings.NewReader(script)
			checkRuns(t, version, "standard", programtest.Output(t, cmd))

			cmd = exec.Command(node, "agent.mjs", version, "http", url)
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "401") {
				t.Errorf("without a token: got %v, want a failure with status 401\n%s", err, out)
			}
		})
	}
}

// checkRuns checks that both runs used one session and returns the session's id.
func checkRuns(t *testing.T, version, dialect string, out []byte) string {
	t.Helper()
	var runs []run
	if err := json.Unmarshal(out, &runs); err != nil || len(runs) != 2 {
		t.Fatalf("%v: agent.mjs printed %s", err, out)
	}
	id := runs[0].SessionID
	if id == "" {
		t.Fatalf("no session id: agent.mjs printed %s", out)
	}
	n := 0
	for i, sent := range [][]string{{"", id, id, id}, {id}} {
		r := runs[i]
		if !slices.Equal(r.Sent, sent) || r.SessionID != id {
			t.Errorf("run %d sent session ids %q and ended with %q, want %q and %q", i, r.Sent, r.SessionID, sent, id)
		}
		if want := fmt.Sprintf("Done after %d thoughts.", len(sent)); r.Text != want || r.Steps != len(sent)+1 {
			t.Errorf("run %d answered %q after %d steps, want %q after %d", i, r.Text, r.Steps, want, len(sent)+1)
		}
		if !slices.Contains(r.Tools, "sequentialthinking") {
			t.Errorf("run %d has tools %q", i, r.Tools)
		}
		for _, reply := range r.Replies {
			n++
			want := reply
			switch {
			case dialect == "history":
				want.SessionID, want.ThoughtHistoryLength = id, n
			case n == 1:
				want.SessionID = id
			default: // the call said it
				want.SessionID = ""
			}
			if reply != want {
				t.Errorf("thought %d: got %+v, want %+v", n, reply, want)
			}
		}
		// Version 6 supports only older revisions, and does not report which one it uses.
		if version == "v7" && r.Protocol != "2026-07-28" {
			t.Errorf("run %d uses MCP %q", i, r.Protocol)
		}
	}
	if n != 5 {
		t.Errorf("got %d replies, want 5: %s", n, out)
	}
	return id
}

// checkStored checks that a session has the thoughts of the script.
func checkStored(t *testing.T, dialect, id string, document []byte) {
	t.Helper()
	var got archive.Export
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatalf("%v: export %s", err, document)
	}
	thoughts := sequent.Thoughts(got.Log)
	if s := got.Session; string(s.ID) != id || s.Dialect != dialect || s.State != sequent.Completed || len(thoughts) != 5 {
		t.Fatalf("got session %s of dialect %s, state %s, with %d thoughts; want %s of %s, completed, with 5", s.ID, s.Dialect, s.State, len(thoughts), id, dialect)
	}
	for i, text := range []string{
		"Orders fail at noon.", "The database is slow.", "It is idle; the pool is empty.", "Enlarge the pool.", "Or move the reports.",
	} {
		supersedes := 0
		if i == 2 {
			supersedes = 2
		}
		if th := thoughts[i]; th.Text != text || th.Number != i+1 || th.Supersedes != supersedes {
			t.Errorf("thought %d is %+v, want %q, superseding %d", i+1, th, text, supersedes)
		}
	}
}

// ready returns the path of Node.js if the npm packages are installed.
func ready(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("node_modules/ai"); err != nil {
		needtest.Missing(t, "the npm packages of e2e/aisdk are not installed", "run make npm")
	}
	return programtest.Node(t, "../node_modules")
}
