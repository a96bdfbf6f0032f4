package main

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

// A reply is what the tests read of an answer of the tool.
type reply struct {
	SessionID     string `json:"sessionId"`
	ThoughtNumber int    `json:"thoughtNumber"`
	Length        int    `json:"thoughtHistoryLength"`
}

// serving starts a server and connects a client to it.
func serving(t *testing.T, store string) (*client.Client, *exec.Cmd) {
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

// A server is killed in the middle of a session. Another one, with another
// client, goes on in it and gives the whole chain back.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	first, cmd := serving(t, store)
	begun := think(t, first, call{Thought: "one", NextThoughtNeeded: true, TotalThoughts: 4})
	think(t, first, call{SessionID: begun.SessionID, Thought: "two", NextThoughtNeeded: true})
	think(t, first, call{SessionID: begun.SessionID, Thought: "two again", NextThoughtNeeded: true, RevisesThought: 2})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err == nil {
		t.Error("a server that was killed ended as if nothing were")
	}

	second, _ := serving(t, store)
	if r := think(t, second, call{SessionID: begun.SessionID, Thought: "three", NextThoughtNeeded: true}); r.ThoughtNumber != 4 || r.Length != 4 {
		t.Errorf("after the kill the next thought is %d of %d, want 4 of 4", r.ThoughtNumber, r.Length)
	}
	think(t, second, call{SessionID: begun.SessionID, Thought: "aside", NextThoughtNeeded: false, BranchFromThought: 1, BranchID: "b"})
	args, err := json.Marshal(map[string]string{"sessionId": begun.SessionID, "view": "log"})
	if err != nil {
		t.Fatal(err)
	}
	back, err := second.CallTool(t.Context(), "recall_thinking", args)
	if err != nil || back.Failed {
		t.Fatalf("recall: %v %s", err, back.Text)
	}
	for _, want := range []string{"one", "two", "two again", "three", "aside"} {
		if !strings.Contains(back.Text, want) {
			t.Errorf("the recalled chain lacks %q:\n%s", want, back.Text)
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

// request writes a message to a server by hand.
func request(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	oneThought  = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sequentialthinking",` +
		`"arguments":{"thought":"thought %d","nextThoughtNeeded":true}}}`
)

// Whoever writes and closes its end gets every answer, and the server ends well.
func TestServeAnswersAllAtEOF(t *testing.T) {
	t.Parallel()
	const calls = 300
	store := filepath.Join(t.TempDir(), "s.db")
	var in strings.Builder
	in.WriteString(initialize + "\n" + initialized + "\n")
	for i := range calls {
		fmt.Fprintf(&in, oneThought+"\n", i+1, i+1)
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
			t.Fatalf("reply %d is not to %s: %s", i, want, line)
		}
	}
	if n := recorded(t, store); n != calls {
		t.Errorf("%d thoughts are recorded, want %d", n, calls)
	}
}

// recorded returns how many thoughts the latest session of a store has.
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

// A watcher in another process sees what is recorded after it began to look.
func TestWatchLive(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	c, _ := serving(t, store)
	begun := think(t, c, call{Thought: "before", NextThoughtNeeded: true})

	one, oneLines := watching(t, "watch", "--json", "--until-complete", "--store", store, begun.SessionID)
	if got := <-oneLines; !strings.Contains(got, `"text":"before"`) {
		t.Errorf("the first line is %s, want the thought that was there", got)
	}
	think(t, c, call{SessionID: begun.SessionID, Thought: "live", NextThoughtNeeded: true})
	if got := <-oneLines; !strings.Contains(got, `"text":"live"`) || !strings.Contains(got, `"seq":2,`) {
		t.Errorf("the second line is %s, want the new thought", got)
	}
	all, allLines := watching(t, "watch", "--store", store)
	// It tells nobody when it has begun; until it has, thoughts pass it by.
	seen := ""
	for i := 0; seen == ""; i++ {
		think(t, c, call{SessionID: begun.SessionID, Thought: fmt.Sprintf("try %d", i), NextThoughtNeeded: true})
		select {
		case seen = <-allLines:
		default:
		}
	}
	if !strings.Contains(seen, begun.SessionID) || !strings.Contains(seen, "try ") {
		t.Errorf("the watcher of all sessions says %q", seen)
	}
	think(t, c, call{SessionID: begun.SessionID, Thought: "last", NextThoughtNeeded: false})
	for line := range oneLines {
		seen = line
	}
	if !strings.Contains(seen, `"text":"last"`) {
		t.Errorf("the last line is %s, want the last thought", seen)
	}
	if err := one.Wait(); err != nil {
		t.Errorf("watch ended with %v", err)
	}
	stop(t, all)
	for range allLines {
	}
	if err := all.Wait(); err != nil && !stopsHard {
		t.Errorf("a watch that was told to end ended with %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// watching starts the program and passes on its lines.
func watching(t *testing.T, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command("sequent", args...)
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
