package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/mcpserver/client"
)

// A reply holds the fields of a reply that the tests check.
type reply struct {
	SessionID     string `json:"sessionId"`
	ThoughtNumber int    `json:"thoughtNumber"`
}

// A call holds arguments of the tool sequentialthinking.
type call struct {
	SessionID         string `json:"sessionId,omitempty"`
	Thought           string `json:"thought"`
	NextThoughtNeeded bool   `json:"nextThoughtNeeded"`
	TotalThoughts     int    `json:"totalThoughts,omitempty"`
	RevisesThought    int    `json:"revisesThought,omitempty"`
	BranchFromThought int    `json:"branchFromThought,omitempty"`
	BranchID          string `json:"branchId,omitempty"`
}

// startStdio starts a server and connects a client to it.
func startStdio(t *testing.T, store string) (*client.Client, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("sequent", "serve", "--store", store)
	cmd.Stderr = t.Output()
	c, err := client.Connect(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return c, cmd
}

func think(t *testing.T, c *client.Client, step call) reply {
	t.Helper()
	args, err := json.Marshal(step)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.CallTool(t.Context(), "sequentialthinking", args)
	if err != nil || res.Failed {
		t.Fatalf("%s: %v %s", args, err, res.Text)
	}
	var r reply
	if err := json.Unmarshal(res.JSON, &r); err != nil {
		t.Fatalf("%s: %v", res.JSON, err)
	}
	return r
}

// request writes a message.
func request(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	oneThought  = `{"jsonrpc":"2.0","id":%[1]d,"method":"tools/call","params":{"name":"sequentialthinking",` +
		`"arguments":{"thought":"thought %[1]d","thoughtNumber":%[1]d,"nextThoughtNeeded":true}}}`
)

// recorded returns the number of thoughts in the latest session of a store.
func recorded(t *testing.T, store string) int {
	t.Helper()
	a, err := app.OpenExisting(t.Context(), app.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	page, err := a.Engine.Sessions(t.Context(), sequent.Query{Limit: 1})
	if err != nil || len(page.Headers) == 0 {
		t.Fatalf("sessions: %v, %v", page.Headers, err)
	}
	return page.Headers[0].Len
}

// sequent watch prints thoughts that another process records.
func TestWatchLive(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	c, _ := startStdio(t, store)
	first := think(t, c, call{Thought: "before", NextThoughtNeeded: true})

	one, oneLines := startCommand(t, "watch", "--json", "--until-complete", "--store", store, first.SessionID)
	if got := <-oneLines; !strings.Contains(got, `"text":"before"`) {
		t.Errorf("got first line %s, want the existing thought", got)
	}
	think(t, c, call{SessionID: first.SessionID, Thought: "live", NextThoughtNeeded: true})
	if got := <-oneLines; !strings.Contains(got, `"text":"live"`) || !strings.Contains(got, `"seq":2,`) {
		t.Errorf("got second line %s, want the new thought", got)
	}
	all, allLines := startCommand(t, "watch", "--store", store)
	// The start of the watcher is not observable; it misses earlier thoughts.
	seen := ""
	for i := 0; seen == ""; i++ {
		think(t, c, call{SessionID: first.SessionID, Thought: fmt.Sprintf("try %d", i), NextThoughtNeeded: true})
		select {
		case seen = <-allLines:
		default:
		}
	}
	if !strings.Contains(seen, first.SessionID) || !strings.Contains(seen, "try ") {
		t.Errorf("sequent watch without an ID printed %q", seen)
	}
	think(t, c, call{SessionID: first.SessionID, Thought: "last", NextThoughtNeeded: false})
	for line := range oneLines {
		seen = line
	}
	if !strings.Contains(seen, `"text":"last"`) {
		t.Errorf("got last line %s, want the last thought", seen)
	}
	if err := one.Wait(); err != nil {
		t.Errorf("watch ended with %v", err)
	}
	stop(t, all)
	for range allLines {
	}
	if err := all.Wait(); err != nil && !stopKills {
		t.Errorf("sequent watch without an ID ended with %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// startCommand starts the program and returns its lines of output.
func startCommand(t *testing.T, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	return startCommandIn(t, nil, args...)
}

// startCommandIn is startCommand with variables of the environment, each as NAME=VALUE.
func startCommandIn(t *testing.T, env []string, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command("sequent", args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return cmd, lines
}
