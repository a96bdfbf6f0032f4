// Package aisdk tests the binary with agents on the Vercel AI SDK, both of its
// living major versions. The model is one that follows a script; all else is real.
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

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// script has the thoughts of two runs of an agent, the second in the session of
// the first. All dialects understand them.
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

// A run is what agent.mjs tells of one.
type run struct {
	Protocol  string
	Text      string
	SessionID string
	Steps     int
	Tools     []string // those with a description
	Sent      []string // the sessionId of each call
	Replies   []struct {
		SessionID            string
		ThoughtHistoryLength int
	}
}

// Agents that keep their session: each call names the one that the first reply
// told, and a second run, after the first one's connection is gone, goes on in it.
func TestAgentKeepsItsSession(t *testing.T) {
	t.Parallel()
	server, node := programtest.Build(t), ready(t)
	for _, version := range []string{"v7", "v6"} {
		for _, transport := range []string{"stdio", "http"} {
			for _, dialect := range []string{"standard", "history"} {
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
					id := kept(t, version, programtest.Output(t, cmd))
					stored(t, dialect, id, programtest.Output(t, exec.Command(server, "export", id, "--format", "json", "--store", store)))
					list := programtest.Output(t, exec.Command(server, "list", "--json", "--store", store))
					if n := strings.Count(string(list), `"id":`); n != 1 {
						t.Errorf("%d sessions are stored, want one: %s", n, list)
					}
				})
			}
		}
	}
}

// What the recipe does with a bearer token.
func TestAgentWithToken(t *testing.T) {
	t.Parallel()
	server, node := programtest.Build(t), ready(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	token := strings.TrimSpace(string(programtest.Output(t, exec.Command(server, "token", "new", "alice", "--file", tokens))))
	url := programtest.ServeHTTP(t, server, "--store", "memory", "--auth", tokens)
	for _, version := range []string{"v7", "v6"} {
		t.Run(version, func(t *testing.T) {
			cmd := exec.Command(node, "agent.mjs", version, "http", url, token)
			cmd.Stdin = strings.NewReader(script)
			kept(t, version, programtest.Output(t, cmd))

			cmd = exec.Command(node, "agent.mjs", version, "http", url)
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "401") {
				t.Errorf("without a token: %v, want a failure that says 401\n%s", err, out)
			}
		})
	}
}

// kept checks that an agent kept its session and returns the session's id.
func kept(t *testing.T, version string, told []byte) string {
	t.Helper()
	var runs []run
	if err := json.Unmarshal(told, &runs); err != nil || len(runs) != 2 {
		t.Fatalf("%v: the agent tells %s", err, told)
	}
	id := runs[0].SessionID
	if id == "" {
		t.Fatalf("no session id: the agent tells %s", told)
	}
	n := 0
	for i, sent := range [][]string{{"", id, id, id}, {id}} {
		r := runs[i]
		if !slices.Equal(r.Sent, sent) || r.SessionID != id {
			t.Errorf("run %d sends the session ids %q and ends with %q, want %q and %q", i, r.Sent, r.SessionID, sent, id)
		}
		if want := fmt.Sprintf("Done after %d thoughts.", len(sent)); r.Text != want || r.Steps != len(sent)+1 {
			t.Errorf("run %d answers %q after %d steps, want %q after %d", i, r.Text, r.Steps, want, len(sent)+1)
		}
		if !slices.Contains(r.Tools, "sequentialthinking") {
			t.Errorf("run %d knows the tools %q", i, r.Tools)
		}
		for _, reply := range r.Replies {
			n++
			if reply.SessionID != id || reply.ThoughtHistoryLength != n {
				t.Errorf("thought %d is answered with %+v, want session %s", n, reply, id)
			}
		}
		// Version 6 knows only older revisions, and does not tell which it speaks.
		if version == "v7" && r.Protocol != "2026-07-28" {
			t.Errorf("run %d speaks MCP %q", i, r.Protocol)
		}
	}
	if n != 5 {
		t.Errorf("%d thoughts are answered, want 5: %s", n, told)
	}
	return id
}

// stored checks that a session has the thoughts of the script.
func stored(t *testing.T, dialect, id string, document []byte) {
	t.Helper()
	var got archive.Export
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatalf("%v: the export is %s", err, document)
	}
	if got.ID != id || got.Dialect != dialect || got.State != "completed" || len(got.Thoughts) != 5 {
		t.Fatalf("session %s of the dialect %s is %s with %d thoughts, want %s of %s, completed, with 5", got.ID, got.Dialect, got.State, len(got.Thoughts), id, dialect)
	}
	for i, text := range []string{
		"Orders fail at noon.", "The database is slow.", "It is idle; the pool is empty.", "Enlarge the pool.", "Or move the reports.",
	} {
		supersedes := 0
		if i == 2 {
			supersedes = 2
		}
		if th := got.Thoughts[i]; th.Text != text || th.Number != i+1 || th.Supersedes != supersedes {
			t.Errorf("thought %d is %+v, want %q, which replaces %d", i+1, th, text, supersedes)
		}
	}
}

// ready returns a Node.js, if the packages are there as well.
func ready(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("node_modules/ai"); err != nil {
		needtest.Missing(t, "the npm packages of internal/e2e/aisdk are not installed", "run make npm")
	}
	return programtest.Node(t, "../node_modules")
}
