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
	Length        int    `json:"thoughtHistoryLength"`
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

// After a kill of a server, another server with another client continues the session
// and returns the whole chain.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	first, cmd := startStdio(t, store)
	one := think(t, first, call{Thought: "one", NextThoughtNeeded: true, TotalThoughts: 4})
	think(t, first, call{SessionID: one.SessionID, Thought: "two", NextThoughtNeeded: true})
	think(t, first, call{SessionID: one.SessionID, Thought: "two again", NextThoughtNeeded: true, RevisesThought: 2})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err == nil {
		t.Error("Close of a killed server = nil, want an error")
	}

	second, _ := startStdio(t, store)
	if r := think(t, second, call{SessionID: one.SessionID, Thought: "three", NextThoughtNeeded: true}); r.ThoughtNumber != 4 || r.Length != 4 {
		t.Errorf("after the kill: got thought %d of %d, want 4 of 4", r.ThoughtNumber, r.Length)
	}
	think(t, second, call{SessionID: one.SessionID, Thought: "aside", NextThoughtNeeded: false, BranchFromThought: 1, BranchID: "b"})
	args, err := json.Marshal(map[string]string{"sessionId": one.SessionID, "view": "log"})
	if err != nil {
		t.Fatal(err)
	}
	back, err := second.CallTool(t.Context(), "recall_thinking", args)
	if err != nil || back.Failed {
		t.Fatalf("recall: %v %s", err, back.Text)
	}
	for _, want := range []string{"one", "two", "two again", "three", "aside"} {
		if !strings.Contains(back.Text, want) {
			t.Errorf("recall_thinking lacks %q:\n%s", want, back.Text)
		}
	}
	if err := second.Close(); err != nil {
		t.Errorf("the second server ended with %v", err)
	}
	out, err := exec.Command("sequent", "show", "--store", store, "--width", "60").Output()
	if err != nil || !strings.Contains(string(out), "5 thoughts · 1 branch") && !strings.Contains(string(out), "5 thoughts - 1 branch") {
		t.Errorf("show: %v\n%s", err, out)
	}
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

// At the end of its input the server answers all requests and exits with code 0.
func TestServeEOF(t *testing.T) {
	t.Parallel()
	const calls = 300
	store := filepath.Join(t.TempDir(), "s.db")
	var in strings.Builder
	in.WriteString(initialize + "\n" + initialized + "\n")
	for i := range calls {
		fmt.Fprintf(&in, oneThought+"\n", i+1)
	}
	cmd := exec.Command("sequent", "serve", "--sync", "normal", "--store", store)
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != calls+1 {
		t.Fatalf("got %d replies, want %d", len(lines), calls+1)
	}
	for i, line := range lines {
		if want := fmt.Sprintf(`"id":%d,`, i); !strings.Contains(line, want) {
			t.Fatalf("reply %d lacks %s: %s", i, want, line)
		}
	}
	if n := recorded(t, store); n != calls {
		t.Errorf("got %d recorded thoughts, want %d", n, calls)
	}
}

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
